"""Texts from the words for the poles, and from existing texts, with the real encoder."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.real_encoder import best, vocabulary
from tests.scoring.positions import positions
from traitbench.contract.samples import TEXTS_PER_POLE
from traitbench.fitting.evaluate import auroc
from traitbench.fitting.fit import EncoderIdentity, TraitSamples, fit
from traitbench.sample_data import demo_models
from traitbench.scoring.snapshot import Snapshot
from traitbench.synthesis import CannotSynthesize, Exemplar, Seed, Synthesis, TraitPoles
from traitbench.synthesis.blocklist import BLOCKLIST
from traitbench.synthesis.filters import NEAR_DUPLICATE
from traitbench.synthesis.offline import synthesize

JOY = TraitPoles("joy", "Joy", "joyful", "sad")
CALM = TraitPoles("calm", "Calm", "calm", "angry")

JOYFUL = (
    "We danced all night at the wedding and laughed until our cheeks hurt.",
    "Our daughter took her first steps today, and we are over the moon!",
    "What a glorious morning: sunshine, birdsong and fresh bread on the table.",
    "They won the cup, and the whole town sang in the streets.",
    "I got the job! Champagne for everyone!",
)
SAD = (
    "We buried our old dog under the apple tree and could not stop crying.",
    "The chair by the window has been empty since grandfather died.",
    "She read his last letter again and wept until the lamp went out.",
    "Nobody came to his birthday, and he ate the cake alone in the dark.",
    "The factory closed for good, and families left the valley in tears.",
)
SEEDS = (
    Seed("joy", "We do not want to go home. The party is lovely! Nobody has ever danced like this.", 1.0),
    Seed("joy", "I am so glad you are here. It took 12 hours.", 0.8),
    Seed("joy", "Rain", 0.0),
    Seed("joy", "It is over. I do not know what to say. I have wept for 3 days.", 0.1),
    Seed("joy", "It is neither here nor there. I do not know.", 0.5),
)


VECTORS: dict[str, NDArray[np.float32]] = {}


def encode(texts: Sequence[str]) -> NDArray[np.float32]:
    """Encode with the real encoder, each text once."""
    new = list(dict.fromkeys(text for text in texts if text not in VECTORS))
    VECTORS.update(zip(new, best().encode(new), strict=True))
    return np.array([VECTORS[text] for text in texts], np.float32).reshape(-1, best().dimension)


def made(*traits: TraitPoles, effort: str = "low", **more: Any) -> Synthesis:
    return synthesize(
        traits,
        effort=effort,
        encode=encode,
        words=vocabulary().words,
        word_vectors=vocabulary().vectors,
        **({"synth_type": "from_traits"} | more),
    )


def taught(exemplars: Sequence[Exemplar]) -> Snapshot:
    encoder = best()
    trait = TraitSamples(
        key="joy",
        name="Joy",
        positive_label="joyful",
        negative_label="sad",
        aggregation="mean",
        X=encode([each.text for each in exemplars]),
        y=np.array([each.quality for each in exemplars]),
        groups=range(len(exemplars)),
        synthesized=np.ones(len(exemplars), bool),
    )
    identity = EncoderIdentity(encoder.id, encoder.dimension, encoder.digest)
    return fit([trait], encoder=identity, scoring_method="balanced_cosine", max_depth=1, effort="high").snapshot


def test_a_model_trained_on_synthesis_separates_joy_and_sadness() -> None:
    snapshot = taught(made(JOY).exemplars)
    scores = positions(snapshot, encode, [*JOYFUL, *SAD])[:, 0]
    assert scores[:5].mean() > scores[5:].mean()
    assert auroc(scores, np.array([1.0] * 5 + [0.0] * 5)) >= 0.9


def test_descriptions_of_the_poles_improve_synthesis() -> None:
    """Without a description, warm and cold mean weather; evaluated on the demo model's own samples."""
    model = next(model for model in demo_models() if model.handle == "demo.support-tone")
    warmth = next(trait for trait in model.traits if trait["key"] == "warmth")
    samples = [sample for sample in model.samples if sample["trait"] == "warmth"][::2]
    y = np.array([sample["quality"] for sample in samples])
    aurocs = []
    for description in ("", warmth["description"]):
        trait = TraitPoles("warmth", "Warmth", "warm", "cold", description)
        snapshot = taught(made(trait).exemplars)
        aurocs.append(auroc(positions(snapshot, encode, [sample["text"] for sample in samples])[:, 0], y))
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
        vectors = encode(texts)
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
    "label", ["not joyful", "no joy", "neither", "without joy", "unlike joy else", "something else"]
)
def test_a_label_that_only_negates_is_pointed_out(label: str) -> None:
    (note,) = made(TraitPoles("joy", "Joy", "joyful", label)).notes
    assert note.startswith(f"Joy: the label {label} only says what a text is not")


@pytest.mark.parametrize("label", ["sad", "notable", "nonsense", "nostalgic", "unhappy", "gloomy or bitter"])
def test_a_label_that_says_something_is_not_pointed_out(label: str) -> None:
    assert made(TraitPoles("joy", "Joy", "joyful", label)).notes == ()


def test_default_labels_are_pointed_out() -> None:
    (note,) = made(TraitPoles("joy", "Joy", "positive", "negative")).notes
    assert note.startswith("Joy: it has the default labels")


def test_an_encoder_without_words_makes_fewer_texts_and_says_so() -> None:
    result = synthesize(
        [TraitPoles("joy", "Joy", "joyful, merry or glad", "sad")],
        synth_type="from_traits",
        effort="max",
        encode=encode,
        words=(),
        word_vectors=np.zeros((0, best().dimension), np.float32),
    )
    assert 0 < len(result.exemplars) < 100
    assert "not 256" in result.notes[0]


def test_equal_labels_give_no_texts() -> None:
    with pytest.raises(CannotSynthesize, match="0 texts per pole"):
        synthesize(
            [TraitPoles("joy", "Joy", "glad", "glad")],
            synth_type="from_traits",
            effort="low",
            encode=encode,
            words=(),
            word_vectors=np.zeros((0, best().dimension), np.float32),
        )


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


def test_without_a_seed_there_is_nothing_to_vary() -> None:
    with pytest.raises(CannotSynthesize, match="Joy: 0 variations at the positive pole"):
        made(JOY, synth_type="diversify")
    with pytest.raises(CannotSynthesize, match="no trait"):
        made()


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
