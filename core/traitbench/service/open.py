"""The routes that need no key: health, and the description of the API as JSON and as a page."""

from fastapi import Depends
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from traitbench.contract import operations
from traitbench.contract.envelope import Health
from traitbench.contract.operation import JSON, PREFIX
from traitbench.errors import Unavailable
from traitbench.service import openapi
from traitbench.service.capacity import context_of
from traitbench.service.parameters import only_known
from traitbench.service.routing import Router

router = Router(tags=["service"], dependencies=[Depends(only_known)])


@router.serve(operations.HEALTH)
def health(request: Request) -> Health:
    """Check database, encoder, worker and disk. In a 503, `details.wrong` names what does not work."""
    state = context_of(request).health.state()
    if state.wrong:
        raise Unavailable(state.says(), details={"wrong": state.wrong, **state.figures()})
    return Health(status="ok", **state.figures())


@router.serve(operations.OPENAPI)
def description(request: Request) -> Response:
    """Get the description of this API in OpenAPI 3.1."""
    return Response(openapi.content(request.app), media_type=JSON)


@router.serve(operations.DOCS, response_class=HTMLResponse)
def page(request: Request) -> HTMLResponse:
    """Get the description of this API as a page, which loads nothing from any other server."""
    return openapi.page()


def _serve(name: str, media_type: str) -> None:
    page = operations.DOCS

    @router.get(f"{PREFIX}{page.path}/{name}", name=f"{page.name}.{name}", include_in_schema=False)
    def asset() -> Response:
        return openapi.asset(name, media_type)


for each in openapi.ASSETS.items():
    _serve(*each)
