"""What sample_data/README.md promises, counted; and that a model can be taught by it."""

import re
import sys
from collections import Counter
from itertools import combinations
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from tests.conftest import not_none
from traitbench import sample_data
from traitbench.analysis.languages import language
from traitbench.contract.bundles import BundledVersion
from traitbench.contract.models import ModelCreate
from traitbench.contract.samples import SamplesCreate
from traitbench.contract.traits import TraitsCreate
from traitbench.encoders import Encoder
from traitbench.encoders.registry import load_encoder
from traitbench.names import is_key, parse_handle
from traitbench.sample_data import DemoModel, demo_models
from traitbench.scoring.card import score
from traitbench.scoring.snapshot import Snapshot

MODELS = demo_models()
TRAITS = [(model, trait["key"]) for model in MODELS for trait in model.traits]
HARD = ("demo.headlines", "surprise")

every_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: model.handle)
every_trait = pytest.mark.parametrize(("model", "key"), TRAITS, ids=lambda part: getattr(part, "handle", part))


def test_there_are_three_models_of_two_or_three_traits_with_six_texts_or_more_to_try() -> None:
    assert [model.handle for model in MODELS] == ["demo.headlines", "demo.product-reviews", "demo.support-tone"]
    assert {len(model.traits) for model in MODELS} <= {2, 3}
    assert [len(model.examples) for model in MODELS] == [6, 6, 8]


def test_who_changes_what_the_loader_gave_changes_nothing_for_others() -> None:
    demo_models()[0].samples.clear()
    assert demo_models() == MODELS


def test_the_loader_needs_the_standard_library_alone() -> None:
    source = Path(str(sample_data.__file__)).read_text(encoding="utf-8")
    assert set(re.findall(r"^\s*(?:from|import) (\w+)", source, re.MULTILINE)) <= sys.stdlib_module_names


@every_model
def test_everything_is_a_body_the_service_accepts(model: DemoModel) -> None:
    assert ModelCreate.model_validate(model.definition).handle == model.handle
    assert parse_handle(model.handle).namespace == "demo"
    TraitsCreate.model_validate({"traits": model.traits})
    for start in range(0, len(model.samples), 500):
        SamplesCreate.model_validate({"samples": model.samples[start : start + 500]})


@every_model
def test_a_model_says_what_it_is_for_and_where_it_ends(model: DemoModel) -> None:
    assert model.definition["description"]
    assert {"## Good for", "## Limits"} <= set(model.definition["readme_markdown"].splitlines())


@every_model
def test_traits_are_named_by_what_is_there_at_both_ends(model: DemoModel) -> None:
    labels = [trait[end] for trait in model.traits for end in ("positive_label", "negative_label")]
    assert not [label for label in labels if re.search(r"\b(not|no|non|without|lacks?|never)\b", label)]
    assert len({*labels}) == len(labels)
    assert all(is_key(trait["key"]) and trait["name"] and trait["description"] for trait in model.traits)


@every_model
def test_every_sample_labels_a_trait_of_its_model(model: DemoModel) -> None:
    assert {sample["trait"] for sample in model.samples} == {trait["key"] for trait in model.traits}
    assert all(sample.keys() == {"trait", "text", "quality"} for sample in model.samples)


@every_trait
def test_both_poles_have_enough_samples_and_some_lie_between(model: DemoModel, key: str) -> None:
    qualities = [sample["quality"] for sample in model.samples if sample["trait"] == key]
    between = [quality for quality in qualities if quality not in (0.0, 1.0)]
    assert min(qualities.count(1.0), qualities.count(0.0)) >= 45
    assert 6 <= len(between) <= 14
    assert all(0.2 <= quality <= 0.8 for quality in between)


@every_trait
def test_lengths_vary_and_do_not_give_the_pole_away(model: DemoModel, key: str) -> None:
    positive, negative = ([_length(text) for text in _texts(model, key, end)] for end in (1.0, 0.0))
    assert 0.8 <= mean(positive) / mean(negative) <= 1.25
    for lengths in (positive, negative):
        assert max(lengths) >= 2 * min(lengths)
        assert len({*lengths}) >= 8


@every_model
def test_texts_are_clean_and_of_five_to_sixty_words(model: DemoModel) -> None:
    for text in [*(sample["text"] for sample in model.samples), *model.examples.values()]:
        assert 5 <= _length(text) <= 60, text
        assert text.isprintable(), text
        assert text == " ".join(text.split()), text


def test_warmth_is_taught_in_three_languages_evenly_and_shown_in_each() -> None:
    """As many texts at both poles, of about the same length, so that no language and no length gives the pole away."""
    tone = next(model for model in MODELS if model.handle == "demo.support-tone")
    for code in ("de", "ja"):
        positive, negative = (
            [_length(text) for text in _texts(tone, "warmth", end) if _language(text) == code] for end in (1.0, 0.0)
        )
        assert len(positive) == len(negative) == 12
        assert 0.8 <= mean(positive) / mean(negative) <= 1.25
    assert [*map(_language, tone.examples.values())].count("en") == 6
    assert {"de", "ja"} <= {*map(_language, tone.examples.values())}


@every_model
def test_no_text_stands_twice_or_almost(model: DemoModel) -> None:
    words = {
        text: {*_words(text)} for text in [*(sample["text"] for sample in model.samples), *model.examples.values()]
    }
    assert len(words) == len(model.samples) + len(model.examples)
    assert not [pair for pair in combinations(words, 2) if _jaccard(words[pair[0]], words[pair[1]]) >= 0.5]


@every_model
def test_no_frame_stands_more_than_three_times(model: DemoModel) -> None:
    openings: Counter[tuple[str, ...]] = Counter()
    runs: Counter[tuple[str, ...]] = Counter()
    for sample in model.samples:
        words = _words(sample["text"])
        openings[words[:3]] += 1
        runs.update({words[at : at + 4] for at in range(len(words) - 3)})
    assert not [opening for opening, times in openings.items() if times > 3]
    assert not [run for run, times in runs.items() if times > 3]


@every_model
def test_the_samples_teach_their_traits(model: DemoModel, taught: dict[str, BundledVersion]) -> None:
    figures = taught[model.handle].metrics["traits"]
    easy = {key: trait["auroc"] for key, trait in figures.items() if (model.handle, key) != HARD}
    assert not {key: auroc for key, auroc in easy.items() if auroc < 0.8}


def test_the_hard_trait_is_taught_and_its_clusters_overlap(taught: dict[str, BundledVersion]) -> None:
    handle, key = HARD
    figures = taught[handle].metrics["traits"][key]
    assert figures["auroc_interval"][0] > 0.5
    assert figures["auroc"] < 0.8
    axis = next(trait for trait in Snapshot.from_json(taught[handle].snapshot).traits if trait.key == key)
    assert not_none(axis.positive).p25 <= not_none(axis.negative).p75


def test_an_example_shows_low_confidence_on_the_hard_trait(encoder: Encoder, taught: dict[str, BundledVersion]) -> None:
    handle, key = HARD
    model = next(model for model in MODELS if model.handle == handle)
    details = [card["detail"][key] for card in _cards(model, encoder, taught)]
    assert "low" in {detail["confidence"] for detail in details}
    assert "high" not in {detail["confidence"] for detail in details}, "its samples overlap nearly everywhere"
    assert all(detail["confidence_reason"] for detail in details)
    assert all((detail["confidence"] == "low") == (detail.get("label") is None) for detail in details)


@every_model
def test_the_examples_show_sure_and_unsure_scores(
    model: DemoModel, encoder: Encoder, taught: dict[str, BundledVersion]
) -> None:
    shown = [trait["confidence"] for card in _cards(model, encoder, taught) for trait in card["detail"].values()]
    assert set(shown) == {"high", "moderate", "low"}
    assert shown.count("high") >= len(model.examples) / 2, "a demo shows what sure scores look like"


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Encoder:
    return load_encoder(None, cache=tmp_path_factory.mktemp("encoder"))


@pytest.fixture(scope="module")
def taught() -> dict[str, BundledVersion]:
    """The versions in `sample_data`; a test of the demo models trains them again."""
    return {model.handle: BundledVersion.model_validate(model.version) for model in MODELS}


def _cards(model: DemoModel, encoder: Encoder, taught: dict[str, BundledVersion]) -> list[dict[str, Any]]:
    """The score cards of the texts to try."""
    snapshot = Snapshot.from_json(taught[model.handle].snapshot)
    return [score(snapshot, encoder.encode, text).to_wire() for text in model.examples.values()]


def _texts(model: DemoModel, key: str, quality: float) -> list[str]:
    return [sample["text"] for sample in model.samples if (sample["trait"], sample["quality"]) == (key, quality)]


def _length(text: str) -> int:
    """The number of words; a Japanese one has about two characters and stands without spaces."""
    return len(text) // 2 if _language(text) == "ja" else len(text.split())


def _language(text: str) -> str | None:
    return "ja" if re.search(r"[\u3040-\u30ff]", text) else language(text)


def _words(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"[\w']+", text.lower()))


def _jaccard(left: set[str], right: set[str]) -> float:
    return len(left & right) / len(left | right)
