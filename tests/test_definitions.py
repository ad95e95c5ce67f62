"""The definitions of both poles in a description: read as training reads them, and nothing is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from traitbench.definitions import Definitions, can_define, read_definitions, write_definitions


@pytest.mark.parametrize(
    ("description", "negative", "positive", "rest"),
    [
        ("Warm: speaks to a person. Cold: handles a case.", "handles a case", "speaks to a person", ""),
        ("cold: curt;\nWARM: kind!", "curt", "kind", ""),
        ("How kind it is.", "", "", "How kind it is."),
        ("How kind. Warm: kind, or patient. Hard: irony.", "", "kind, or patient", "How kind. Hard: irony."),
        ("Warm: 親切。", "", "親切。", ""),
        ("", "", "", ""),
    ],
)
def test_a_description_is_split_by_pole(description: str, negative: str, positive: str, rest: str) -> None:
    assert read_definitions(description, "cold", "warm") == Definitions(negative, positive, rest)


@given(*[st.text(st.characters(exclude_characters=".:;!", exclude_categories=["C", "Z"]), min_size=1)] * 2)
def test_what_is_written_is_read_again(one: str, other: str) -> None:
    said = Definitions(one, other, "And more.")
    assert read_definitions(write_definitions(said, "cold", "warm"), "cold", "warm") == said


def test_a_label_with_a_full_stop_or_a_colon_cannot_have_a_definition() -> None:
    assert [can_define(each) for each in ("warm", "takes ownership", "v1.0", "a: b", "", "x" * 61)] == [
        True, True, False, False, False, False,
    ]  # fmt: skip
