"""Which samples the Samples page lists first, what it counts, and what it narrows to."""

from datetime import UTC, datetime
from typing import Any

import pytest

from traitbench.contract.samples import Sample
from traitbench.local.unseen import UnseenRow
from traitbench_app.samples.listed import Chosen, LoadedListing, Unseen, distance, is_wrong
from traitbench_app.samples.unseen import OriginalSample, copied_scores


def sample(sample_id: int, quality: float = 1.0, **fields: Any) -> Sample:
    known = {
        "id": sample_id,
        "trait": "warmth",
        "text": f"Text {sample_id}",
        "quality": quality,
        "provenance": "authored",
        "source_url": None,
        "content_sha256": f"{sample_id:064d}",
        "created_at": datetime(2026, 11, 3, tzinfo=UTC),
        "seed_sample_id": None,
        "generator": None,
        "held_out": False,
        "must_pass": False,
        "pending": False,
        "score_then": None,
    }
    return Sample.model_validate(known | fields)


SAMPLES = [
    sample(1, 1.0),
    sample(2, 0.0, held_out=True),
    sample(3, 1.0, group="Case 1"),
    sample(4, 0.2, text="Öl, ΣΑΣ and 東京"),
    sample(5, 0.5),
    sample(6, 1.0, trait="clarity", provenance="synthesized"),
]
UNSEEN = {1: Unseen(92, 1.0), 2: Unseen(97, 0.0), 3: Unseen(8, 1.0), 4: Unseen(91, 0.2), 5: Unseen(50, 0.5)}
LISTING = LoadedListing(SAMPLES, UNSEEN, frozenset({3}))


def ids(chosen: Chosen, listing: LoadedListing = LISTING) -> list[int]:
    found = listing.find(chosen)
    rows = found.first(10)
    assert found.count == len(rows)
    return [each.id for each in rows]


@pytest.mark.parametrize(
    ("quality", "points", "wrong"),
    [(1.0, 50, True), (1.0, 51, False), (0.0, 50, True), (0.3, 49, False), (0.5, 0, False), (0.5, 100, False)],
)
def test_a_score_of_50_is_on_neither_side_and_a_label_in_the_middle_has_none(
    quality: float, points: int, wrong: bool
) -> None:
    assert is_wrong(quality, points) is wrong


def test_the_farthest_from_their_label_come_first_and_those_without_a_score_last() -> None:
    assert ids(Chosen()) == [2, 3, 4, 1, 5, 6]
    assert distance(0.2, 91) == 0.91
    assert ids(Chosen(newest_first=True)) == [6, 5, 4, 3, 2, 1]


def test_a_sample_keeps_its_place_when_its_label_is_changed() -> None:
    changed = [each.model_copy(update={"quality": 1.0}) if each.id == 2 else each for each in SAMPLES]
    listing = LoadedListing(changed, UNSEEN, frozenset({2}))
    assert ids(Chosen(), listing) == ids(Chosen())
    assert (LISTING.wrong, listing.wrong) == (3, 2)


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        (Chosen(chip="wrong"), [2, 3, 4]),
        (Chosen(chip="test"), [2]),
        (Chosen(chip="no group", trait="clarity"), [6]),
        (Chosen(chip="draft"), [3]),
        (Chosen(chip="synthesized"), [6]),
        (Chosen(trait="warmth", pole="negative"), [2, 4]),
        (Chosen(trait="warmth", pole="negative", tenth=90), [2, 4]),
        (Chosen(pole="between"), [5]),
        (Chosen(tenth=50), [5]),
        (Chosen(words="σασ 東京"), [4]),
        (Chosen(words="text 7"), []),
        (Chosen(ids=frozenset({1, 99})), [1]),
    ],
    ids=str,
)
def test_a_list_is_narrowed(chosen: Chosen, expected: list[int]) -> None:
    assert ids(chosen) == expected


def test_a_chip_is_offered_only_where_it_can_hold_something() -> None:
    assert LISTING.chips() == {"all": 6, "wrong": 3, "test": 1, "no group": 5, "draft": 1, "synthesized": 1}
    assert LoadedListing([sample(1)], {}, None).chips() == {"all": 1}
    assert LoadedListing([], {}, None).chips() == {"all": 0}


def test_strips_count_by_the_label_of_now() -> None:
    counts = LISTING.score_counts("warmth")
    assert {score: number for score, number in enumerate(counts["negative"]) if number} == {91: 1, 97: 1}
    assert {score: number for score, number in enumerate(counts["positive"]) if number} == {8: 1, 92: 1}
    assert LISTING.at_poles("warmth") == (2, 2)
    assert LISTING.at_poles("nothing") == (0, 0)


def test_many_samples_are_listed_in_a_moment() -> None:
    many = [sample(number, float(number % 2)) for number in range(1, 20_001)]
    listing = LoadedListing(many, {each.id: Unseen(each.id % 101, each.quality) for each in many}, None)
    found = listing.find(Chosen(chip="wrong"))
    assert found.count == listing.wrong
    assert len(found.first(50)) == 50


# ---- copies in a draft -----------------------------------------------------------------------------------------------


def original(copy: Sample, sample_id: int, **fields: Any) -> OriginalSample:
    known = {name: getattr(copy, name) for name in ("trait", "content_sha256", "quality", "held_out", "group")}
    return OriginalSample(**{"sample_id": sample_id, **known, **fields})


def scored(**points: int | None) -> dict[int, UnseenRow]:
    """The rows of originals, by their ids."""
    return {
        int(name[1:]): UnseenRow(int(name[1:]), "warmth", None if each is None else each / 100, None, False)
        for name, each in points.items()
    }


def test_a_copy_has_the_score_of_its_original_and_what_differs_is_changed() -> None:
    same, relabelled, new, marked = sample(11), sample(12, 0.0), sample(13), sample(14, held_out=True)
    originals = [original(same, 1), original(relabelled, 2, quality=1.0), original(marked, 4, held_out=False)]
    scores, changed = copied_scores([same, relabelled, new, marked], originals, scored(s1=70, s2=20, s4=30))
    assert scores == {11: Unseen(70, 1.0), 12: Unseen(20, 1.0), 14: Unseen(30, 1.0)}
    assert changed == {12, 13, 14}


def test_equal_texts_keep_their_labels_apart() -> None:
    text = "c" * 64
    copies = [sample(21, 0.0, content_sha256=text), sample(22, 1.0, content_sha256=text)]
    originals = [original(copies[1], 2), original(copies[0], 1)]
    scores, changed = copied_scores(copies, originals, scored(s1=10, s2=90))
    assert scores == {21: Unseen(10, 0.0), 22: Unseen(90, 1.0)}
    assert not changed


def test_an_original_that_was_not_scored_gives_no_score() -> None:
    own = sample(31)
    assert copied_scores([own], [original(own, 1)], scored(s1=None)) == ({}, frozenset())
    assert copied_scores([own], [original(own, 1)], {}) == ({}, frozenset())
