"""The page about the client is so: each example runs, and no method lacks one."""

import inspect
import re
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Service
from traitbench.client import Client
from traitbench.contract import operations
from traitbench.contract.operation import Operation

PAGE = (Path(__file__).parents[2] / "core" / "docs" / "client.md").read_text("utf-8")
FILES = sorted((Path(__file__).parents[2] / "core" / "traitbench" / "client").glob("*.py"))
CALLED = set(re.findall(r"\b(?:client|quick)\.((?:\w+\.)?\w+)\(", PAGE))


def test_every_example_runs_in_order(service: Service, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {"key": service.issue(namespaces=("docs",))}
    for example in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(compile(example.replace("http://127.0.0.1:8501", service.base_url), "client.md", "exec"), names)
    printed = capsys.readouterr().out
    assert "['warmth', 'haste']" in printed
    assert re.search(r"404 model_not_found req_\w+", printed)


def test_every_method_has_an_example() -> None:
    with Client() as client:
        resources = {name: each for name, each in vars(client).items() if not name.startswith("_")}
        methods = {f"{name}.{method}" for name, each in resources.items() for method in public(each)}
        assert methods | public(client) == CALLED, "give it an example in core/docs/client.md"


def test_every_operation_has_a_method() -> None:
    source = "".join(file.read_text("utf-8") for file in FILES)
    rows = {name: each for name, each in vars(operations).items() if isinstance(each, Operation)}
    without = {name for name, each in rows.items() if not (each.within or each.is_door)}
    without -= set(re.findall(r"\boperations\.([A-Z_]+)", source))
    assert without == {"OPENAPI", "DOCS", "METRICS"}, "a person or a monitor reads these, not a program"


def public(resource: object) -> set[str]:
    return {name for name, _ in inspect.getmembers(resource, inspect.ismethod) if not name.startswith("_")}
