"""`/v1/models`: create, list, get, update, delete, train."""

from typing import Annotated

from fastapi import APIRouter, Depends, Response

from core.contract.models import Model, ModelCreate, ModelDeleted, ModelUpdate, RunStarted, TrainRequest
from core.contract.page import ModelPage
from core.lifecycle import models, training
from core.service import query
from core.service.body import Body
from core.service.caller import Called
from core.service.paths import Handle

router = APIRouter(tags=["models"])

Create = Annotated[ModelCreate, Depends(Body(ModelCreate))]
Update = Annotated[ModelUpdate, Depends(Body(ModelUpdate))]
Train = Annotated[TrainRequest, Depends(Body(TrainRequest, needed=False))]


@router.post("/v1/models", name="models.create", status_code=201)
def create(call: Called, body: Create) -> Model:
    """Create a model, as a draft."""
    return models.create(call.bench, call.caller, body)


@router.get("/v1/models", name="models.list")
def list_models(
    call: Called,
    limit: query.Limit = 50,
    cursor: query.Cursor = None,
    namespace: query.Namespace = None,
    state: query.OfState = None,
    kind: query.OfKind = None,
) -> ModelPage:
    """List models by handle: those of the public namespaces, or of one that the key owns."""
    filters = {"namespace": namespace, "state": state, "kind": kind}
    return models.list_models(call.bench, call.caller, limit=limit, cursor=cursor, **filters)


@router.get("/v1/models/{handle}", name="models.get")
def get(call: Called, handle: Handle) -> Model:
    """Get a model: its state, and what its last operation does or did."""
    return models.get(call.bench, call.caller, handle)


@router.patch("/v1/models/{handle}", name="models.update")
def update(call: Called, handle: Handle, body: Update) -> Model:
    """Change what is sent; an explicit null resets a field to its default."""
    return models.update(call.bench, call.caller, handle, body)


@router.delete("/v1/models/{handle}", name="models.delete")
def delete(call: Called, handle: Handle) -> ModelDeleted:
    """Archive a model; what it is busy with is cancelled."""
    return models.delete(call.bench, call.caller, handle)


@router.post("/v1/models/{handle}/train", name="models.train", responses={202: {"model": RunStarted}})
def train(call: Called, handle: Handle, body: Train, response: Response) -> RunStarted:
    """Start a training: 202 with its run, or with the same run in flight; 200 when a ready model has nothing to do."""
    started, enqueued = training.start(call.bench, call.caller, handle, body)
    response.status_code = 202 if enqueued else 200
    if started.run_id:
        response.headers["X-Run-Id"] = started.run_id
    return started
