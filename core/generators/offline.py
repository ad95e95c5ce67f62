"""Labelled texts without a language model: from the words for the poles, or from texts that are there.

From traits: the words that the encoder puts nearest to one pole and farthest from the other are set into short frames,
in pairs, the same frame for both poles, so that nothing but the words differs. From seeds: see `variations`.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.generators import SYNTH_TYPES, TEXTS_PER_POLE, CannotSynthesize, Exemplar, Seed, Synthesis, TraitPoles
from core.generators.filters import agreeing, distinct, on_side
from core.generators.unsaid import UNSAID
from core.generators.variations import variations
from core.scoring.segments import Encode, Vectors, embed

_CARRIERS = (
    "{}",
    "This text is {}.",
    "The tone is {}.",
    "It sounds {}.",
    "Here is something {}.",
    "One would call this {}.",
)
_FRAMES = (
    "This is {0}.",
    "It feels {0} and {1}.",
    "So {0}, so {1}!",
    "Quite {0}, I would say.",
    "{0}, {1}, {2}.",
    "How {0} it all is.",
    "The first word that comes to mind is {0}.",
    "All of it speaks of {0} and {1}.",
    "They wrote something {0} today.",
    "It begins {0} and ends {1}.",
    "Is it {0}? Yes, and {1} too.",
    "You can tell by the {0}, the {1} and the {2}.",
)
_FEWEST_WORDS, _MOST_WORDS = 24, 40
_SURPLUS = 2

_PARTS = re.compile(r"\s*(?:,|;|/|\bor\b|\band\b)\s*", re.IGNORECASE)
_NEGATION = re.compile(
    r"^(?:not?|non|un|never|neither|without|lack(?:ing|s)?|absence|anything|everything|something|none|others?|less|hardly|barely)"
    r"(?:\b|-)|\b(?:else|otherwise)\b",
    re.IGNORECASE,
)
_SECTION = re.compile(r"(?:^|[.;!]\s+|\n\s*)([^.:;!\n]{1,60}):\s*(.+?)(?=[.;!]\s+[^.:;!\n]{1,60}:|\n|$)")
_GENERAL = {"positive", "negative"}
_NEAR_SEED = 0.7


def ignore(done: int, total: int) -> None:
    """Nobody watches."""


def synthesize(
    traits: Sequence[TraitPoles],
    *,
    synth_type: str,
    effort: str,
    encode: Encode,
    words: Sequence[str],
    word_vectors: Vectors,
    seeds: Sequence[Seed] = (),
    on_progress: Callable[[int, int], None] = ignore,
) -> Synthesis:
    """Texts for every trait; `words` and `word_vectors` (n_words, d) are the encoder's vocabulary.

    No text is given twice for a trait, and none that is among its seeds. Raises `CannotSynthesize` when there is none.
    """
    if synth_type not in SYNTH_TYPES:
        raise ValueError(f"The type of synthesis {synth_type!r} is none of {SYNTH_TYPES}.")
    count, made, notes = TEXTS_PER_POLE[effort], list[Exemplar](), list[str]()
    vocabulary = _Vocabulary(tuple(words), word_vectors)
    for done, trait in enumerate(traits):
        on_progress(done, len(traits))
        own = {i: seed for i, seed in enumerate(seeds) if seed.trait_key == trait.key}
        if synth_type == "diversify":
            found, said = _from_seeds(trait, own, count, encode)
        else:
            found, said = _from_words(trait, frozenset(seed.text for seed in own.values()), count, encode, vocabulary)
        made += found
        notes += said
    on_progress(len(traits), len(traits))
    if not made:
        raise CannotSynthesize(" ".join(notes) or "The model has no trait to write texts for; add one.")
    return Synthesis(tuple(made), tuple(notes))


@dataclass(frozen=True, eq=False)
class _Vocabulary:
    words: tuple[str, ...]
    vectors: Vectors


def _from_words(
    trait: TraitPoles, known: frozenset[str], count: int, encode: Encode, vocabulary: _Vocabulary
) -> tuple[list[Exemplar], list[str]]:
    labels, said = _labels(trait), _said(trait)
    axis = _pole(encode, labels[0], said[0]) - _pole(encode, labels[1], said[1])
    notes = _doubts(trait)
    lexicons = _lexicons(labels, axis, vocabulary, count)
    pairs = [pair for pair in (*zip(*said, strict=False), *_pairs(labels, lexicons, count)) if not known & set(pair)]
    kept = _sound(pairs, encode, axis)[:count]
    if len(kept) < count:
        notes.append(f"{trait.name}: {len(kept)} texts a pole, not {count}; its words do not give more that differ.")
    poles = ((1.0, [pair[0] for pair in kept]), (0.0, [pair[1] for pair in kept]))
    return [Exemplar(trait.key, text, quality, None) for quality, texts in poles for text in texts], notes


def _labels(trait: TraitPoles) -> tuple[str, str]:
    """What the poles are called; a trait whose labels say nothing is taken by its name."""
    if {trait.positive_label.casefold(), trait.negative_label.casefold()} == _GENERAL:
        return f"positive {trait.name}", f"negative {trait.name}"
    return trait.positive_label, trait.negative_label


def _doubts(trait: TraitPoles) -> list[str]:
    """What a person should know before trusting texts made from these words."""
    positive, negative = _labels(trait)
    if (positive, negative) != (trait.positive_label, trait.negative_label):
        return [
            f"{trait.name}: its labels are the general ones, so the texts know no more of it than its name. Say in a"
            " word or two what a text at either pole is, and synthesise again."
        ]
    return [
        f"{trait.name}: the label of one pole only negates ({label}), and words cannot show what is missing. Say what"
        " such a text is instead, and synthesise again."
        for label in (negative, positive)
        if _NEGATION.search(label.strip())
    ]


def _said(trait: TraitPoles) -> tuple[list[str], list[str]]:
    """What the description says of either pole, where it does so in the form `label: this, that.`"""
    sections = {label.strip().casefold(): said for label, said in _SECTION.findall(trait.description)}
    labels = (trait.positive_label, trait.negative_label)
    found = [
        [_sentence("{}.", [part]) for part in _PARTS.split(sections.get(label.casefold(), "").strip(" .;")) if part]
        for label in labels
    ]
    return (found[0], found[1]) if all(found) else ([], [])


def _pole(encode: Encode, label: str, said: Sequence[str]) -> NDArray[np.float64]:
    """(d,): where the label lies, by itself, by its parts and in what one would say of a text."""
    phrases = list(dict.fromkeys([*_phrases(label), *(frame.format(label) for frame in _CARRIERS)]))
    centre: NDArray[np.float64] = encode(phrases).astype(np.float64).mean(axis=0)
    return (centre + encode(said).astype(np.float64).mean(axis=0)) / 2 if said else centre


def _phrases(label: str) -> list[str]:
    return [label, *(part for part in _PARTS.split(label) if part)]


def _lexicons(
    labels: tuple[str, str], axis: NDArray[np.float64], vocabulary: _Vocabulary, count: int
) -> tuple[list[str], list[str]]:
    """The words for either pole, its own first; the more texts, the farther down the list, but as many for both."""
    size = min(_MOST_WORDS, _FEWEST_WORDS + count // 8)
    own = [[part for part in _phrases(label) if " " not in part] or [label] for label in labels]
    order = np.argsort(-(vocabulary.vectors @ axis), kind="stable")
    ranked = [word for word in (vocabulary.words[i] for i in order) if word not in UNSAID]
    ends = (ranked[:size], ranked[::-1][:size])
    found = [list(dict.fromkeys([*mine, *end]))[:size] for mine, end in zip(own, ends, strict=True)]
    length = min(map(len, found))
    return found[0][:length], found[1][:length]


def _pairs(labels: tuple[str, str], lexicons: tuple[list[str], list[str]], count: int) -> Iterator[tuple[str, str]]:
    """Texts for both poles, frame by frame with the same places of the lexicon, more than are asked for."""
    for carrier in _CARRIERS[1:]:
        yield _sentence(carrier, [labels[0]]), _sentence(carrier, [labels[1]])
    size = len(lexicons[0])
    for turn in range(size):
        for number, frame in enumerate(_FRAMES):
            first, apart = 5 * number + 11 * turn, 1 + turn % max(1, size // 2 - 1)
            places = [place % size for place in (first, first + apart, first + apart + size // 2)]
            one, other = (_sentence(frame, [lexicon[place] for place in places]) for lexicon in lexicons)
            yield one, other
        if turn * len(_FRAMES) > _SURPLUS * count:
            return


def _sentence(frame: str, words: Sequence[str]) -> str:
    text = frame.format(*words)
    return text[:1].upper() + text[1:]


def _sound(pairs: Sequence[tuple[str, str]], encode: Encode, axis: NDArray[np.float64]) -> list[tuple[str, str]]:
    """The pairs of which both texts are new and on their side. A pair goes as a whole: no frame may tell the pole."""
    pairs = list(dict.fromkeys(pair for pair in pairs if pair[0] != pair[1]))
    if not pairs:
        return []
    positive, negative = (encode([pair[side] for pair in pairs]) for side in (0, 1))
    right, left = on_side(positive, negative, axis)
    good = np.flatnonzero(right & left)
    new = distinct(positive[good]) & distinct(negative[good])
    return [pairs[i] for i in good[new].tolist()]


def _from_seeds(
    trait: TraitPoles, seeds: dict[int, Seed], count: int, encode: Encode
) -> tuple[list[Exemplar], list[str]]:
    made: list[Exemplar] = []
    notes: list[str] = []
    known = {seed.text for seed in seeds.values()}
    for side, sign in (("positive", 1), ("negative", -1)):
        own = {i: seed for i, seed in seeds.items() if sign * (seed.quality - 0.5) > 0}
        found = _varied(own, count, known, encode)
        known |= {exemplar.text for exemplar in found}
        made += found
        if len(found) < count:
            notes.append(
                f"{trait.name}: {len(found)} variations at the {side} pole, not {count}; {len(own)} texts are there to"
                " be varied, and one without a second sentence, a number or a contraction cannot be."
            )
    return made, notes


def _varied(seeds: dict[int, Seed], count: int, known: Collection[str], encode: Encode) -> list[Exemplar]:
    """Variations in turn, one of each seed, then a second, until there are enough."""
    taken, made = set(known), list[tuple[int, str]]()
    streams = {i: variations(seed.text) for i, seed in sorted(seeds.items())}
    while streams and len(made) < count:
        for i in list(streams):
            text = next((text for text in streams[i] if text not in taken), None)
            if text is None:
                del streams[i]
                continue
            taken.add(text)
            made.append((i, text))
    made = made[:count]
    if not made:
        return []
    places = {i: row for row, i in enumerate(seeds)}
    originals = embed(encode, [seed.text for seed in seeds.values()])
    near = agreeing(
        embed(encode, [text for _, text in made]), [places[i] for i, _ in made], originals, least=_NEAR_SEED
    )
    return [
        Exemplar(seeds[i].trait_key, text, seeds[i].quality, i)
        for (i, text), kept in zip(made, near, strict=True)
        if kept
    ]
