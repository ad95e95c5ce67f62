"""The package as others see it: one import name, a public face that loads late, and extras for what the base lacks."""

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import traitbench
from tests.conftest import Service
from tests.docs.markdown import codes, read, table
from tests.modules import NAMES_OF_OTHERS, ROOT
from traitbench.install import EXTRA_OF, advice, install_line

PYPROJECT, CLIENT = (tomllib.loads((ROOT / each / "pyproject.toml").read_text("utf-8")) for each in ("", "core/client"))
PROJECT = PYPROJECT["project"]
IN_CLIENT = CLIENT["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"].values()
EXTRAS = PROJECT["optional-dependencies"]


def test_the_wheel_of_the_earlier_default_belongs_to_this_release() -> None:
    """Its graph is that of one release, so another release would not use it."""
    other = tomllib.loads((ROOT / "core/minilm/pyproject.toml").read_text("utf-8"))["project"]
    assert other["version"] == PROJECT["version"]
    assert other["dependencies"] == [f"traitbench[encoders]=={PROJECT['version']}"]


# ---- the client as a distribution of its own -------------------------------------------------------------------------


def test_each_file_of_the_package_is_in_one_distribution_of_this_release() -> None:
    excluded = {each.removeprefix("/") for each in PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["exclude"]}
    assert {f"core/{name}" for name in IN_CLIENT} == excluded - {"core/docs/pictures"}
    assert all((ROOT / "core" / name).exists() for name in IN_CLIENT)
    assert CLIENT["project"]["version"] == PROJECT["version"]
    assert set(CLIENT["project"]["dependencies"]) < set(PROJECT["dependencies"])


@pytest.fixture(scope="module")
def client_alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files of `traitbench-client` and no others."""
    folder = tmp_path_factory.mktemp("client")
    for name in IN_CLIENT:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).symlink_to(ROOT / "core" / name)
    return folder


def test_the_client_works_alone_and_says_what_the_rest_needs(client_alone: Path, service: Service) -> None:
    others = brought([*PROJECT["dependencies"], "traitbench[encoders,notebook]"]) - {"httpx", "pydantic"}
    absent = [name for name, brings in distributions().items() if others & {canonicalize_name(each) for each in brings}]
    program = (
        "import sys\n"
        f"for name in {absent!r}:\n"
        "    sys.modules[name] = None\n"
        "import traitbench as tb\n"
        f"client = tb.Client({service.base_url!r}, {service.issue()!r})\n"
        "print(tb.__file__, client.health().status, client.models.list()._repr_html_())\n"
        "for name in tb.__all__:\n"
        "    try: getattr(tb, name)\n"
        "    except ModuleNotFoundError as error: print(name, error)\n"
    )
    first, *missing = fresh(program, PYTHONPATH=str(client_alone)).splitlines()
    assert first == f"{client_alone / 'traitbench' / '__init__.py'} ok None"
    assert {line.partition(" ")[0] for line in missing} == {
        *("ScoreCard", "Scorer", "UDF", "charts", "corpus", "diff", "load", "overview", "read_table", "score", "share")
    }
    for line in missing:
        assert line.endswith(install_line(*(["notebook"] if line.startswith("charts") else [])))


def fresh(program: str, **environment: str) -> str:
    """What a program prints in an interpreter of its own."""
    given = {**os.environ, **environment}
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=given).stdout


def test_importing_the_package_loads_nothing_else() -> None:
    print_new = (
        "import sys; old = set(sys.modules); import traitbench, json; print(json.dumps([*set(sys.modules) - old]))"
    )
    loaded = {name.partition(".")[0] for name in json.loads(fresh(print_new))}
    assert loaded - sys.stdlib_module_names == {"traitbench"}


@pytest.mark.parametrize(
    ("importing", "needed"),
    [("from traitbench import Traitbench", "traitbench.client"), ("import traitbench.cli.scores", "click")],
)
def test_the_client_and_the_command_line_load_none_of_the_libraries_that_compute(importing: str, needed: str) -> None:
    loaded = set(json.loads(fresh(f"import sys, json; {importing}; print(json.dumps([*sys.modules]))")))
    assert needed in loaded
    assert not loaded & {"numpy", "scipy", "sklearn", "onnxruntime", "tokenizers", "pandas", "sqlalchemy", "streamlit"}


def test_the_service_loads_none_of_the_libraries_that_draw_or_fit_estimators() -> None:
    importing = "import sys, json, traitbench.service.app, traitbench.operations.worker"
    loaded = set(json.loads(fresh(f"{importing}; print(json.dumps([*sys.modules]))")))
    assert not loaded & {"pandas", "plotly", "narwhals", "sklearn.base", "anywidget", "streamlit", "rich"}


@pytest.mark.parametrize("name", traitbench.__all__)
def test_a_public_name_is_there_and_documented(name: str) -> None:
    assert getattr(traitbench, name).__doc__
    assert f"`{name}`" in str(traitbench.__doc__)


def test_the_type_checker_sees_the_names_that_are_loaded() -> None:
    [block] = [node for node in ast.parse(Path(str(traitbench.__file__)).read_text()).body if _is_for_types(node)]
    assert isinstance(block, ast.If)
    typed = {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert set(typed) == set(traitbench.__all__)
    for name, place in typed.items():
        module, _, attribute = place.rpartition(".")
        assert getattr(import_module(module), attribute) is getattr(traitbench, name)


def _is_for_types(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def test_there_is_no_other_public_name() -> None:
    assert dir(traitbench) == sorted(traitbench.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'Context'"):
        _ = traitbench.Context  # type: ignore[attr-defined]


def test_no_file_imports_a_folder_by_its_own_name() -> None:
    statement = re.compile(rf"^\s*(?:from|import) (?:{'|'.join(NAMES_OF_OTHERS)})\b", re.MULTILINE)
    files = [path for folder in ("core", "app", "pages", "tests") for path in (ROOT / folder).rglob("*.py")]
    assert files
    assert [str(path) for path in files if statement.search(path.read_text("utf-8"))] == []


def test_a_project_with_packages_of_the_same_names_uses_ours_and_its_own(tmp_path: Path) -> None:
    for folder in NAMES_OF_OTHERS:
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "__init__.py").write_text("mine = True\n")
    program = (
        "import core, app, pages, sample_data\n"
        "from traitbench.cli import main as cli\n"
        "from traitbench.operations import context\n"
        "from traitbench.service.app import create_app\n"
        "from traitbench.sample_data import demo_models\n"
        "print(core.mine, app.mine, pages.mine, sample_data.mine, len(demo_models()))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("True True True True 3\n", "")


# ---- extras ----------------------------------------------------------------------------------------------------------


def brought(requirements: list[str]) -> set[str]:
    """The distributions that these requirements name, those of our own extras included."""
    result = set()
    for requirement in map(Requirement, requirements):
        if requirement.name == "traitbench":
            result |= {name for extra in requirement.extras for name in brought(EXTRAS[extra])}
        else:
            result.add(canonicalize_name(requirement.name))
    return result


@cache
def distributions() -> Mapping[str, list[str]]:
    """Which distributions bring a module: read once, for it takes half a second."""
    return packages_distributions()


@pytest.mark.parametrize("module", EXTRA_OF)
def test_the_extra_of_a_module_brings_it(module: str) -> None:
    names = {canonicalize_name(name) for name in distributions()[module]}
    through = {"starlette": "fastapi", "mcp_types": "mcp", "traitlets": "anywidget"}
    expected = {through[module]} if module in through else names
    assert expected & brought(EXTRAS[EXTRA_OF[module]])


def test_every_package_that_a_room_may_import_is_in_the_base_or_known_to_an_extra() -> None:
    rows = table(read("architecture.md"), "Who may import whom")
    named = {name for row in rows for name in codes(row["Packages"])}
    base = {"pydantic_core", "httpcore"} | {
        module
        for module, names in distributions().items()
        if brought(PROJECT["dependencies"]) & {canonicalize_name(name) for name in names}
    }
    assert named - base <= set(EXTRA_OF)


def test_no_requirement_brings_torch_or_is_pinned() -> None:
    for requirement in [*PROJECT["dependencies"], *(each for extra in EXTRAS.values() for each in extra)]:
        assert not re.search(r"==|torch|sentence-|gt-all", requirement)


def test_the_advice_names_the_extra() -> None:
    missing = ModuleNotFoundError("No module named 'fastapi'", name="fastapi.routing")
    assert advice(missing) == (
        f"The package fastapi is not installed. Install it with: pip install -e '{ROOT}[service]'"
    )
    assert advice(ModuleNotFoundError("No module named 'nobody'", name="nobody")) is None


@pytest.mark.parametrize(
    ("record", "line"),
    [
        ({"url": "file:///a%20b/x.whl", "archive_info": {}}, "make wheel"),
        ({"url": Path(__file__).as_uri(), "archive_info": {}}, f"pip install '{__file__}[llm,service]'"),
        ({"url": ROOT.as_uri(), "dir_info": {}}, f"pip install '{ROOT}[llm,service]'"),
        ({"url": ROOT.as_uri(), "dir_info": {"editable": True}}, f"pip install -e '{ROOT}[llm,service]'"),
        ({"url": "https://example.org/x.whl", "archive_info": {}}, "make wheel"),
        (None, "make wheel"),
    ],
)
def test_an_install_line_says_where_this_copy_came_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record: dict[str, object] | None, line: str
) -> None:
    info = tmp_path / "traitbench-9.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: traitbench\nVersion: 9\n")
    if record is not None:
        (info / "direct_url.json").write_text(json.dumps(record))
    monkeypatch.syspath_prepend(tmp_path)
    assert install_line("llm", "service").startswith(line)


@pytest.mark.parametrize(
    ("name", "missing"),
    [("charts", "plotly"), ("charts", "pandas"), ("Scorer().label([])", "anywidget")],
)
def test_a_public_name_that_lacks_a_package_says_what_to_install(name: str, missing: str) -> None:
    program = (
        f"import sys; sys.modules[{missing!r}] = None\n"
        "import traitbench\n"
        f"try: traitbench.{name}\n"
        "except ImportError as error: print(error)"
    )
    assert fresh(program) == f"The package {missing} is not installed. Install it with: {install_line('notebook')}\n"


@pytest.mark.parametrize(
    ("command", "missing", "extra"),
    [
        ([], "streamlit", "workbench"),
        (["serve"], "uvicorn", "service"),
        (["key", "list"], "sqlalchemy", "service"),
        (["backup", "out"], "sqlalchemy", "service"),
    ],
)
def test_a_command_that_lacks_a_package_says_what_to_install(
    tmp_path: Path, command: list[str], missing: str, extra: str
) -> None:
    program = (
        f"import sys; sys.modules[{missing!r}] = None; sys.argv[1:] = {command!r}\n"
        "from traitbench.cli.main import main; main()"
    )
    output = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True,
        env={"TRAITBENCH_HOME": str(tmp_path / "home"), "TRAITBENCH_PORT": "0", "PATH": ""},
    )  # fmt: skip
    assert output.returncode == 2
    assert output.stderr.endswith(
        f"The package {missing} is not installed. Install it with: pip install -e '{ROOT}[{extra}]'\n"
    )
