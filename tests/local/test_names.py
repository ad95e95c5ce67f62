"""Scores by the names of two poles alone: a side without a label, and none from a name without a meaning."""

from pathlib import Path

import pytest

from tests.benchmarks.names import figures, pairs
from tests.real_encoder import KEPT
from traitbench.local import names
from traitbench.local.names import NoNamesAxis, name_scores, needs_opposite


@pytest.fixture(autouse=True)
def default_encoder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The default encoder: how often the names are right depends on it."""
    (tmp_path / "cache").symlink_to(KEPT)
    monkeypatch.setenv("TRAITBENCH_HOME", str(tmp_path))
    monkeypatch.setenv("TRAITBENCH_ENCODER", "")


def test_names_alone_put_most_texts_on_the_right_side() -> None:
    known = [figures(pair) for pair in pairs()]
    assert sum(each.side for each in known) / len(known) > 0.75
    assert sum(each.right for each in known) / len(known) > 0.85


@pytest.mark.parametrize(
    ("encoder", "reads"), [("multilingual", True), ("minilm", False), ("static", False), ("ngrams", False)]
)
def test_only_the_multilingual_encoder_reads_other_languages(
    monkeypatch: pytest.MonkeyPatch, encoder: str, reads: bool
) -> None:
    monkeypatch.setenv("TRAITBENCH_ENCODER", encoder)
    assert names.reads_other_languages() is reads


def test_half_of_the_everyday_sentences_are_on_either_side() -> None:
    scores = [each.score for each in name_scores("rude", "polite", names.everyday_texts())]
    assert sorted(scores)[len(scores) // 2] in (49, 50, 51)
    assert {min(scores), max(scores)} == {0, 100}


def test_exchanged_poles_mirror_the_score() -> None:
    text = ["Would you kindly take a seat?"]
    [one], [other] = name_scores("rude", "polite", text), name_scores("polite", "rude", text)
    assert one.positive is True
    assert other.positive is False
    assert abs(one.score + other.score - 100) <= 1


def test_equal_names_give_no_axis() -> None:
    with pytest.raises(NoNamesAxis, match="Use other words"):
        name_scores("warm", "warm", ["A text."])


@pytest.mark.parametrize("pole", ["not ironic", "neither", "other", "none", "nothing special", "the rest", "others"])
def test_a_pole_that_is_a_negation_or_a_rest_needs_an_opposite(pole: str) -> None:
    assert needs_opposite(pole)


@pytest.mark.parametrize("pole", ["serious", "polite", "unfriendly", "can wait"])
def test_a_pole_that_says_what_a_text_is_needs_none(pole: str) -> None:
    assert not needs_opposite(pole)
