"""The figure of a model in a list: of which trait, with how much evidence, and in which order."""

import pytest

from traitbench.display.standing import Standing, order
from traitbench.model_names import slug

MANY = Standing("a", 0.93, (0.92, 0.94), 3_764, False, 1, False)
FEW = Standing("a", 0.98, (0.76, 1.0), 16, False, 1, False)


def test_little_evidence_shows_its_interval_and_comes_after_much() -> None:
    assert (MANY.figure, MANY.is_open) == ("0.93", False)
    assert (FEW.figure, FEW.is_open) == ("0.76 to 1.00", True)
    assert sorted([FEW, None, MANY], key=order) == [MANY, FEW, None]


@pytest.mark.parametrize(
    ("typed", "name"),
    [("Customer Mood!", "customer-mood"), ("tone-", "tone-"), ("Größe", "grosse"), ("", ""), ("温", ""), ("!?", "")],
)
def test_a_name_is_made_from_what_is_typed(typed: str, name: str) -> None:
    assert slug(typed) == name
