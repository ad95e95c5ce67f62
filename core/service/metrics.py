"""`/v1/metrics`: the numbers of this process and of the runs, for Prometheus.

On this machine no key is needed, so that a scraper beside the service needs no secret. A reverse proxy on this machine
makes every caller look local: what came through one needs an authoring key, as everything from elsewhere does.
"""

from ipaddress import IPv6Address, ip_address
from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from traitbench.lifecycle.callers import Caller
from traitbench.service.accept import negotiate
from traitbench.service.bench import bench_of
from traitbench.service.body import TEXT
from traitbench.service.caller import Admission, Call
from traitbench.service.edges import request_id
from traitbench.service.query import only_known

router = APIRouter(tags=["service"])

FORMAT = "text/plain; version=0.0.4; charset=utf-8"
_PROXIED = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip")
_LOCAL = Caller("", "authoring", frozenset())


class LocalOrKeyed(Admission):
    """Admits a caller on this machine who sends no key, and everyone with a key that may; a key is always checked."""

    optional = True

    async def __call__(self, request: Request) -> Call:
        """As `Admission`, unless the caller is local."""
        if "authorization" in request.headers or not is_local(request):
            return await super().__call__(request)
        only_known(request)
        media_type = negotiate(",".join(request.headers.getlist("accept")), self.offers)
        return Call(bench_of(request), _LOCAL, request_id(request.scope), media_type)


def is_local(request: Request) -> bool:
    """Whether the peer has a loopback address and no proxy has left a sign."""
    if request.client is None or any(name in request.headers for name in _PROXIED):
        return False
    try:
        address = ip_address(request.client.host)
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return (mapped or address).is_loopback


@router.get("/v1/metrics", name="metrics", response_class=PlainTextResponse)
def metrics(request: Request, call: Annotated[Call, Depends(LocalOrKeyed(TEXT))]) -> Response:
    """Counters, latencies, runs, queue, workers, caches and memory, in Prometheus' text format.

    Without a key on the machine of the service, unless a proxy is between; elsewhere with an authoring key.
    """
    return Response(request.app.state.watching.exposition(), headers={"Content-Type": FORMAT})
