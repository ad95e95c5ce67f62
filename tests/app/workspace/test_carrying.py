"""Decisions about frozen samples, carried over into a draft with the same samples and other ids."""

from typing import Any

from traitbench.contract.samples import Sample, text_hash
from traitbench_app.workspace.changes import carried


def sample(number: int, text: str, quality: float = 1.0, *, provenance: Any = "authored") -> Sample:
    known: dict[str, Any] = dict.fromkeys(("held_out", "must_pass", "pending"), False)
    mine: dict[str, Any] = {"id": number, "trait": "warmth", "text": text, "quality": quality}
    rest: dict[str, Any] = {"content_sha256": text_hash(text), "source_url": None, "seed_sample_id": None}
    return Sample.model_construct(**known, **mine, **rest, provenance=provenance)


def test_a_decision_finds_the_sample_of_the_draft() -> None:
    of = [sample(1, "a"), sample(2, "b", 0.2), sample(3, "c")]
    into = [sample(11, "a"), sample(12, "b", 0.2), sample(13, "c")]
    changes, lost = carried({1: "delete", 2: "flip", 3: "keep"}, of, into)
    assert changes.deletions == {11}
    assert {key: (each.text, each.quality) for key, each in changes.edits.items()} == {12: ("b", 0.8)}
    assert lost == 0


def test_equal_samples_are_matched_in_their_order() -> None:
    changes, _ = carried(
        {2: "delete"}, [sample(1, "a"), sample(2, "a"), sample(3, "a", 0.0)], [sample(n, "a") for n in (11, 12)]
    )
    assert changes.deletions == {12}


def test_a_sample_that_the_draft_lost_is_counted() -> None:
    changes, lost = carried({1: "flip", 2: "delete"}, [sample(1, "a"), sample(2, "b")], [sample(11, "b")])
    assert (len(changes), set(changes.deletions), lost) == (1, {11}, 1)


def test_a_synthesized_text_is_flipped_like_others_because_it_stays_synthesized() -> None:
    changes, _ = carried({1: "flip"}, *([sample(number, "a", provenance="synthesized")] for number in (1, 11)))
    assert ({each: edit.quality for each, edit in changes.edits.items()}, set(changes.deletions)) == ({11: 0.0}, set())
