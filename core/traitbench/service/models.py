"""`/v1/models`: create, import, list, get, update, delete, restore, train, retrain, export, fork, promote."""

import tempfile
from contextlib import ExitStack
from functools import partial
from io import SEEK_END
from typing import IO, cast

from fastapi import Response
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from traitbench.contract import operations
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
from traitbench.contract.operation import JSON, MARKDOWN
from traitbench.contract.page import ModelPage
from traitbench.contract.versions import Version
from traitbench.errors import Unavailable
from traitbench.operations import bundles, model_cards, models, promotion, retraining, training
from traitbench.service import import_process, parameters
from traitbench.service.body import BodyOrUpload, Upload
from traitbench.service.caller import Call
from traitbench.service.parameters import Handle, accepted
from traitbench.service.routing import Router

router = Router(tags=["models"])

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


@router.serve(operations.MODELS_CREATE)
def create(call: Call, body: ModelCreate) -> Model:
    """Create a draft model."""
    return models.create(call.context, call.caller, body)


@router.serve(
    operations.MODELS_IMPORT,
    body=partial(BodyOrUpload, limit=lambda settings: settings.max_import_bytes, whole=import_process.MIN_BYTES),
)
def import_(call: Call, body: Bundle | Upload, handle: parameters.AsHandle = None) -> Model:
    """Create a model from a bundle, with all its versions and tags. The whole bundle is checked first."""
    if isinstance(body, Upload):
        return import_process.imported(call.context.settings, call.caller, body.file, handle, call.sent_key)
    return bundles.import_(call.context, call.caller, body, handle=handle)


@router.serve(operations.MODELS_LIST)
def list_models(
    call: Call,
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


@router.serve(operations.MODELS_GET)
def get(call: Call, handle: Handle) -> Model | Response:
    """Get a model with its state and last operation, or its model card as Markdown."""
    if call.media_type == MARKDOWN:
        return Response(model_cards.card(call.context, call.caller, handle), media_type=MARKDOWN)
    return models.get(call.context, call.caller, handle)


@router.serve(operations.MODELS_UPDATE)
def update(call: Call, handle: Handle, body: ModelUpdate) -> Model:
    """Change the fields that are sent; null resets a field to its default."""
    return models.update(call.context, call.caller, handle, body)


@router.serve(operations.MODELS_DELETE)
def delete(call: Call, handle: Handle) -> ModelDeleted:
    """Archive a model and cancel its run, if any."""
    return models.delete(call.context, call.caller, handle)


@router.serve(operations.MODELS_RESTORE)
def restore(call: Call, handle: Handle) -> Model:
    """Bring an archived model back, within 30 days of archiving. A model that is not archived stays as it is."""
    return models.restore(call.context, call.caller, handle)


@router.serve(operations.MODELS_TRAIN)
def train(call: Call, handle: Handle, body: TrainRequest, response: Response) -> RunStarted:
    """Start a training. Returns 202 with the new run, or with the same run in flight; 200 if there is nothing to do."""
    started, enqueued = training.start(call.context, call.caller, handle, body)
    response.status_code = 202 if enqueued else 200
    return accepted(started, response) if enqueued else started


@router.serve(operations.MODELS_RETRAIN)
def retrain(call: Call, handle: Handle, response: Response) -> RunStarted:
    """Learn the waiting feedback now. Returns 202 with the new run, or with the retrain in flight; 200 if nothing
    waits.
    """
    started, enqueued = retraining.start(call.context, call.caller, handle)
    response.status_code = 202 if enqueued else 200
    return accepted(started, response) if enqueued else started


@router.serve(operations.MODELS_EXPORT)
def export(call: Call, handle: Handle) -> Response:
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


@router.serve(operations.MODELS_FORK)
def fork(call: Call, handle: Handle, body: ForkRequest) -> Model:
    """Make a draft with the traits, samples and settings of a model, to improve it without touching it."""
    return promotion.fork(call.context, call.caller, handle, body)


@router.serve(operations.MODELS_PROMOTE)
def promote(call: Call, handle: Handle, body: PromoteRequest) -> Version:
    """Make the active version of a fork the next version of this model, with the fork's traits and samples."""
    return promotion.promote(call.context, call.caller, handle, body)
