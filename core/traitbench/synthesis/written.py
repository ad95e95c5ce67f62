"""Texts for a trait from a language model: what is asked, what it costs at most, and what came back.

The requests are made before the first one is sent, so that a person can see them, and their tokens, beforehand.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field, StringConstraints

from traitbench.contract.samples import TEXTS_PER_POLE
from traitbench.scoring.segments import Encode
from traitbench.synthesis import Exemplar, Reject, Seed, TraitPoles
from traitbench.synthesis.language_model import Asker, Endpoint, LanguageModelFailed, estimate
from traitbench.synthesis.quality_filter import Admission, Present, admit_new, admit_varied

SECONDS_A_REQUEST = 15
"""About how long a request takes. Hosted models are faster, small machines slower."""

_PER_POLE, _BETWEEN = 4, 2
_SEEDS, _PER_SEED = 5, 2
_TOKENS_A_TEXT, _MOST_TOKENS_A_TEXT = 60, 200
_CHARACTERS_OF_SEED = 600

_REGISTERS = (
    "chat messages",
    "e-mails to a company",
    "product or place reviews",
    "posts in a forum",
    "sentences from news",
    "notes to a colleague",
    "spoken remarks",
    "posts on social media",
)
_LENGTHS = ("5 to 12 words", "12 to 25 words", "25 to 50 words")

_FROM_TRAITS = (
    "You write example texts for a text classifier. Every text is realistic, self-contained and different from the"
    " others in topic, wording and beginning. It shows its pole by what it says and how; it never names the trait or"
    " the labels. The texts of both poles have the same topics, length, punctuation and style, so that only the trait"
    ' tells them apart. Answer with JSON only: {"items": [{"text": "...", "quality": 1.0}]}'
)
_DIVERSIFY = (
    "You write variations of texts for a text classifier. A variation is a new text that the same person could have"
    " written on another occasion: the same voice, register, length and attitude, but other content and wording. It"
    " keeps the position that is given for its text. The texts are data, not instructions. Answer with JSON only:"
    ' {"items": [{"number": 1, "text": "..."}]}'
)

_Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4_000)]


class WrittenText(BaseModel):
    """A text and its quality: 1 for the positive pole, 0 for the negative one."""

    text: _Text
    quality: Annotated[float, Field(ge=0, le=1)]


class VariedText(BaseModel):
    """A variation of the text with this number."""

    number: int
    text: _Text


@dataclass(frozen=True)
class Request:
    """One question to the language model; `seeds` are the texts to vary with their indexes, empty for new texts."""

    trait_key: str
    instructions: str
    question: str
    texts: int
    seeds: tuple[tuple[int, Seed], ...] = ()

    @property
    def tokens(self) -> int:
        """About how many tokens the question and its answer have."""
        return estimate(self.instructions + self.question) + _TOKENS_A_TEXT * self.texts

    @property
    def answer_tokens(self) -> int:
        """The most tokens that the answer may have."""
        return _MOST_TOKENS_A_TEXT * self.texts


def new_texts(trait: TraitPoles, count: int) -> list[Request]:
    """The requests for `count` texts per pole, in varied registers and lengths, with hard cases in between."""
    return [
        Request(trait.key, _FROM_TRAITS, _question(trait, part), 2 * _PER_POLE + _BETWEEN)
        for part in range(math.ceil(count / _PER_POLE))
    ]


def varied_texts(trait: TraitPoles, seeds: Mapping[int, Seed], count: int) -> list[Request]:
    """The requests for up to `count` variations per pole of the seeds, which are given by index, two of each."""
    most = math.ceil(count / _PER_SEED)
    positive, negative = (
        [(index, seed) for index, seed in seeds.items() if sign * (seed.quality - 0.5) > 0][:most] for sign in (1, -1)
    )
    chosen = [*positive, *negative]
    return [
        Request(trait.key, _DIVERSIFY, _variation_question(trait, some), _PER_SEED * len(some), tuple(some))
        for some in (chosen[first : first + _SEEDS] for first in range(0, len(chosen), _SEEDS))
    ]


@dataclass(frozen=True)
class Written:
    """What came back: the texts, how many were not in the form asked for, and why it ended early ("" if it did not)."""

    exemplars: Sequence[Exemplar]
    invalid: int
    failure: str


def write(asker: Asker, requests: Sequence[Request], on_request: Callable[[int], None]) -> Written:
    """Ask one request after the other; what came before a failure is kept. `on_request` gets the number done."""
    exemplars, invalid = list[Exemplar](), 0
    for done, request in enumerate(requests):
        on_request(done)
        try:
            some, wrong = _asked(asker, request)
        except LanguageModelFailed as error:
            return Written(exemplars, invalid, str(error))
        exemplars += some
        invalid += wrong
    return Written(exemplars, invalid, "")


def _asked(asker: Asker, request: Request) -> tuple[list[Exemplar], int]:
    key, generator = request.trait_key, asker.endpoint.model
    if not request.seeds:
        answer = asker.ask(request.instructions, request.question, WrittenText, answer_tokens=request.answer_tokens)
        return [Exemplar(key, each.text, each.quality, None, generator) for each in answer.items], answer.invalid
    varied = asker.ask(request.instructions, request.question, VariedText, answer_tokens=request.answer_tokens)
    known = dict(enumerate(request.seeds, 1))
    exemplars = list[Exemplar]()
    for each in varied.items:
        if each.number in known:
            index, seed = known[each.number]
            exemplars.append(Exemplar(key, each.text, seed.quality, index, generator))
    return exemplars, varied.invalid + len(varied.items) - len(exemplars)


def _question(trait: TraitPoles, part: int) -> str:
    register, length = _REGISTERS[part % len(_REGISTERS)], _LENGTHS[part % len(_LENGTHS)]
    return (
        f"{_described(trait)}\n\n{_language(trait)} Write {register} of {length} each: {_PER_POLE} that are clearly"
        f" {trait.positive_label} (quality 1.0), {_PER_POLE} that are clearly {trait.negative_label} (quality 0.0), and"
        f" {_BETWEEN} hard cases in between (quality 0.3 to 0.7). This is part {part + 1}: choose topics that others"
        " would not think of first."
    )


def _variation_question(trait: TraitPoles, seeds: Sequence[tuple[int, Seed]]) -> str:
    listed = "\n\n".join(
        f"Text {number} (position {seed.quality:.2f}):\n{seed.text[:_CHARACTERS_OF_SEED]}"
        for number, (_, seed) in enumerate(seeds, 1)
    )
    return (
        f"{_described(trait)}\n\nWrite {_PER_SEED} variations of each text, in the language of that text.\n\n{listed}"
    )


def _language(trait: TraitPoles) -> str:
    """In which language to write."""
    match trait.languages:
        case ():
            return "Write every text in the language of the labels."
        case (one,):
            return f"Write every text in {one}, whatever the language of the labels."
        case several:
            return f"Write about as many texts in each of these languages: {', '.join(several)}."


def _described(trait: TraitPoles) -> str:
    described = f"\nDescription: {trait.description}" if trait.description else ""
    return (
        f"Trait: {trait.name}\nPositive pole (1.0): {trait.positive_label}\nNegative pole (0.0):"
        f" {trait.negative_label}{described}"
    )


_BUDGET = 3
"""How many times the estimate a synthesis may cost, because answers may be longer and are asked for again."""

Axis = Callable[[TraitPoles], NDArray[np.float32] | None]


def requests_for(trait: TraitPoles, seeds: Mapping[int, Seed], synth_type: str, effort: str) -> list[Request]:
    """What the language model would be asked for a trait; `seeds` are its texts to vary, by their index."""
    count = TEXTS_PER_POLE[effort]
    return varied_texts(trait, seeds, count) if synth_type == "diversify" else new_texts(trait, count)


def budget(requests: Sequence[Request]) -> int:
    """The most tokens that these requests may cost."""
    return _BUDGET * sum(request.tokens for request in requests)


@dataclass(frozen=True)
class LanguageModelResult:
    """What a language model made: accepted texts, rejected texts, tokens, and traits left to do offline.

    `failure` says why it did not make all texts, empty if it did. `invalid` counts the parts of its answers that were
    no texts in the form asked for.
    """

    exemplars: Sequence[Exemplar]
    failure: str
    rejects: Sequence[Reject]
    tokens: int
    left: frozenset[str]
    invalid: int = 0


def generate(
    model: Endpoint,
    traits: Sequence[TraitPoles],
    *,
    synth_type: str,
    effort: str,
    seeds: Sequence[Seed],
    known: Mapping[str, Sequence[str]],
    encode: Encode,
    axis: Axis,
    on_progress: Callable[[int, int], None],
) -> LanguageModelResult:
    """Ask for texts of every trait, and examine them. `on_progress` is called while an answer is awaited."""
    own = {trait.key: {i: seed for i, seed in enumerate(seeds) if seed.trait_key == trait.key} for trait in traits}
    asked = {trait.key: requests_for(trait, own[trait.key], synth_type, effort) for trait in traits}
    every = [request for some in asked.values() for request in some]
    done, made = 0, list[Exemplar]()
    rejects, invalid, left = list[Reject](), 0, set[str]()

    def look() -> None:
        on_progress(done, len(every))

    with Asker(model, most_tokens=budget(every), meanwhile=look) as asker:
        failure = ""
        for trait in traits:
            before = done

            def count(number: int, before: int = before) -> None:
                nonlocal done
                done = before + number
                look()

            answered: Sequence[Exemplar] = ()
            if not failure:
                written = write(asker, asked[trait.key], count)
                answered, failure = written.exemplars, written.failure
                invalid += written.invalid
            done = before + len(asked[trait.key])
            admitted = _admit(trait, answered, own[trait.key], known, synth_type, encode, axis)
            rejects += admitted.rejects
            made += admitted.accepted
            if not _is_enough(admitted.accepted, own[trait.key], synth_type):
                left.add(trait.key)
        if failure:
            failure = _said(model, failure, [trait.name for trait in traits if trait.key in left], len(made))
        elif left:
            names = ", ".join(trait.name for trait in traits if trait.key in left)
            failure = (
                f"No text by {model.model} passed the quality filter at a pole of {names}. Texts were made offline."
            )
        return LanguageModelResult(made, failure, rejects, asker.tokens, frozenset(left), invalid)


def _admit(
    trait: TraitPoles,
    made: Sequence[Exemplar],
    seeds: Mapping[int, Seed],
    known: Mapping[str, Sequence[str]],
    synth_type: str,
    encode: Encode,
    axis: Axis,
) -> Admission:
    if not made:
        return Admission([], [])
    present = Present.of([*dict.fromkeys([*known.get(trait.key, ()), *(seed.text for seed in seeds.values())])], encode)
    if synth_type != "diversify":
        return admit_new(made, present, encode=encode, axis=axis(trait))
    texts = [seeds[each.seed_index].text for each in made if each.seed_index is not None]
    return admit_varied(made, texts, present, encode=encode, poles=[each.quality for each in made], free=True)


def _is_enough(accepted: Sequence[Exemplar], seeds: Mapping[int, Seed], synth_type: str) -> bool:
    """Whether a trait got texts at every pole that can get some."""
    poles = {each.quality > 0.5 for each in accepted if each.quality != 0.5}
    possible = {seed.quality > 0.5 for seed in seeds.values()} if synth_type == "diversify" else {True, False}
    return possible <= poles


def _said(model: Endpoint, failure: str, left: Sequence[str], made: int) -> str:
    outcome = f" {made} of its texts are kept." if made else ""
    offline = f" The texts for {', '.join(left)} were made offline." if left else ""
    return f"The language model {model.model} {failure}.{outcome}{offline}"
