"""The label axis of a trait's words, with the real encoder."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from tests.real_encoder import KEPT
from tests.synthesis.joy import CALM, JOY, JOYFUL, SAD, Remembering, quick, real
from traitbench.encoders.registry import load_encoder
from traitbench.fitting.auroc import auroc
from traitbench.scoring.inputs import Vocabulary
from traitbench.synthesis import TraitPoles
from traitbench.synthesis.label_axis import WORDS, LabelAxis, label_axis
from traitbench.synthesis.sentences import topic, write

DEFAULT = TraitPoles("sentiment", "sentiment", "positive", "negative")
CARDS = TraitPoles("cards", "About cards", "about a bank card", "about something else")

ABOUT_CARDS = (
    "It has been two weeks and my new card is still not here.",
    "The cash machine swallowed my card this morning.",
    "Do you send out Visa or Mastercard?",
    "Somebody stole my purse, please block the card!",
    "The terminal in the shop refuses my card.",
    "Can my daughter have a card too?",
    "How long until the replacement for the broken card is in the post?",
    "My card expires next month, what do I do?",
)
ABOUT_OTHERS = (
    "I paid the rent, but the payment is still pending.",
    "What does the bank charge for a payment to another country?",
    "The money was credited to the wrong account.",
    "Which currencies can I pay in?",
    "I was charged twice for one purchase.",
    "Why must I prove who I am before I pay in money?",
    "The cheque that I paid in does not show in my balance.",
    "Please cancel the payment to my landlord!",
)


@cache
def made(trait: TraitPoles, *, modes: bool = True, by: Remembering | None = None) -> LabelAxis:
    by = by or real()
    words, vectors = by.vocabulary.words[:WORDS], by.vocabulary.vectors[:WORDS]
    more: dict[str, Any] = {"modes": by.encoder.modes} if modes else {}
    axis = label_axis(trait, encode=by.encode, words=words, word_vectors=vectors, **more)
    assert axis is not None
    return axis


def vector(trait: TraitPoles) -> np.ndarray:
    return made(trait).vector


def test_words_alone_separate_joyful_and_sad_texts() -> None:
    values = real().encode([*JOYFUL, *SAD]) @ vector(JOY)
    assert auroc(values.astype(np.float64), np.repeat([1.0, 0.0], [len(JOYFUL), len(SAD)])) > 0.9


@pytest.mark.parametrize("trait", [JOY, DEFAULT, CARDS], ids=["words", "default labels", "the rest"])
def test_an_axis_has_length_one_and_swapped_labels_reverse_it(trait: TraitPoles) -> None:
    assert np.linalg.norm(vector(trait)) == pytest.approx(1, abs=1e-6)
    swapped = replace(trait, positive_label=trait.negative_label, negative_label=trait.positive_label)
    assert vector(trait) @ vector(swapped) < -0.98


@pytest.mark.parametrize("threads", [1, 2])
def test_equal_words_give_an_equal_axis_with_any_number_of_threads(threads: int) -> None:
    with threadpool_limits(limits=threads):
        again = made.__wrapped__(CALM)
    assert again.vector.tobytes() == vector(CALM).tobytes()


def test_the_description_of_the_poles_is_used() -> None:
    described = replace(CALM, description="calm: a quiet lake, slow breath. angry: slammed doors, a raised fist.")
    assert 0.3 < vector(CALM) @ vector(described) < 0.99


def test_a_label_that_only_negates_is_noted() -> None:
    assert "only says what a text is not" in made(TraitPoles("irony", "Irony", "ironic", "not ironic")).notes[0]


def test_labels_that_are_the_same_have_no_axis() -> None:
    same, words = TraitPoles("calm", "Calm", "calm", "calm"), quick().vocabulary
    assert label_axis(same, encode=quick().encode, words=words.words, word_vectors=words.vectors) is None


def test_both_poles_get_the_same_frames() -> None:
    words = quick().vocabulary
    some = Vocabulary(words.words[:500], words.vectors[:500])
    written = write(JOY, 16, encode=quick().encode, vocabulary=some)
    assert len(written.pairs) == len(written.positive) == len(written.negative) == 16
    assert all(len(one.split()) - len(other.split()) in (-1, 0, 1) for one, other in written.pairs)


def separation(trait: TraitPoles) -> float:
    """The AUROC of the label axis on texts about cards and texts about something else."""
    values = real().encode([*ABOUT_CARDS, *ABOUT_OTHERS]) @ vector(trait)
    return auroc(values.astype(np.float64), np.repeat([1.0, 0.0], [len(ABOUT_CARDS), len(ABOUT_OTHERS)]))


@pytest.mark.parametrize("rest", ["about something else", "other questions", "anything else", "the rest"])
def test_a_topic_and_the_rest_are_separated_by_the_words_of_the_topic(rest: str) -> None:
    assert separation(replace(CARDS, negative_label=rest)) > 0.75


def test_a_description_of_both_poles_says_more_than_the_rest() -> None:
    described = replace(
        CARDS, description="about a bank card: Visa, PIN. about something else: transfers, refunds, exchange rates."
    )
    assert topic(CARDS, encode=real().encode) is not None
    assert topic(described, encode=real().encode) is None


@pytest.mark.parametrize(("positive", "negative"), [("ironic", "not ironic"), ("calm", "angry"), ("other", "others")])
def test_other_labels_have_no_topic(positive: str, negative: str) -> None:
    assert topic(TraitPoles("it", "It", positive, negative), encode=real().encode) is None


def test_a_topic_leans_less_on_the_layer_of_form() -> None:
    minilm = Remembering(load_encoder("minilm-full", cache=KEPT))
    form = minilm.encoder.modes["layer4"]
    with_modes, without_modes = (made(CARDS, modes=modes, by=minilm).vector for modes in (True, False))
    assert np.linalg.norm(with_modes[form]) < 0.7 * np.linalg.norm(without_modes[form])
