"""Each recipe of core/docs/engines.md runs on the real engine, on this machine, and gives the figures of the service.

Engines are not installed by default: `uv pip install --group engines`. A missing one skips its recipe.
"""

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.docs import markdown
from tests.engines.conftest import TEXTS, Exported, figures, of_the_service

PAGE = markdown.read("engines.md")
RECIPES = {"Spark": "pyspark", "Ray Data": "ray", "Daft": "daft", "DuckDB": "duckdb", "Polars": "polars"}

# https://github.com/ray-project/ray/issues/65983: a limit of 15 s that no setting changes.
RAY_IS_LATE = "The current node timed out during startup"


def code(heading: str) -> str:
    """The first block of code of a section."""
    block, *_ = re.findall(r"```python\n(.*?)```", markdown.section(PAGE, heading), re.DOTALL)
    return str(block)


def test_the_page_has_a_recipe_for_each_engine() -> None:
    assert [heading for heading in markdown.headings(PAGE) if heading in RECIPES] == [*RECIPES]


@pytest.fixture
def folder(exported: Exported, tmp_path: Path) -> Path:
    """The files that the recipes name: a model of two traits, and letters of which every second has no text."""
    shutil.copy(exported.path, tmp_path / "warmth.tb")
    texts = [text for each in TEXTS for text in (each, None)]
    pq.write_table(pa.table({"id": range(len(texts)), "text": texts}), tmp_path / "mail.parquet", row_group_size=8)
    return tmp_path


@pytest.mark.parametrize("heading", RECIPES)
def test_a_recipe_gives_the_figures_of_the_service(heading: str, exported: Exported, folder: Path) -> None:
    if find_spec(RECIPES[heading]) is None:
        pytest.skip(f"{RECIPES[heading]} is not installed: uv pip install --group engines")
    if heading == "Spark" and shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    done = run(code(heading), folder)
    if heading == "Ray Data" and RAY_IS_LATE in done.stderr:
        pytest.skip("Ray did not start: on a busy machine its agent takes longer than the 15 s that Ray allows")
    assert done.returncode == 0, done.stderr[-2_000:]
    [answer] = folder.glob("scored*")
    rows = sorted(pq.read_table(answer).to_pylist(), key=lambda row: row["id"])
    assert [*map(figures, rows[::2])] == [*map(of_the_service, exported.answers["static"])]
    assert {row["error"] for row in rows[::2]} == {None}
    assert {row["error"] for row in rows[1::2]} == {"The text is missing."}
    assert {(row["warmth_score"], row["composite"]) for row in rows[1::2]} == {(None, None)}


def test_the_first_block_runs(folder: Path) -> None:
    done = run(code("Scoring inside other engines"), folder)
    assert done.returncode == 0, done.stderr


def run(program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """The program in a process of its own, in a folder that is its home too. Workers find the same Python."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "HOME": str(folder), "PATH": path}
    return subprocess.run(
        [sys.executable, "-c", program], cwd=folder, env=environment, capture_output=True, text=True, timeout=600
    )
