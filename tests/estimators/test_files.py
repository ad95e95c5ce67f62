"""Saved estimators: JSON that is checked, scores the same after loading, and never runs code."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import traitbench as tb
from tests.estimators.conftest import NAMES, TEXTS
from traitbench.contract.bundles import Bundle, digest
from traitbench.estimators.score_card import TraitSpec
from traitbench.scoring.snapshot import Snapshot, param_hash

QUALITIES = [1] * 8 + [0] * 8


@pytest.fixture(scope="module")
def card() -> tb.ScoreCard:
    traits: dict[str, TraitSpec] = {
        "warmth": ("cold", "warm"),
        "Thanks!": tb.TraitInput(name="Thanks!", key="th", description="Gratitude."),
    }
    labels = {"warmth": NAMES, "th": [*QUALITIES[:-1], None]}
    return tb.ScoreCard(traits, encoder="ngrams", effort="low", max_depth=2).fit(TEXTS, labels)


@pytest.fixture
def saved(card: tb.ScoreCard, tmp_path: Path) -> Path:
    card.save(tmp_path / "card.json")
    return tmp_path / "card.json"


def test_a_loaded_card_is_the_saved_one(card: tb.ScoreCard, saved: Path, tmp_path: Path) -> None:
    loaded = tb.load(saved)
    assert isinstance(loaded, tb.ScoreCard)
    assert loaded.param_hash_ == card.param_hash_
    assert loaded.predict(TEXTS).tolist() == card.predict(TEXTS).tolist()
    assert (loaded.auroc_, loaded.n_samples_, loaded.fitted_at_) == (card.auroc_, card.n_samples_, card.fitted_at_)
    assert loaded.get_params()["encoder"] == "ngrams"
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == saved.read_bytes()
    assert loaded.fit(TEXTS, {"warmth": NAMES, "th": [*QUALITIES[:-1], None]}).param_hash_ == card.param_hash_


def test_one_trait_of_several_can_be_loaded(card: tb.ScoreCard, saved: Path) -> None:
    for name in ("th", "Thanks!"):
        scorer = tb.Scorer.load(saved, trait=name)
        assert scorer.score_texts(TEXTS).tolist() == card.score_texts(TEXTS)[:, 1].tolist()
        assert (scorer.description, scorer.key, scorer.param_hash_) == ("Gratitude.", "th", card.param_hash_)
    with pytest.raises(ValueError, match="has several traits: warmth, th"):
        tb.Scorer.load(saved)
    with pytest.raises(ValueError, match="has no trait 'cold'"):
        tb.Scorer.load(saved, trait="cold")


def spoil(change: Callable[[dict[str, Any]], object]) -> Callable[[str], str]:
    def spoilt(content: str) -> str:
        document = json.loads(content)
        change(document)
        return json.dumps(document)

    return spoilt


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: content[:-40], "is not a model exported from Traitbench"),
        (lambda content: content.replace('"auroc":', '"auroc" :').replace("0.5", "0.6"), "was changed"),
        (spoil(lambda document: document["versions"][0].update(param_hash="sha256:0")), "was changed"),
        (lambda _: "", "is not a model exported from Traitbench"),
    ],
    ids=["cut", "a figure", "the hash", "empty"],
)
def test_a_changed_file_is_refused(saved: Path, change: Callable[[str], str], message: str) -> None:
    saved.write_text(change(saved.read_text()))
    for load in (tb.load, tb.ScoreCard.load, tb.Scorer.load):
        with pytest.raises(ValueError, match=re.escape(message)):
            load(saved)


def test_a_parameter_changed_with_a_new_digest_is_refused_by_its_hash(saved: Path) -> None:
    document = json.loads(saved.read_text())
    document["versions"][0]["snapshot"]["traits"][0]["offset"] = 1.5
    rewrite(saved, document)
    with pytest.raises(ValueError, match="its parameters do not have their recorded hash"):
        tb.load(saved)


def test_a_missing_encoder_is_named(saved: Path) -> None:
    document = json.loads(saved.read_text())
    version = document["versions"][0]
    version["snapshot"]["encoder"]["digest"] = "0" * 64
    version["param_hash"] = param_hash(Snapshot.from_json(version["snapshot"]))
    rewrite(saved, document)
    with pytest.raises(ValueError, match="which is not installed here"):
        tb.load(saved)


def rewrite(file: Path, document: dict[str, Any]) -> None:
    """Write a changed document with a digest that suits it."""
    document["sha256"] = digest(Bundle.model_validate_json(json.dumps(document)))
    file.write_text(json.dumps(document))


def test_versions_are_chosen_by_number(saved: Path) -> None:
    assert tb.load(saved, version="v1")
    with pytest.raises(ValueError, match="has no version v2"):
        tb.load(saved, version="v2")
