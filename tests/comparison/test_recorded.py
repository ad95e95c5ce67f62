"""Verdicts, figures and words on recorded inputs stay what they were.

Numbers are compared up to rounding, because rounding depends on the processor.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.comparison.engines import ENGINES

CASES = json.loads(Path(__file__).with_name("recorded.json").read_text("utf-8"))


def near(value: Any) -> Any:
    """The value with every number approximate."""
    if isinstance(value, dict):
        return {key: near(each) for key, each in value.items()}
    if isinstance(value, list):
        return [near(each) for each in value]
    return pytest.approx(value, abs=1e-6) if isinstance(value, float) else value


@pytest.mark.parametrize("case", CASES, ids=[f"{case['engine']}: {case['name']}" for case in CASES])
def test_an_answer_is_as_recorded(case: dict[str, Any]) -> None:
    assert ENGINES[case["engine"]](case["given"]) == near(case["answer"])
