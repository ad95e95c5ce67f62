"""Scores by the names of two poles alone: a side without a label, and none from a name without a meaning."""

import math
from pathlib import Path

import numpy as np
import pytest

from tests.benchmarks.names import figures, pairs
from tests.real_encoder import KEPT
from traitbench.encoders.style import generic_texts
from traitbench.fitting.auroc import auroc
from traitbench.local import names
from traitbench.local.names import FEWEST_LIFTING, KEY, NoNamesAxis, needs_opposite, scorer_by_names
from traitbench.sample_data import demo_models
from traitbench.scoring.segments import embed


@pytest.fixture(autouse=True)
def default_encoder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The default encoder: how often the names are right depends on it."""
    (tmp_path / "cache").symlink_to(KEPT)
    monkeypatch.setenv("TRAITBENCH_HOME", str(tmp_path))
    monkeypatch.setenv("TRAITBENCH_ENCODER", "")


@pytest.mark.soak
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
    scores = [each.score for each in scorer_by_names("rude", "polite").score(generic_texts())]
    assert sorted(scores)[len(scores) // 2] in (49, 50, 51)
    assert {min(scores), max(scores)} == {0, 100}


def test_exchanged_poles_mirror_the_score() -> None:
    text = ["Would you kindly take a seat?"]
    [one], [other] = scorer_by_names("rude", "polite").score(text), scorer_by_names("polite", "rude").score(text)
    assert one.positive is True
    assert other.positive is False
    assert abs(one.score + other.score - 100) <= 1


def test_equal_names_give_no_axis() -> None:
    with pytest.raises(NoNamesAxis, match="Use other words"):
        scorer_by_names("warm", "warm")


def test_the_words_that_decide_add_up_to_the_side() -> None:
    scorer = scorer_by_names("relaxed", "urgent")
    text = "The garden was quiet all afternoon. Please send someone now!"
    reasons = scorer.version.explain(text)[KEY]
    assert math.isclose(reasons.baseline + sum(each.contribution for each in reasons.parts), reasons.position)
    quiet, now = (each.contribution for each in reasons.parts)
    assert quiet < 0 < now
    assert (reasons.position > 0) == (scorer.score([text])[0].score > 50)


def test_the_texts_of_a_file_lift_the_names() -> None:
    """What the texts differ in is what is asked of them: then the names find the sides more often."""
    [replies] = [each for each in demo_models() if each.handle == "demo.support-tone"]
    own = [each for each in replies.samples if each["trait"] == "warmth"]
    scorer = scorer_by_names("cold", "warm")
    X = embed(scorer.version.encode, [each["text"] for each in own])
    labels = np.array([each["quality"] for each in own], float)

    def right(by: names.NamesScorer) -> float:
        return auroc(np.array([each.score for each in by.score_vectors(X)], float), labels)

    assert right(scorer.lifted(X)) > right(scorer)
    assert scorer.lifted(X[: FEWEST_LIFTING - 1]) is scorer
    same = np.repeat(X[:1], FEWEST_LIFTING, axis=0)
    assert scorer.lifted(same).score_vectors(same) == scorer.score_vectors(same)


@pytest.mark.parametrize("pole", ["not ironic", "neither", "other", "none", "nothing special", "the rest", "others"])
def test_a_pole_that_is_a_negation_or_a_rest_needs_an_opposite(pole: str) -> None:
    assert needs_opposite(pole)


@pytest.mark.parametrize("pole", ["serious", "polite", "unfriendly", "can wait"])
def test_a_pole_that_says_what_a_text_is_needs_none(pole: str) -> None:
    assert not needs_opposite(pole)
