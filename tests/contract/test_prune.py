"""What pruning keeps: a table to read, and the rule restated over random histories."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from traitbench.contract.versions import PrunableVersion, versions_to_keep

START = datetime(2026, 1, 1, tzinfo=UTC)


def version(
    number: int, created_at: datetime = START, *, tagged: bool = False, active: bool = False
) -> PrunableVersion:
    """Ids and numbers differ, as they do in the store."""
    return PrunableVersion(1_000 + number, number, created_at, tagged, active)


def day(month: int, day: int = 1) -> datetime:
    return datetime(2026, month, day, 12, tzinfo=UTC)


def numbers(versions: Sequence[PrunableVersion], *, keep_unnamed: int = 0, first_of_month: bool = False) -> list[int]:
    stay = versions_to_keep(versions, keep_unnamed=keep_unnamed, keep_first_of_month=first_of_month)
    return sorted(identity - 1_000 for identity in stay)


TABLE: list[tuple[str, list[PrunableVersion], int, bool, list[int]]] = [
    ("nothing stays nothing", [], 100, True, []),
    ("the newest unnamed stay", [version(n) for n in (1, 2, 3, 4)], 2, False, [3, 4]),
    ("the order given says nothing", [version(n) for n in (3, 1, 4, 2)], 2, False, [3, 4]),
    ("more are allowed than there are", [version(1), version(2)], 100, False, [1, 2]),
    ("none unnamed stays but the active one", [version(1), version(2), version(3, active=True)], 0, False, [3]),
    ("the active one is one of the unnamed", [version(1), version(2), version(3, active=True)], 2, False, [2, 3]),
    ("an old active one stays beside them", [version(1, active=True), version(2), version(3)], 1, False, [1, 3]),
    ("tagged ones take no place", [version(1), version(2, tagged=True), version(3)], 2, False, [1, 2, 3]),
    (
        "the first of each month stays",
        [version(1, day(1, 5)), version(2, day(1, 9)), version(3, day(2)), version(4, day(2, 2)), version(5, day(4))],
        *(0, True, [1, 3, 5]),
    ),
    (
        "a tagged one can be the first of its month",
        [version(1, day(1), tagged=True), version(2, day(1, 2)), version(3, day(2), active=True)],
        *(0, True, [1, 3]),
    ),
    (
        "the same month of another year is another month",
        [version(1, datetime(2025, 1, 5, tzinfo=UTC)), version(2, day(1)), version(3, day(1, 2))],
        *(0, True, [1, 2]),
    ),
    (
        "months are those of UTC",
        [
            version(1, day(1)),
            version(2, datetime(2026, 2, 1, 0, 30, tzinfo=timezone(timedelta(hours=2)))),
            version(3, datetime(2026, 1, 31, 23, 30, tzinfo=timezone(-timedelta(hours=2)))),
        ],
        *(0, True, [1, 3]),
    ),
    (
        "a clock that stepped back, or an imported version, does not unseat the first",
        [version(1, day(1, 20)), version(2, day(1, 3))],
        *(0, True, [1]),
    ),
]


@pytest.mark.parametrize(
    ("versions", "unnamed", "first_of_month", "stay"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE]
)
def test_what_stays(versions: list[PrunableVersion], unnamed: int, first_of_month: bool, stay: list[int]) -> None:
    assert numbers(versions, keep_unnamed=unnamed, first_of_month=first_of_month) == stay


def test_a_time_without_an_offset_is_refused_for_its_month_is_not_known() -> None:
    with pytest.raises(ValueError, match="v7 has a creation time without a UTC offset"):
        version(7, datetime(2026, 1, 1))


@st.composite
def histories(draw: st.DrawFn) -> list[PrunableVersion]:
    """Trainings hours to months apart, some tagged or held, one active, by clocks in any offset that step back."""
    at, versions = START, []
    for number in range(1, draw(st.integers(0, 25)) + 1):
        at += timedelta(hours=draw(st.integers(-72, 24 * 40)))
        offset = timezone(timedelta(hours=draw(st.integers(-12, 14))))
        one = version(number, at.astimezone(offset), tagged=draw(st.booleans()))
        versions.append(replace(one, held=draw(st.integers(0, 9)) == 0))
    if versions:
        active = draw(st.integers(0, len(versions) - 1))
        versions[active] = replace(versions[active], active=True)
    return draw(st.permutations(versions))


def stays(one: PrunableVersion, versions: Sequence[PrunableVersion], keep_unnamed: int, first_of_month: bool) -> bool:
    """The rule as a sentence about one version, without the sorting and slicing of the real one."""
    month = one.created_at.astimezone(UTC).strftime("%Y-%m")
    newer_unnamed = sum(other.version_no > one.version_no and not other.tagged for other in versions)
    earlier_that_month = any(
        other.version_no < one.version_no and other.created_at.astimezone(UTC).strftime("%Y-%m") == month
        for other in versions
    )
    marked = one.tagged or one.active or one.held
    return marked or newer_unnamed < keep_unnamed or (first_of_month and not earlier_that_month)


@given(histories(), st.integers(0, 30), st.booleans())
def test_it_keeps_exactly_what_the_rule_says(
    versions: list[PrunableVersion], keep_unnamed: int, first_of_month: bool
) -> None:
    expected = {one.version_id for one in versions if stays(one, versions, keep_unnamed, first_of_month)}
    assert versions_to_keep(versions, keep_unnamed=keep_unnamed, keep_first_of_month=first_of_month) == expected
