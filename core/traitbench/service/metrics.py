"""`/v1/metrics`: metrics of this process and of all runs, for Prometheus.

Callers on this machine need no key, so that a local scraper needs no secret. All others need an authoring key. So do
requests through a reverse proxy, because a proxy on this machine makes every caller look local.
"""

from ipaddress import IPv6Address, ip_address

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from traitbench.contract import operations
from traitbench.operations.access import Caller
from traitbench.service.caller import Call, CallerCheck
from traitbench.service.capacity import context_of
from traitbench.service.parameters import negotiate, only_known
from traitbench.service.request_id import request_id
from traitbench.service.routing import Router

router = Router(tags=["service"])

FORMAT = "text/plain; version=0.0.4; charset=utf-8"
# A proxy on this machine that sets none of these headers looks like a local caller. That is the price of metrics
# without a key on the first day.
_PROXIED = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip")
_LOCAL = Caller("", "authoring", frozenset())


class LocalOrKeyed(CallerCheck):
    """Admits local callers without a key, and everyone with an authoring key. A key that is sent is always checked."""

    async def __call__(self, request: Request) -> Call:
        """Admit a local caller without a key; treat all others like `Admission`."""
        if "authorization" in request.headers or not is_local(request):
            return await super().__call__(request)
        only_known(request)
        media_type = negotiate(",".join(request.headers.getlist("accept")), self.operation.offers)
        return Call(context_of(request), _LOCAL, request_id(request.scope), media_type)


def is_local(request: Request) -> bool:
    """Whether the peer has a loopback address and the request shows no sign of a proxy."""
    if request.client is None or any(name in request.headers for name in _PROXIED):
        return False
    try:
        address = ip_address(request.client.host)
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return (mapped or address).is_loopback


@router.serve(operations.METRICS, caller=LocalOrKeyed, response_class=PlainTextResponse)
def metrics(request: Request, call: Call) -> Response:
    """Get counters, latencies, runs, queue, workers, caches and memory in Prometheus' text format.

    Callers on the machine of the service need no key unless they use a proxy. All others need an authoring key.
    """
    return Response(request.app.state.request_metrics.exposition(), headers={"Content-Type": FORMAT})
