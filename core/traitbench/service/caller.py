"""Authentication and authorisation: the first dependency of every endpoint that needs a key.

The order of checks: key (401), scope (403), the handle's grammar, its namespace (403 or 404), the model (404), then
query, `Accept` and `Idempotency-Key`. The body is read after these.

See core/docs/contract.md, "Order of checks".
"""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from traitbench.contract.operation import Operation
from traitbench.operations import access, keys
from traitbench.operations.access import Caller
from traitbench.operations.context import CacheMiss, Context
from traitbench.service.capacity import capacity_of, claim_of, context_of
from traitbench.service.idempotency import SentKey, note_key, sent_key
from traitbench.service.parameters import negotiate, only_known
from traitbench.service.request_id import request_id, segment
from traitbench.service.sent_keys import secret_of, spelled

_HANDLE, _TRAIT, _NAMESPACE = "handle", "key", "namespace"


@dataclass(frozen=True)
class Call:
    """An admitted request: what the operation needs from it, and the media type of the answer."""

    context: Context
    caller: Caller
    request_id: str
    media_type: str
    sent_key: SentKey | None = None


class CallerCheck:
    """Turns a request for an operation into a `Call`, or raises an error."""

    def __init__(self, operation: Operation[Any]) -> None:
        self.operation = operation

    async def __call__(self, request: Request) -> Call:
        """Check the key, the permission and everything in the request except its body."""
        call = await self._call(request)
        # An operation with a body takes its slot after the body.
        if self.operation.body is None:
            await claim_of(request).slot(capacity_of(request), self.operation.kind_of_work, request)
        return call

    async def _call(self, request: Request) -> Call:
        # Database queries need a thread. If everything is in memory, starting one would take longer than the checks.
        if _TRAIT not in request.path_params:
            with suppress(CacheMiss):
                return self._admitted(request, context_of(request).cached_only)
        return await run_in_threadpool(self._admitted, request, context_of(request))

    def _admitted(self, request: Request, context: Context) -> Call:
        sources = self.operation.key_from
        secret = secret_of(request.scope, sources)
        caller = keys.caller(context, secret, sent_as=spelled(sources))
        handle, trait, namespace = (request.path_params.get(name) for name in (_HANDLE, _TRAIT, _NAMESPACE))
        access.check(context, caller, self.operation, handle, trait=trait and segment(trait), namespace=namespace)
        if not self.operation.open_query:
            only_known(request)
        media_type = negotiate(",".join(request.headers.getlist("accept")), self.operation.offers)
        note_key(request, self.operation, secret, media_type)
        return Call(context_of(request), caller, request_id(request.scope), media_type, sent_key(request.scope))
