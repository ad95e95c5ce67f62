"""An estimator and the service give the same numbers, byte for byte: from samples, and through files both ways."""

import json
import pickle
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import traitbench as tb
from tests.conftest import COLD, WARM, Service, Trained, make_draft, train
from traitbench.client import Traitbench
from traitbench.contract.batches import ScoredLine
from traitbench.contract.samples import SampleInput
from traitbench.contract.traits import TraitInput

NEW = [
    "Thanks, dear!",
    "No.",
    "  Send it.\n\nThen we will see.  ",
    "¿Qué tal, amigo mío? 😀",
    "x" * 2_000,
    "One sentence about a form. " * 60,
    "THANK YOU SO MUCH, DEAR ALL!",
    "\ufeffTha\xadnk you, de\u200bar\u200f, for the cafe\u0301.\u200b Kind regards",
]


@pytest.fixture(scope="module", autouse=True)
def _settings_of_the_service(service: Service) -> Iterator[None]:
    """What is fitted here takes the encoder that the service takes."""
    with pytest.MonkeyPatch.context() as environment:
        service.surround(environment)
        yield


@pytest.fixture(scope="module")
def scorer(_settings_of_the_service: None) -> tb.Scorer:
    labels = ["warm"] * len(WARM) + ["cold"] * len(COLD)
    return tb.Scorer("Warmth", poles=("cold", "warm"), effort="low").fit([*WARM, *COLD], labels)


def without_metadata(card: tb.Card) -> dict[str, object]:
    return {field: value for field, value in card.model_dump().items() if field != "metadata"}


def test_a_fit_gives_the_hash_and_the_figures_of_the_services_training(trained: Trained, scorer: tb.Scorer) -> None:
    version = trained.client.versions.get(trained.handle, "v1")
    assert scorer.param_hash_ == version.param_hash
    assert scorer.snapshot_.to_json() == version.snapshot
    figures = version.metrics.traits["warmth"]
    assert (scorer.auroc_, scorer.auroc_interval_) == (figures.auroc, figures.auroc_interval)
    assert scorer.n_samples_ == version.sample_count
    mine = tb.Version.model_validate(version.model_dump() | {"metrics": scorer.metrics_}).metrics
    apart = {"elapsed_s": 0, "languages": None}
    assert mine.model_dump() | apart == version.metrics.model_dump() | apart


def test_cards_and_explanations_are_those_of_the_service(trained: Trained, scorer: tb.Scorer) -> None:
    theirs = [trained.client.scores.score(trained.handle, text) for text in NEW]
    assert [*map(without_metadata, scorer.cards(NEW))] == [*map(without_metadata, theirs)]
    assert scorer.score_texts(NEW).tolist() == [card.scores["warmth"] for card in theirs]
    polarity = [card.detail["warmth"].native.polarity for card in theirs]
    assert (2 * scorer.predict_proba(NEW)[:, 1] - 1).tolist() == polarity
    for text in (NEW[2], *NEW[-2:]):
        explained = trained.client.scores.score(trained.handle, text, explain=True).explanation
        assert explained is not None
        assert scorer.explain(text).parts == explained["warmth"].parts


def test_texts_that_look_the_same_have_one_score_on_every_way(trained: Trained, scorer: tb.Scorer) -> None:
    alike = [NEW[-1], "Thank you, dear, for the café. Kind regards"]
    lines = [*trained.client.scores.batch(trained.handle, alike)]
    single = [trained.client.scores.score(trained.handle, text) for text in alike]
    assert len({line.scores["warmth"] for line in lines if isinstance(line, ScoredLine)}) == 1
    assert len({card.model_dump_json(exclude={"metadata"}) for card in single}) == 1
    compared = trained.client.scores.compare(trained.handle, *alike).per_trait["warmth"]
    assert compared.delta == 0
    here = scorer.predict_proba(alike)[:, 1].tolist()
    assert len({*here, *pickle.loads(pickle.dumps(scorer)).predict_proba(alike)[:, 1].tolist()}) == 1
    assert tb.score(pd.DataFrame({"text": alike}), "text", scorer=scorer)["warmth_score"].nunique() == 1


def test_a_model_exported_from_a_service_loads_with_its_hash(
    trained: Trained, scorer: tb.Scorer, tmp_path: Path
) -> None:
    file = tmp_path / "tone.json"
    file.write_text(trained.client.models.export(trained.handle).model_dump_json())
    loaded = tb.load(file)
    assert isinstance(loaded, tb.Scorer)
    assert loaded.param_hash_ == scorer.param_hash_
    assert loaded.predict(NEW).tolist() == scorer.predict(NEW).tolist()
    assert loaded.get_params() == scorer.get_params()


def test_a_service_imports_a_saved_scorer_and_scores_the_same(
    client: Traitbench, namespace: str, scorer: tb.Scorer, tmp_path: Path
) -> None:
    scorer.save(tmp_path / "tone.json", handle=f"{namespace}.tone")
    assert not any(text in (tmp_path / "tone.json").read_text() for text in (*WARM, *COLD))
    model = client.models.import_(tb.Bundle.model_validate(json.loads((tmp_path / "tone.json").read_text())))
    assert (model.state, model.version_no) == ("ready", 1)
    assert client.versions.get(model.handle, "v1").param_hash == scorer.param_hash_
    assert client.scores.score(model.handle, NEW[0]).scores["warmth"] == scorer.score_texts(NEW[:1])[0]


def test_a_score_card_is_a_model_of_several_traits(client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.two"
    make_draft(client, handle)
    client.traits.add(handle, [TraitInput(name="Length", positive_label="long", negative_label="short")])
    texts = [*WARM, *COLD]
    lengths = [None if row % 5 == 0 else min(1.0, len(text) / 100) for row, text in enumerate(texts)]
    client.samples.add(
        handle,
        [
            SampleInput(trait="length", text=text, quality=quality)
            for text, quality in zip(texts, lengths, strict=True)
            if quality is not None
        ],
    )
    train(client, handle)
    card = tb.ScoreCard({"Warmth": ("cold", "warm"), "Length": ("short", "long")}, effort="low")
    card.fit(texts, {"Length": lengths, "warmth": [1] * len(WARM) + [0] * len(COLD)})
    assert card.param_hash_ == client.versions.get(handle, "v1").param_hash
    theirs = [client.scores.score(handle, text) for text in NEW]
    assert [*map(without_metadata, card.cards(NEW))] == [*map(without_metadata, theirs)]
    assert np.array_equal(card.score_texts(NEW), [[*each.scores.values()] for each in theirs])
