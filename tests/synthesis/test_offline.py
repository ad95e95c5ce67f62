"""Texts from the words for the poles, and from existing texts, with the real encoder."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.scoring.hand import samples
from tests.scoring.positions import positions
from tests.synthesis.joy import CALM, JOY, JOYFUL, SAD, Remembering, quick, real
from traitbench.contract.samples import TEXTS_PER_POLE
from traitbench.fitting.auroc import auroc
from traitbench.fitting.fit import EncoderIdentity, fit
from traitbench.sample_data import demo_models
from traitbench.synthesis import CannotSynthesize, Exemplar, Seed, Synthesis, TraitPoles
from traitbench.synthesis.offline import synthesize
from traitbench.synthesis.quality_filter import NEAR_DUPLICATE
from traitbench.synthesis.sentences import BLOCKLIST

SEEDS = (
    Seed("joy", "We do not want to go home. The party is lovely! Nobody has ever danced like this.", 1.0),
    Seed("joy", "I am so glad you are here. It took 12 hours.", 0.8),
    Seed("joy", "Rain", 0.0),
    Seed("joy", "It is over. I do not know what to say. I have wept for 3 days.", 0.1),
    Seed("joy", "It is neither here nor there. I do not know.", 0.5),
)


def made(
    *traits: TraitPoles, effort: str = "low", by: Remembering | None = None, words: int | None = None, **more: Any
) -> Synthesis:
    by = by or quick()
    return synthesize(
        traits,
        effort=effort,
        encode=by.encode,
        words=by.vocabulary.words[:words],
        word_vectors=by.vocabulary.vectors[:words],
        **{"synth_type": "from_traits", **more},
    )


def scores(exemplars: Sequence[Exemplar], texts: Sequence[str]) -> NDArray[np.float64]:
    """The scores of texts by a model that these texts teach."""
    encoder = real().encoder
    trait = samples(real().encode([each.text for each in exemplars]), [each.quality for each in exemplars])
    identity = EncoderIdentity(encoder.id, encoder.dimension, encoder.digest)
    taught = replace(trait, synthesized=np.ones(len(exemplars), bool))
    trained = fit([taught], encoder=identity, scoring_method="balanced_cosine", max_depth=1, effort="high")
    return positions(trained.snapshot, real().encode, texts)[:, 0]


def test_a_model_trained_on_synthesis_separates_joy_and_sadness() -> None:
    found = scores(made(JOY, by=real()).exemplars, [*JOYFUL, *SAD])
    assert found[:5].mean() > found[5:].mean()
    assert auroc(found, np.array([1.0] * 5 + [0.0] * 5)) >= 0.9


@pytest.mark.soak
def test_descriptions_of_the_poles_improve_synthesis() -> None:
    """Without a description, warm and cold mean weather; evaluated on the demo model's own samples."""
    model = next(model for model in demo_models() if model.handle == "demo.support-tone")
    warmth = next(trait for trait in model.traits if trait["key"] == "warmth")
    rated = [sample for sample in model.samples if sample["trait"] == "warmth"][::2]
    y = np.array([sample["quality"] for sample in rated])
    aurocs = []
    for description in ("", warmth["description"]):
        trait = TraitPoles("warmth", "Warmth", "warm", "cold", description)
        aurocs.append(auroc(scores(made(trait, by=real()).exemplars, [sample["text"] for sample in rated]), y))
    assert aurocs[1] > aurocs[0] + 0.05
    assert aurocs[1] > 0.6


@pytest.mark.parametrize("effort", ["low", "medium", "high"])
def test_an_effort_is_a_number_of_texts_per_pole(effort: str) -> None:
    result = made(JOY, CALM, effort=effort)
    counts = Counter((each.trait_key, each.quality) for each in result.exemplars)
    assert counts == {(key, quality): TEXTS_PER_POLE[effort] for key in ("joy", "calm") for quality in (0.0, 1.0)}
    assert result.notes == ()


def test_texts_are_distinct_without_near_duplicates() -> None:
    for quality in (0.0, 1.0):
        texts = [each.text for each in made(JOY, effort="high").exemplars if each.quality == quality]
        assert len(texts) == len(set(texts))
        vectors = quick().encode(texts)
        assert np.triu(vectors @ vectors.T, 1).max() <= NEAR_DUPLICATE


def test_both_poles_use_the_same_frames_and_lengths() -> None:
    result = made(JOY).exemplars
    positive, negative = ([each.text for each in result if each.quality == quality] for quality in (1.0, 0.0))
    assert [len(text.split()) for text in positive] == [len(text.split()) for text in negative]
    assert not set(positive) & set(negative)


@pytest.mark.parametrize(("one", "other"), [("safe", "threatening"), ("polite", "vulgar"), ("modern", "backward")])
def test_blocked_words_are_not_used(one: str, other: str) -> None:
    result = made(TraitPoles("tone", "Tone", one, other), effort="medium").exemplars
    assert not {word.strip(".,!?").lower() for each in result for word in each.text.split()} & BLOCKLIST


def test_blocked_words_of_the_trait_itself_are_used() -> None:
    result = made(TraitPoles("age", "Age", "young", "old")).exemplars
    assert any("young" in each.text for each in result if each.quality == 1)


def test_equal_inputs_give_equal_texts() -> None:
    assert made(JOY, CALM) == made(JOY, CALM)
    alone = [each for each in made(JOY, CALM).exemplars if each.trait_key == "calm"]
    assert tuple(alone) == made(CALM).exemplars


def test_an_existing_text_is_not_made_again() -> None:
    first = made(JOY).exemplars
    again = made(JOY, seeds=[Seed("joy", each.text, each.quality) for each in first]).exemplars
    assert not {each.text for each in first} & {each.text for each in again}
    assert {each.seed_index for each in again} == {None}


@pytest.mark.parametrize(
    ("positive", "negative", "notes"),
    [
        ("joyful", "sad", []),
        ("joyful", "notable", []),
        ("joyful", "without joy", ["Joy: the label without joy only says what a text is not"]),
        ("joyful", "something else", ["Joy: the label something else only says what a text is not"]),
        ("positive", "negative", ["Joy: it has the default labels"]),
    ],
)
def test_labels_that_say_little_are_pointed_out(positive: str, negative: str, notes: list[str]) -> None:
    found = made(TraitPoles("joy", "Joy", positive, negative)).notes
    assert len(found) == len(notes)
    assert all(map(str.startswith, found, notes))


def test_an_encoder_without_words_makes_fewer_texts_and_says_so() -> None:
    result = made(TraitPoles("joy", "Joy", "joyful, merry or glad", "sad"), effort="max", words=0)
    assert 0 < len(result.exemplars) < 100
    assert "not 256" in result.notes[0]


@pytest.mark.parametrize(
    ("traits", "more", "says"),
    [
        ([TraitPoles("joy", "Joy", "glad", "glad")], {"words": 0}, "0 texts per pole"),
        ([JOY], {"synth_type": "diversify"}, "Joy: 0 variations at the positive pole"),
        ([], {}, "no trait"),
    ],
    ids=["equal labels", "no seed", "no trait"],
)
def test_what_gives_no_text_is_refused(traits: list[TraitPoles], more: dict[str, Any], says: str) -> None:
    with pytest.raises(CannotSynthesize, match=says):
        made(*traits, **more)


def test_variations_have_the_index_and_quality_of_their_seed() -> None:
    result = made(JOY, synth_type="diversify", seeds=SEEDS)
    assert len({each.text for each in result.exemplars}) == len(result.exemplars) > 10
    assert {each.seed_index for each in result.exemplars} == {0, 1, 3}
    for each in result.exemplars:
        assert each.seed_index is not None
        assert each.quality == SEEDS[each.seed_index].quality
        assert each.text != SEEDS[each.seed_index].text


def test_every_seed_is_varied_once_before_one_is_varied_twice() -> None:
    seeds = [Seed("joy", f"I am here. {text}", 1.0) for text in [*JOYFUL, *SAD]]
    result = made(JOY, synth_type="diversify", seeds=seeds).exemplars
    order = [each.seed_index for each in result if each.seed_index is not None]
    assert len(order) > 10 >= len({*order})
    assert order == [*sorted({*order}), *order[len({*order}) :]]


def test_what_is_too_near_a_text_of_the_trait_is_rejected_and_counted() -> None:
    first = made(JOY)
    assert {*first.rejected} <= {"near_duplicate", "wrong_side"}
    shouted = [each.text.replace(".", "!!") for each in first.exemplars]
    again = made(JOY, known={"joy": shouted})
    assert not {each.text for each in again.exemplars} & {each.text for each in first.exemplars}
    assert again.rejected["copy"] >= 16
    seeds = [Seed("joy", "It is a long road to the coast from here.", 1.0), SEEDS[0]]
    varied = made(JOY, synth_type="diversify", seeds=seeds)
    assert {each.seed_index for each in varied.exemplars} == {1}
    assert varied.rejected["near_duplicate"] >= 1


def test_seeds_of_other_traits_are_not_used() -> None:
    result = made(CALM, JOY, synth_type="diversify", seeds=SEEDS)
    assert {each.trait_key for each in result.exemplars} == {"joy"}
    assert any(note.startswith("Calm: 0 variations at the positive pole") for note in result.notes)


def test_no_note_quotes_a_text() -> None:
    notes = made(JOY, synth_type="diversify", seeds=SEEDS[:3]).notes
    assert notes
    assert not any("Rain" in note or "party" in note for note in notes)


def test_an_unknown_type_is_refused() -> None:
    with pytest.raises(ValueError, match="'enrich'"):
        made(JOY, synth_type="enrich")


def test_progress_counts_the_traits() -> None:
    calls: list[tuple[int, int]] = []
    made(JOY, CALM, on_progress=lambda done, total: calls.append((done, total)))
    assert calls == [(0, 2), (1, 2), (2, 2)]
