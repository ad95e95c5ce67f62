"""The recipe for notebooks in `core/docs/how-to.md` runs as it is written."""

import re
from pathlib import Path
from typing import Any

import pytest

import traitbench as tb

HOW_TO = Path(__file__).resolve().parents[2] / "core/docs/how-to.md"


def test_the_recipe_for_notebooks_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    part = HOW_TO.read_text("utf-8").partition("## Train and score in a notebook")[2].partition("\n## ")[0]
    [recipe] = re.findall(r"```python\n(.*?)```", part, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(recipe, names)
    assert names["scored"]["warmth_score"].tolist() == names["scorer"].score_texts(names["texts"]).tolist()
    assert tb.load(tmp_path / "warmth.json").param_hash_ == names["scorer"].param_hash_
