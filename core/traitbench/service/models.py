"""`/v1/models`: create, import, list, get, update, delete, restore, train, retrain, export, fork, promote."""

import tempfile
from contextlib import ExitStack
from io import SEEK_END
from typing import IO, Annotated, cast

from fastapi import APIRouter, Depends, Response
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from traitbench.contract.bundles import Bundle
from traitbench.contract.models import (
    ForkRequest,
    Model,
    ModelCreate,
    ModelDeleted,
    ModelUpdate,
    PromoteRequest,
    RunStarted,
    TrainRequest,
)
from traitbench.contract.page import ModelPage
from traitbench.contract.versions import Version
from traitbench.errors import Unavailable
from traitbench.operations import bundles, model_cards, models, promotion, retraining, training
from traitbench.service import import_process, parameters
from traitbench.service.body import JSON, MARKDOWN, Body, BodyOrUpload, Upload
from traitbench.service.caller import Called, CalledForModelOrCard
from traitbench.service.parameters import Handle, accepted

router = APIRouter(tags=["models"])

Create = Annotated[ModelCreate, Depends(Body(ModelCreate))]
_IN_MEMORY = 8 * 2**20  # bytes; a larger export is written to a file
_PIECE = 256 * 1024  # bytes


class DocumentResponse(StreamingResponse):
    """Sends a JSON file in pieces, then closes it."""

    def __init__(self, file: IO[bytes]) -> None:
        length = {"Content-Length": str(file.seek(0, SEEK_END))}
        file.seek(0)
        super().__init__(iter(lambda: file.read(_PIECE), b""), headers=length, media_type=JSON)
        self._file = file

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the file."""
        with self._file:
            await super().__call__(scope, receive, send)


Import = Annotated[
    Bundle | Upload,
    Depends(
        BodyOrUpload(
            Bundle, limit=lambda settings: settings.max_import_bytes, work="transfer", whole=import_process.MIN_BYTES
        )
    ),
]
Update = Annotated[ModelUpdate, Depends(Body(ModelUpdate))]
Train = Annotated[TrainRequest, Depends(Body(TrainRequest, needed=False))]
Fork = Annotated[ForkRequest, Depends(Body(ForkRequest))]
Promote = Annotated[PromoteRequest, Depends(Body(PromoteRequest))]


@router.post("/v1/models", name="models.create", status_code=201)
def create(call: Called, body: Create) -> Model:
    """Create a draft model."""
    return models.create(call.context, call.caller, body)


@router.post("/v1/models/import", name="models.import", status_code=201)
def import_(call: Called, body: Import, handle: parameters.AsHandle = None) -> Model:
    """Create a model from a bundle, with all its versions and tags. The whole bundle is checked first."""
    if isinstance(body, Upload):
        return import_process.imported(call.context.settings, call.caller, body.file, handle)
    return bundles.import_(call.context, call.caller, body, handle=handle)


@router.get("/v1/models", name="models.list")
def list_models(
    call: Called,
    limit: parameters.Limit = 50,
    cursor: parameters.Cursor = None,
    namespace: parameters.Namespace = None,
    state: parameters.OfState = None,
    kind: parameters.OfKind = None,
    forked_from: parameters.ForkedFrom = None,
) -> ModelPage:
    """List models of the public namespaces, or of a namespace that the key owns, sorted by handle."""
    filters = {"namespace": namespace, "state": state, "kind": kind, "forked_from": forked_from}
    return models.list_models(call.context, call.caller, limit=limit, cursor=cursor, **filters)


@router.get("/v1/models/{handle}", name="models.get", response_model=Model)
def get(call: CalledForModelOrCard, handle: Handle) -> Model | Response:
    """Get a model with its state and last operation, or its model card as Markdown."""
    if call.media_type == MARKDOWN:
        return Response(model_cards.card(call.context, call.caller, handle), media_type=MARKDOWN)
    return models.get(call.context, call.caller, handle)


@router.patch("/v1/models/{handle}", name="models.update")
def update(call: Called, handle: Handle, body: Update) -> Model:
    """Change the fields that are sent; null resets a field to its default."""
    return models.update(call.context, call.caller, handle, body)


@router.delete("/v1/models/{handle}", name="models.delete")
def delete(call: Called, handle: Handle) -> ModelDeleted:
    """Archive a model and cancel its run, if any."""
    return models.delete(call.context, call.caller, handle)


@router.post("/v1/models/{handle}/restore", name="models.restore")
def restore(call: Called, handle: Handle) -> Model:
    """Bring an archived model back, within 30 days of archiving. A model that is not archived stays as it is."""
    return models.restore(call.context, call.caller, handle)


@router.post("/v1/models/{handle}/train", name="models.train", responses={202: {"model": RunStarted}})
def train(call: Called, handle: Handle, body: Train, response: Response) -> RunStarted:
    """Start a training. Returns 202 with the new run, or with the same run in flight; 200 if there is nothing to do."""
    started, enqueued = training.start(call.context, call.caller, handle, body)
    response.status_code = 202 if enqueued else 200
    return accepted(started, response) if enqueued else started


@router.post("/v1/models/{handle}/retrain", name="models.retrain", responses={202: {"model": RunStarted}})
def retrain(call: Called, handle: Handle, response: Response) -> RunStarted:
    """Learn the waiting feedback now. Returns 202 with the new run, or with the retrain in flight; 200 if nothing
    waits.
    """
    started, enqueued = retraining.start(call.context, call.caller, handle)
    response.status_code = 202 if enqueued else 200
    return accepted(started, response) if enqueued else started


@router.get("/v1/models/{handle}/export", name="models.export", response_model=Bundle)
def export(call: Called, handle: Handle) -> Response:
    """Get the whole model as one document for import. Under zero data retention it has no samples."""
    home = str(call.context.settings.home)
    with ExitStack() as on_failure:
        file = on_failure.enter_context(tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY, dir=home))
        try:
            bundles.export(call.context, call.caller, handle, cast("IO[bytes]", file))
        except OSError as error:
            raise Unavailable(
                f"The home folder has no room for the export ({error.strerror}). Free some space, then try again."
            ) from error
        # From here on, the response closes the file.
        on_failure.pop_all()
    return DocumentResponse(cast("IO[bytes]", file))


@router.post("/v1/models/{handle}/fork", name="models.fork", status_code=201)
def fork(call: Called, handle: Handle, body: Fork) -> Model:
    """Make a draft with the traits, samples and settings of a model, to improve it without touching it."""
    return promotion.fork(call.context, call.caller, handle, body)


@router.post("/v1/models/{handle}/promote", name="models.promote", status_code=201)
def promote(call: Called, handle: Handle, body: Promote) -> Version:
    """Make the active version of a fork the next version of this model, with the fork's traits and samples."""
    return promotion.promote(call.context, call.caller, handle, body)
