"""The examples of the OpenAPI document: one for every operation, valid, and sent to a real service."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.conftest import Service
from tests.contexts import fresh_settings, opened
from tests.contract.declared import parameters
from tests.contract.examples import CUT, Step, call, example_world, place, story
from tests.contract.world import World

OPEN = {"shares", "chosen", "parameters"}  # of a version's metrics: their fields are what a search found
AGAIN = "If the answer is right, write the examples anew: python -m tests.contract.examples"


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """An empty service with the default encoder, whose document shows the examples."""
    with (
        fresh_settings(tmp_path_factory.mktemp("examples"), encoder=None) as settings,
        opened(settings, runs=False) as context,
        example_world(context) as world,
    ):
        yield world


def operations(world: World) -> Iterator[tuple[str, dict[str, Any]]]:
    for methods in world.described["paths"].values():
        for operation in methods.values():
            yield operation["summary"], operation


def test_every_operation_shows_a_valid_request_and_a_valid_answer(shown: World) -> None:
    for name, operation in operations(shown):
        for parameter in parameters(operation):
            if parameter["required"]:
                _check(shown, name, parameter)
        for content in operation.get("requestBody", {"content": {}})["content"].values():
            _check(shown, name, content)
        for status, answer in operation["responses"].items():
            for content in answer["content"].values() if status < "300" else ():
                _check(shown, name, content)


def _check(world: World, name: str, place: dict[str, Any]) -> None:
    assert "example" in place, (
        f"{name}: {place.get('name', 'a body')} has no example; call it in tests/contract/examples.py"
    )
    schema = {**world.described, **place["schema"]}
    Draft202012Validator(schema).validate(place["example"])
    if "contentSchema" in schema:
        for line in place["example"].splitlines():
            Draft202012Validator({**world.described, **schema["contentSchema"]}).validate(json.loads(line))


def test_every_example_is_answered_as_shown(shown: World, service: Service) -> None:
    """The story of the examples, told with what the document shows."""
    told: set[tuple[str, str, str]] = set()
    with_worker = World(service.base_url)  # without one, no service is healthy

    def send(step: Step) -> Any:
        method, path = place(shown, step["operation"])
        operation = shown.described["paths"][path][method.lower()]
        answer = call(with_worker if step["operation"] == "service.health" else shown, _as_shown(step, operation))
        kind = answer.headers["content-type"].partition(";")[0]
        content = operation["responses"][str(answer.status)]["content"][kind]
        body = answer.text if answer.body is None else answer.body
        if step["operation"] not in CUT:
            assert _alike(content["example"], body), f"{step['operation']}: {_shape(body)}\n{AGAIN}"
        told.add((step["operation"], str(answer.status), kind))
        return body

    story(send, shown, shown.run)
    with_worker.http.close()
    declared = {
        (name, status, kind)
        for name, operation in operations(shown)
        for status, answer in operation["responses"].items()
        for kind in (answer["content"] if status < "300" else ())
    }
    assert told == declared


def _as_shown(step: Step, operation: dict[str, Any]) -> Step:
    """The step with the parameters and the body of the document, but for what only the service can know: ids."""
    values = {
        each["name"]: each["example"]
        for each in parameters(operation)
        if each["name"] in step["parameters"] and each["name"] != "sample_id"
    }
    same_handle = {name: step["parameters"][name] for name in ("handle", "sample_id") if name in step["parameters"]}
    shown = {**step, "parameters": {**values, **same_handle}}
    if "body" in step:
        kind = "text/plain" if isinstance(step["body"], str) else "application/json"
        shown["body"] = operation["requestBody"]["content"][kind]["example"]
    return shown


def _alike(shown: Any, answered: Any) -> bool:
    """Whether two answers have the same fields, with values of the same types; null may stand for anything."""
    if isinstance(shown, dict) and isinstance(answered, dict):
        return shown.keys() == answered.keys() and all(_alike(shown[key], answered[key]) for key in shown.keys() - OPEN)
    if isinstance(shown, list) and isinstance(answered, list):
        return all(_alike(one, other) for one, other in zip(shown[:1], answered[:1], strict=False))
    numbers = (int, float)
    return (
        shown is None
        or answered is None
        or type(shown) is type(answered)
        or (isinstance(shown, numbers) and isinstance(answered, numbers))
    )


def _shape(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _shape(each) for key, each in value.items()}
    return [_shape(each) for each in value[:1]] if isinstance(value, list) else type(value).__name__
