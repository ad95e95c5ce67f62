"""The names of models."""

import pytest

from traitbench.names import slug


@pytest.mark.parametrize(
    ("typed", "name"),
    [("Customer Mood!", "customer-mood"), ("tone-", "tone-"), ("Größe", "grosse"), ("", ""), ("温", ""), ("!?", "")],
)
def test_a_name_is_made_from_what_is_typed(typed: str, name: str) -> None:
    assert slug(typed) == name
