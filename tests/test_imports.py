"""Who may import whom: every import statement against the table in core/docs/architecture.md.

Statements inside functions and under TYPE_CHECKING count, and strings that name a module. A room may import itself,
the rooms to its left in its row unless these are apart, and what its row names: rows, rooms and packages of others. The
standard library is open to all.
"""

import ast
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.conftest import not_none
from tests.docs.markdown import codes, read, table

ROOT = Path(__file__).parent.parent
# Where our modules are, and what their names begin with.
FOLDERS = {"core/traitbench": "traitbench", "app/traitbench_app": "traitbench_app", "pages": "pages"}


@dataclass(frozen=True)
class Rule:
    """What the rooms of a row may import."""

    rooms: Sequence[str]
    apart: bool
    below: frozenset[str]
    further: frozenset[tuple[str, str]]
    packages: frozenset[str]

    def allows(self, room: str, other: str) -> bool:
        """Whether a room of this row may import another room."""
        if other in self.rooms:
            return not self.apart and self.rooms.index(other) < self.rooms.index(room)
        return other in self.below or (room, other) in self.further


def _rules() -> dict[str, Rule]:
    """The rule of each room."""
    rows = table(read("architecture.md"), "Who may import whom")
    rooms = {row["Row"]: codes(row["Rooms"]) for row in rows}
    result: dict[str, Rule] = {}
    for row in rows:
        shared, *further = row["May import"].split("; ")
        named = [each.strip() for each in shared.split(",")]
        below = {room for each in named for room in (rooms[each] if each in rooms else codes(each))}
        pairs = {(one, other) for each in further for one, other in [codes(each)]}
        rule = Rule(
            rooms[row["Row"]],
            row["Rooms"].endswith(", apart"),
            frozenset(below),
            frozenset(pairs),
            frozenset(codes(row["Packages"])),
        )
        result |= dict.fromkeys(rule.rooms, rule)
    return result


RULES = _rules()
PACKAGES = frozenset(name for rule in RULES.values() for name in rule.packages)


def test_every_module_imports_only_what_its_row_allows() -> None:
    assert set(breaches(ROOT)) == set()


def test_the_table_has_few_rows_and_every_room() -> None:
    assert len(set(map(id, RULES.values()))) <= 15
    assert {room_of(module_of(ROOT, path)) for path in python_files(ROOT)} == set(RULES)


def test_no_room_imports_itself_through_others() -> None:
    files = {module_of(ROOT, path): path for path in python_files(ROOT)}
    graph: dict[str, set[str]] = {}
    for module, path in files.items():
        others = {target for name in imported(path, module) if (target := longest(name, files))}
        graph.setdefault(room_of(module), set()).update({*map(room_of, others)} - {room_of(module)})
    assert circle(graph) is None


def test_one_module_imports_onnxruntime() -> None:
    """It turns the telemetry off first."""
    files = {module_of(ROOT, path): path for path in python_files(ROOT)}
    importing = {
        module for module, path in files.items() for name in imported(path, module) if _is(name, "onnxruntime")
    }
    assert importing == {"traitbench.encoders.runtime"}


def test_no_module_imports_the_distributions_of_scipy_with_itself() -> None:
    """That takes half a second at every start: a function that needs one imports it."""
    for path in python_files(ROOT):
        for node in ast.parse(path.read_text("utf-8")).body:
            origins = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                origins = [f"{node.module}.{alias.name}" for alias in node.names]
            assert not [each for each in origins if each.startswith("scipy.stats")], path


@pytest.mark.parametrize(
    ("module", "statement", "named"),
    [
        ("traitbench.fitting.axis", "import pandas", "pandas"),
        ("traitbench.scoring.card", "from traitbench.contract.models import Model", "traitbench.contract.models.Model"),
        ("traitbench.scoring.card", "from traitbench.fitting import axis", "traitbench.fitting.axis"),
        ("traitbench.contract.models", "import httpx", "httpx"),
        ("traitbench.errors", "from traitbench import store", "traitbench.store"),
        ("traitbench.client.models", "from traitbench.operations import models", "traitbench.operations.models"),
        ("traitbench.client.models", "import sqlalchemy", "sqlalchemy"),
        ("traitbench.store.models", "from ..encoders import registry", "traitbench.encoders.registry"),
        ("traitbench.store.models", "from traitbench.runs.engine import Runs", "traitbench.runs.engine.Runs"),
        ("traitbench.encoders.minilm", "import traitbench.store.database", "traitbench.store.database"),
        ("traitbench.encoders.minilm", "from traitbench.synthesis import offline", "traitbench.synthesis.offline"),
        ("traitbench.operations.scores", "from fastapi import Depends", "fastapi.Depends"),
        ("traitbench.operations.scores", "NAME = 'traitbench.service.app:create_app'", "traitbench.service.app"),
        ("traitbench.operations.training", "def late():\n    import plotly.express", "plotly.express"),
        ("traitbench.service.scores", "from traitbench.store import models", "traitbench.store.models"),
        ("traitbench.service.scores", "from traitbench.scoring.card import score", "traitbench.scoring.card.score"),
        ("traitbench.cli.main", "import traitbench_app.process.asgi", "traitbench_app.process.asgi"),
        ("traitbench_app.shell.text", "from traitbench.store import models", "traitbench.store.models"),
        ("traitbench_app.parts.card", "from traitbench.operations import keys", "traitbench.operations.keys"),
        ("traitbench_app.parts.card", "from traitbench_app.score import present", "traitbench_app.score.present"),
        ("traitbench_app.score.present", "import traitbench_app.batch.row", "traitbench_app.batch.row"),
        ("traitbench_app.score.present", "import pages.score", "pages.score"),
        ("pages.score", "import numpy as np", "numpy"),
        ("pages.score", "from traitbench.store.database import reading", "traitbench.store.database.reading"),
        ("traitbench.novelty.thing", "import numpy", "numpy"),
        ("traitbench.novelty.thing", "from traitbench.client import Client", "traitbench.client.Client"),
        ("traitbench.operations.context", "from traitbench import Client", "traitbench.Client"),
    ],
)
def test_a_planted_breach_is_found(tmp_path: Path, module: str, statement: str, named: str) -> None:
    plant(tmp_path, named.rpartition(".")[0] if named.rpartition(".")[2].istitle() else named, "")
    plant(tmp_path, "traitbench.service.app", "")
    plant(tmp_path, module, statement)
    assert {one for one, other in breaches(tmp_path) if named.startswith(other)} == {module}


@pytest.mark.parametrize(
    ("module", "statement"),
    [
        ("traitbench.fitting.fit", "import math\nfrom scipy.special import expit\nfrom .axis import Axis"),
        ("traitbench.fitting.fit", "from traitbench.scoring import snapshot"),
        ("traitbench.runs.engine", "from traitbench.store.database import connect"),
        ("traitbench.operations.models", "from traitbench.store import models"),
        ("traitbench.cli.main", "from traitbench.operations import keys"),
        ("traitbench_app.shell.people", "from traitbench.operations import keys"),
        ("traitbench_app.score.present", "from traitbench_app.parts import card"),
        ("pages.score", "from traitbench_app.shell import session"),
        ("pages.console", "from traitbench.operations import console"),
    ],
)
def test_what_the_rows_allow_is_no_breach(tmp_path: Path, module: str, statement: str) -> None:
    plant(tmp_path, module, statement)
    assert list(breaches(tmp_path)) == []


def test_no_module_imports_itself_through_others() -> None:
    assert cycle(ROOT) is None


def test_a_planted_cycle_is_found_also_inside_a_function(tmp_path: Path) -> None:
    plant(tmp_path, "traitbench.a", "from traitbench import b")
    plant(tmp_path, "traitbench.b", "def late():\n    from traitbench.c.d import thing")
    plant(tmp_path, "traitbench.c.d", "import traitbench.a as other")
    result = not_none(cycle(tmp_path))
    assert set(result) == {"traitbench.a", "traitbench.b", "traitbench.c.d"}


def test_modules_that_share_what_they_import_make_no_cycle(tmp_path: Path) -> None:
    plant(tmp_path, "traitbench.a", "from traitbench import b\nfrom traitbench.c import d")
    plant(tmp_path, "traitbench.b", "from traitbench.c.d import thing")
    plant(tmp_path, "traitbench.c.d", "import numpy")
    assert cycle(tmp_path) is None


def plant(root: Path, module: str, source: str) -> None:
    parts = module.split(".")
    folder = next((folder for folder, package in FOLDERS.items() if package == parts[0]), None)
    if folder is not None:
        path = root / folder / Path(*parts[1:] or ["__init__"]).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)


def cycle(root: Path) -> list[str] | None:
    """The modules of a circle of imports under `root`, None when there is none; imports inside functions count."""
    files = {module_of(root, path): path for path in python_files(root)}
    # `from a import b` is module a.b where there is one, else a name of module a.
    graph = {
        module: {target for name in imported(path, module) if (target := longest(name, files)) not in (None, module)}
        for module, path in files.items()
    }
    return circle({module: {each for each in others if each} for module, others in graph.items()})


def circle(graph: dict[str, set[str]]) -> list[str] | None:
    """A circle of the graph, None when there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        result: list[str] = error.args[1]
        return result
    return None


def longest(name: str, modules: Collection[str]) -> str | None:
    parts = name.split(".")
    prefixes = (".".join(parts[:size]) for size in range(len(parts), 0, -1))
    return next((prefix for prefix in prefixes if prefix in modules), None)


def python_files(root: Path) -> list[Path]:
    return sorted(path for folder in FOLDERS for path in (root / folder).rglob("*.py"))


def module_of(root: Path, path: Path) -> str:
    return module_at(path.relative_to(root))


def module_at(path: Path) -> str:
    """The name by which the file at this path, relative to the root, is imported."""
    parts = path.with_suffix("").parts
    below = parts[1:] if parts[0] in ("core", "app") else parts
    return ".".join(below).removesuffix(".__init__")


def room_of(module: str) -> str:
    """The room of one of our modules."""
    package, *below = module.split(".")
    if package == "pages":
        return "pages"
    if package == "traitbench_app":
        return f"app.{below[0]}" if below else "app.process"
    if not below:
        return "face"
    return below[0] if len(below) > 1 or below[0] in _ROOMS else "root"


_ROOMS = {path.parent.name for path in (ROOT / "core" / "traitbench").glob("*/__init__.py")}


def breaches(root: Path) -> Iterator[tuple[str, str]]:
    """Every import under `root` that no row allows: which module imports which module or package."""
    files = {module_of(root, path): path for path in python_files(root)}
    for module, path in files.items():
        room = room_of(module)
        rule = RULES.get(room)
        for name in imported(path, module):
            if name.partition(".")[0] not in FOLDERS.values():
                package = name.partition(".")[0]
                if package not in sys.stdlib_module_names and (rule is None or package not in rule.packages):
                    yield module, name
                continue
            target = longest(name, files) or name
            if room_of(target) != room and (rule is None or not rule.allows(room, room_of(target))):
                yield module, target


@cache
def imported(path: Path, module: str) -> Sequence[str]:
    """The dotted names that a file imports: `from a import b` is `a.b`."""
    return tuple(_imported(path, module))


def _imported(path: Path, module: str) -> Iterator[str]:
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            origin = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{origin}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            named = node.value.replace(":", ".")
            if named.startswith(("traitbench.", "traitbench_app.")) and _names_a_module(named):
                yield named


def _names_a_module(name: str) -> bool:
    parts = name.split(".")
    if not all(part.isidentifier() for part in parts):
        return False
    folder = ROOT / next(folder for folder, package in FOLDERS.items() if package == parts[0])
    return any(
        folder.joinpath(*parts[1:size]).with_suffix(".py").exists()
        or (folder.joinpath(*parts[1:size]) / "__init__.py").exists()
        for size in (len(parts), len(parts) - 1)
        if size > 1
    )


def _is(name: str, package: str) -> bool:
    return name.partition(".")[0] == package
