"""The short way to an endpoint: parameters that need no framework, and threads in which nobody holds up another."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from threading import Event
from typing import Annotated, Any

import httpx
import pytest
from fastapi import APIRouter, Depends, FastAPI, Header, Path, Query
from pydantic import AfterValidator
from starlette.requests import Request
from starlette.responses import Response

from tests.contexts import fresh_settings, opened, trained_here
from tests.contract.world import served
from tests.patience import PATIENCE_S
from traitbench.extract import Extracted
from traitbench.operations import keys
from traitbench.operations.context import Context
from traitbench.service.app import create_app
from traitbench.service.direct import DirectRoute

ADDRESS = "https://elsewhere.example/"


class Order:
    """Which dependency was asked, one after the other."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def __call__(self, request: Request) -> list[str]:
        asked: list[str] = request.scope.setdefault("asked", [])
        asked.append(self.name)
        return list(asked)


class Gate:
    """An address that is asked, and answers when the gate is open."""

    def __init__(self) -> None:
        self.asked, self.open = Event(), Event()

    def __call__(self, url: str) -> Extracted:
        self.asked.set()
        self.open.wait()
        return Extracted(url, "what stands there", "0" * 64, datetime.now(UTC))


First = Annotated[list[str], Depends(Order("first"))]
Second = Annotated[list[str], Depends(Order("second"))]


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Context]:
    with fresh_settings(tmp_path_factory.mktemp("threads")) as settings, opened(settings, runs=False) as context:
        yield context


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
def test_others_are_answered_while_one_waits(quiet: Context, operation: str, held: dict[str, Any]) -> None:
    handle, gate = trained_here(quiet), Gate()
    secret = keys.create(quiet.engine, scope="scoring", namespaces=["local"]).secret

    def asked(operation: str, body: dict[str, Any]) -> int:
        path = f"{base_url}/v1/models/{handle}/{operation}"
        return httpx.post(
            path, json=body, headers={"Authorization": f"Bearer {secret}"}, timeout=PATIENCE_S
        ).status_code

    with served(create_app(replace(quiet, extract=gate))) as base_url, ThreadPoolExecutor() as callers:
        try:
            waiting = callers.submit(asked, operation, held)
            assert gate.asked.wait(PATIENCE_S)
            assert asked("score", {"content": "how kind"}) == 200
            assert asked("compare", {"a": "how kind", "b": "how cold"}) == 200
            assert not waiting.done()
        finally:
            gate.open.set()
        assert waiting.result() == 200


def test_what_is_raised_there_is_answered_here(quiet: Context) -> None:
    secret = keys.create(quiet.engine, scope="scoring", namespaces=["local"]).secret
    with served(create_app(quiet)) as base_url:
        path = f"{base_url}/v1/models/{trained_here(quiet)}/score"
        body = {"content": "how kind", "traits": ["zeal"]}
        answer = httpx.post(path, json=body, headers={"Authorization": f"Bearer {secret}"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "validation_failed")
