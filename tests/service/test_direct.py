"""The short way to an endpoint: parameters that need no framework, and threads in which nobody holds up another."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

import httpx
import pytest
from fastapi import APIRouter, Depends, FastAPI, Header, Path, Query
from pydantic import AfterValidator
from starlette.requests import Request
from starlette.responses import Response

from tests.contexts import until
from tests.contract.world import served
from tests.gate import Gate
from tests.patience import PATIENCE_S
from tests.service.conftest import ADDRESS, Quiet
from traitbench.service.app import create_app
from traitbench.service.direct import DirectRoute


class Order:
    """Which dependency was asked, one after the other."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def __call__(self, request: Request) -> list[str]:
        asked: list[str] = request.scope.setdefault("asked", [])
        asked.append(self.name)
        return list(asked)


First = Annotated[list[str], Depends(Order("first"))]
Second = Annotated[list[str], Depends(Order("second"))]


def _router() -> APIRouter:
    return APIRouter(route_class=DirectRoute)


def test_an_endpoint_gets_what_it_declares_asked_for_in_that_order() -> None:
    router = _router()

    @router.get("/{name}/forwards")
    def forwards(first: First, name: str, second: Second) -> Response:
        return Response(f"{name} {first} {second}")

    @router.get("/{name}/backwards")
    def backwards(second: Second, name: str, first: First) -> Response:
        return Response(f"{name} {second} {first}")

    api = FastAPI()
    api.include_router(router)
    with served(api) as base_url:
        assert httpx.get(f"{base_url}/x/forwards").text == "x ['first'] ['first', 'second']"
        assert httpx.get(f"{base_url}/y/backwards").text == "y ['second'] ['second', 'first']"


def _by_query(first: First, page: Annotated[int, Query()]) -> Response:
    raise AssertionError


def _by_header(first: First, host: Annotated[str, Header()]) -> Response:
    raise AssertionError


def _by_number(first: First, name: int) -> Response:
    raise AssertionError


def _by_rule(first: First, name: Annotated[str, AfterValidator(str.upper), Path()]) -> Response:
    raise AssertionError


def _by_request(first: First, request: Request) -> Response:
    raise AssertionError


def _by_value(value: Annotated[int, Depends(lambda: 1)]) -> Response:
    raise AssertionError


def _more(request: Request, page: Annotated[int, Query()]) -> int:
    raise AssertionError


def _by_more(value: Annotated[int, Depends(_more)]) -> Response:
    raise AssertionError


@pytest.mark.parametrize("endpoint", [_by_query, _by_header, _by_number, _by_rule, _by_request, _by_value, _by_more])
def test_what_only_the_framework_can_resolve_is_refused_at_once(endpoint: Any) -> None:
    with pytest.raises(TypeError, match="only FastAPI can resolve"):
        _router().get("/{name}")(endpoint)


@pytest.mark.parametrize(
    ("operation", "held"), [("score", {"content": ADDRESS}), ("compare", {"a": "how kind", "b": ADDRESS})]
)
def test_others_are_answered_while_one_waits(quiet: Quiet, operation: str, held: dict[str, Any]) -> None:
    gate = Gate()
    with served(create_app(replace(quiet.context, extract=gate))) as base_url, ThreadPoolExecutor() as callers:
        ask = partial(asked, f"{base_url}/v1/models/{quiet.handle}", quiet.secret)
        try:
            waiting = callers.submit(ask, operation, held)
            until(lambda: gate.asked, what="the address to be asked for")
            assert ask("score", {"content": "how kind"}).status_code == 200
            assert ask("compare", {"a": "how kind", "b": "how cold"}).status_code == 200
            assert not waiting.done()
        finally:
            gate.open.set()
        assert waiting.result().status_code == 200


def test_what_is_raised_there_is_answered_here(quiet: Quiet) -> None:
    with served(create_app(quiet.context)) as base_url:
        body = {"content": "how kind", "traits": ["zeal"]}
        answer = asked(f"{base_url}/v1/models/{quiet.handle}", quiet.secret, "score", body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "validation_failed")


def asked(model: str, secret: str, operation: str, body: dict[str, Any]) -> httpx.Response:
    headers = {"Authorization": f"Bearer {secret}"}
    return httpx.post(f"{model}/{operation}", json=body, headers=headers, timeout=PATIENCE_S)
