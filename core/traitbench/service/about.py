"""The service about itself and its caller: health, who has the key, and the description of the API."""

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from traitbench.contract import operations
from traitbench.contract.envelope import Health, Me
from traitbench.contract.operation import JSON, PREFIX
from traitbench.errors import Unavailable
from traitbench.operations import keys
from traitbench.service import openapi
from traitbench.service.caller import Call
from traitbench.service.capacity import context_of
from traitbench.service.parameters import WithDoors
from traitbench.service.routing import UNKEYED, Router

router = Router(tags=["service"])


@router.serve(operations.HEALTH)
def health(request: Request) -> Health:
    """Check database, encoder, worker and disk. In a 503, `details.wrong` names what does not work."""
    state = context_of(request).health.state()
    if state.wrong:
        raise Unavailable(state.says(), details={"wrong": state.wrong, **state.figures()})
    return Health(status="ok", **state.figures())


@router.serve(operations.ME)
def me(call: Call) -> Me:
    """Say who has the key of the request: its id and name, its scope and namespaces, and the person."""
    return keys.me(call.caller)


@router.serve(operations.OPENAPI)
def description(request: Request, doors: WithDoors = False) -> Response:
    """Get the description of this API in OpenAPI 3.1."""
    return Response(openapi.content(request.app, doors=doors), media_type=JSON)


@router.serve(operations.DOCS, response_class=HTMLResponse)
def page(request: Request) -> HTMLResponse:
    """Get the description of this API as a page, which loads nothing from any other server."""
    return openapi.page()


def _serve(name: str, media_type: str) -> None:
    path, operation = f"{PREFIX}{operations.DOCS.path}/{name}", f"{operations.DOCS.name}.{name}"

    @router.get(path, name=operation, include_in_schema=False, dependencies=UNKEYED)
    def asset() -> Response:
        return openapi.asset(name, media_type)


for each in openapi.ASSETS.items():
    _serve(*each)
