"""The table of operations is the only place in the product that says what an operation is called and who may do it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.declared import BODIES
from tests.modules import ROOT
from traitbench.contract import operations
from traitbench.contract.envelope import Health
from traitbench.contract.models import ForkRequest, Model
from traitbench.contract.operation import Operation
from traitbench.contract.operations import ALL, PREFIXES, ROUTES
from traitbench.service.caller import Call
from traitbench.service.routing import Router

PRODUCT = ROOT / "core" / "traitbench"
TABLE = {PRODUCT / "contract" / "operations.py", PRODUCT / "contract" / "operation.py"}
NAMES = {each.name for each in ALL if "." in each.name}  # the others are also words for other things
PATHS = {each.path for each in ALL}
CHANGING = {"POST", "PUT", "PATCH", "DELETE"}  # GET is also what is asked of other servers
NOT_OURS = PRODUCT / "agents" / "http.py"  # a protocol of its own, with one route

_PARAMETER = re.compile(r"\{[^}]*\}")


def repeated(path: Path) -> Iterator[str]:
    """Names, methods, paths and access rules of operations that a module writes itself."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
            bare = text.removeprefix("/v1")
            if text in NAMES or text in ("owned read", "any") or (text in CHANGING and path != NOT_OURS):
                yield text
            if bare in PATHS - {"/docs"} or bare.startswith(("/models", "/versions/")):
                yield text
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Rule":
            yield "Rule"


def test_no_other_module_of_the_product_writes_what_the_table_says() -> None:
    modules = [path for path in sorted(PRODUCT.rglob("*.py")) if path not in TABLE]
    assert len(modules) > 200
    assert {str(path.relative_to(PRODUCT)): [*repeated(path)] for path in modules if [*repeated(path)]} == {}


@pytest.mark.parametrize(
    "line",
    [
        'access.permit(context, caller, "samples.add", handle)',
        'send("PATCH", path)',
        'get(f"/models/{segment(handle)}/samples")',
        'ask("/v1/models/import")',
        'Rule("authoring", "write")',
    ],
)
def test_a_repetition_is_found(tmp_path: Path, line: str) -> None:
    (tmp_path / "planted.py").write_text(line)
    assert [*repeated(tmp_path / "planted.py")]


def test_every_operation_has_a_name_and_a_route_of_its_own() -> None:
    assert len({each.name for each in ALL}) == len(ALL)
    assert len({_PARAMETER.sub("{}", each.route) for each in ROUTES.values()}) == len(ROUTES)
    assert {each.within for each in ALL if each.within} <= set(ROUTES.values())


def test_every_constant_has_the_name_of_its_operation() -> None:
    for constant, each in vars(operations).items():
        if isinstance(each, Operation):
            assert constant == each.name.removeprefix("service.").replace(".", "_").upper()


def test_every_operation_with_a_body_has_a_valid_one_here() -> None:
    assert {each.name for each in ALL if each.body and each.in_openapi} == {each.name for each in BODIES}
    for operation, body in BODIES.items():
        if operation is not operations.MODELS_IMPORT:  # a bundle is checked as a whole
            assert operation.body is not None
            operation.body.model_validate(body)


def test_an_endpoint_that_would_not_do_what_its_row_says_is_refused() -> None:
    def unkeyed(handle: str) -> Model:
        return Model.model_construct(handle=handle)

    def other_answer(call: Call, handle: str) -> Health:
        return Health(status=f"{call} {handle}")

    def other_body(call: Call, handle: str, body: ForkRequest) -> Model:
        return Model.model_construct(handle=f"{call} {handle} {body}")

    serve = Router().serve
    with pytest.raises(TypeError, match=r"models\.get has no parameter call"):
        serve(operations.MODELS_GET)(unkeyed)
    with pytest.raises(TypeError, match=r"models\.get answers with"):
        serve(operations.MODELS_GET)(other_answer)
    with pytest.raises(TypeError, match=r"models\.update is a ModelUpdate"):
        serve(operations.MODELS_UPDATE)(other_body)


def test_the_documented_proxy_sends_every_prefix_to_the_service() -> None:
    configuration = (ROOT / "core" / "docs" / "nginx.conf").read_text("utf-8")
    to_api = re.findall(r"location ~ (\S+) \{\s+proxy_pass http://api;", configuration)
    for prefix in PREFIXES:
        assert any(re.match(each, prefix) and re.match(each, f"{prefix}/x") for each in to_api), prefix
    assert not any(re.match(each, path) for each in to_api for path in ("/", "/v1x", "/score", "/x/v1/"))
