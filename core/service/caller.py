"""Who calls, and whether they may: the first dependency of every endpoint behind a key.

In this order: 401, 403 scope, the handle's grammar, 403 or 404 of its namespace, 404; then query and `Accept`. The body
is read behind it. The operation is the name of the route.

See core/docs/contract.md, "Order of checks".
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request

from traitbench.lifecycle import access, keys
from traitbench.lifecycle.bench import Bench, NotAtHand
from traitbench.lifecycle.callers import Caller
from traitbench.service.accept import negotiate
from traitbench.service.bench import bench_of
from traitbench.service.body import JSON, LINES, MARKDOWN, TEXT
from traitbench.service.capacity import Kind, capacity_of, claim_of
from traitbench.service.edges import request_id, segment
from traitbench.service.query import only_known

_HANDLE, _TRAIT = "handle", "key"
# What an operation without a body counts as; one with a body takes its slot behind it.
_WORK: Mapping[str, Kind] = {"models.export": "transfer"}
_BY_METHOD: Mapping[str, Kind] = {"GET": "read", "DELETE": "write"}


@dataclass(frozen=True)
class Call:
    """An admitted request: what an operation needs of it, and the media type its answer takes."""

    bench: Bench
    caller: Caller
    request_id: str
    media_type: str


class Admission:
    """Makes a request a `Call`, or raises the error that bars it; `offers` are the media types of the answer."""

    optional = False  # whether there are callers who need no key

    def __init__(self, *offers: str) -> None:
        self.offers = offers

    async def __call__(self, request: Request) -> Call:
        """Check the key, the permission and what of the request is not its body."""
        call = await self._call(request)
        work = _WORK.get(request.scope["route"].name) or _BY_METHOD.get(request.method)
        if work is not None:
            await claim_of(request).slot(capacity_of(request), work, request)
        return call

    async def _call(self, request: Request) -> Call:
        # A thread for what asks the database; where nothing has to be asked, a thread would cost more than the answer.
        if _TRAIT not in request.path_params:
            with suppress(NotAtHand):
                return self._admitted(request, bench_of(request).from_memory)
        return await run_in_threadpool(self._admitted, request, bench_of(request))

    def _admitted(self, request: Request, bench: Bench) -> Call:
        caller = keys.caller(bench, _secret(request.headers))
        handle, trait = (request.path_params.get(name) for name in (_HANDLE, _TRAIT))
        access.check(bench, caller, request.scope["route"].name, handle, trait=trait and segment(trait))
        only_known(request)
        media_type = negotiate(",".join(request.headers.getlist("accept")), self.offers)
        return Call(bench_of(request), caller, request_id(request.scope), media_type)


Called = Annotated[Call, Depends(Admission(JSON))]
CalledForCardOrChart = Annotated[Call, Depends(Admission(JSON, TEXT))]
CalledForLines = Annotated[Call, Depends(Admission(LINES))]
CalledForModelOrCard = Annotated[Call, Depends(Admission(JSON, MARKDOWN))]


def _secret(headers: Headers) -> str | None:
    """The key of `Authorization: Bearer <key>`; None when there is no such header, or more than one."""
    match [header.split() for header in headers.getlist("authorization")]:
        case [[scheme, secret]] if scheme.lower() == "bearer":
            return secret
    return None
