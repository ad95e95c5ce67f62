"""Synthesize labelled texts without a language model, from the words for the poles or from existing texts.

From traits: see `words`. From seeds: see `variations`.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from traitbench.contract.samples import TEXTS_PER_POLE
from traitbench.scoring.inputs import Vocabulary
from traitbench.scoring.segments import Encode, Vectors
from traitbench.synthesis import (
    SYNTH_TYPES,
    CannotSynthesize,
    Exemplar,
    Reject,
    Seed,
    Synthesis,
    TraitPoles,
)
from traitbench.synthesis.quality_filter import Admission, Present, admit_new, admit_varied
from traitbench.synthesis.sentences import doubts, write
from traitbench.synthesis.variations import diverse, variations

_PER_SEED = 8
_SURPLUS = (1, 2, 4)  # how many times as many texts are written until enough pass the quality filter
_NOTHING: Mapping[str, Sequence[str]] = MappingProxyType({})


def ignore(done: int, total: int) -> None:
    """Ignores progress."""


def synthesize(
    traits: Sequence[TraitPoles],
    *,
    synth_type: str,
    effort: str,
    encode: Encode,
    words: Sequence[str],
    word_vectors: Vectors,
    seeds: Sequence[Seed] = (),
    known: Mapping[str, Sequence[str]] = _NOTHING,
    on_progress: Callable[[int, int], None] = ignore,
) -> Synthesis:
    """Texts for every trait; `words` and `word_vectors` (n_words, d) are the encoder's vocabulary.

    `known` are texts that the trait has besides the seeds, by its key. A trait gets no text twice, and none that is
    near one that it has (`traitbench.synthesis.quality_filter`). Raise `CannotSynthesize` if no text could be made.
    """
    if synth_type not in SYNTH_TYPES:
        raise ValueError(f"Unknown type of synthesis {synth_type!r}. Use one of: {', '.join(SYNTH_TYPES)}.")
    count, made, notes = TEXTS_PER_POLE[effort], list[Exemplar](), list[str]()
    rejects = list[Reject]()
    vocabulary = Vocabulary(tuple(words), word_vectors)
    for done, trait in enumerate(traits):
        on_progress(done, len(traits))
        own = {i: seed for i, seed in enumerate(seeds) if seed.trait_key == trait.key}
        texts = [*known.get(trait.key, ()), *(seed.text for seed in own.values())]
        present = Present.of([*dict.fromkeys(texts)], encode)
        if synth_type == "diversify":
            admitted, trait_notes = _from_seeds(trait, own, present, count, encode)
        else:
            admitted, trait_notes = _from_words(trait, present, count, encode, vocabulary)
        made += admitted.accepted
        rejects += admitted.rejects
        notes += trait_notes
    on_progress(len(traits), len(traits))
    if not made:
        raise CannotSynthesize(" ".join(notes) or "The model has no trait to write texts for. Add one.")
    return Synthesis(tuple(made), tuple(notes), tuple(rejects))


def _from_words(
    trait: TraitPoles, present: Present, count: int, encode: Encode, vocabulary: Vocabulary
) -> tuple[Admission, list[str]]:
    notes, admitted = doubts(trait), Admission([], [])
    for surplus in _SURPLUS:
        admitted = _written(trait, present, surplus * count, encode, vocabulary)
        if len(admitted.accepted) >= 2 * count:
            break
    pairs = min(count, len(admitted.accepted) // 2)
    if pairs < count:
        notes.append(f"{trait.name}: {pairs} texts per pole, not {count}. Its words yield no more distinct texts.")
    accepted = [each for quality in (1.0, 0.0) for each in _at(admitted.accepted, quality)[:pairs]]
    return Admission(accepted, admitted.rejects), notes


def _written(trait: TraitPoles, present: Present, count: int, encode: Encode, vocabulary: Vocabulary) -> Admission:
    """Up to `count` pairs of texts from the words of a trait, after the quality filter; positive ones first."""
    written = write(trait, count, encode=encode, vocabulary=vocabulary, known=present.texts)
    pairs = written.pairs
    poles = ((1.0, [pair[0] for pair in pairs]), (0.0, [pair[1] for pair in pairs]))
    made = [Exemplar(trait.key, text, quality, None) for quality, texts in poles for text in texts]
    before = [
        Reject(Exemplar(trait.key, text, quality, None), reason)
        for pair, reason in written.rejected
        for text, quality in zip(pair, (1.0, 0.0), strict=True)
    ]
    admitted = admit_new(made, present, encode=encode, axis=written.axis, pairs=[*range(len(pairs))] * 2)
    return Admission(admitted.accepted, [*before, *admitted.rejects])


def _at(exemplars: Sequence[Exemplar], quality: float) -> list[Exemplar]:
    return [each for each in exemplars if each.quality == quality]


def _from_seeds(
    trait: TraitPoles, seeds: dict[int, Seed], present: Present, count: int, encode: Encode
) -> tuple[Admission, list[str]]:
    poles = [{i: seed for i, seed in seeds.items() if sign * (seed.quality - 0.5) > 0} for sign in (1, -1)]
    made = [exemplar for own in poles for exemplar in _varied(own, count)]
    texts = [seeds[each.seed_index].text for each in made if each.seed_index is not None]
    admitted = admit_varied(made, texts, present, encode=encode, poles=[each.quality for each in made])
    accepted, notes = list[Exemplar](), list[str]()
    for side, own in zip(("positive", "negative"), poles, strict=True):
        some = [each for each in admitted.accepted if each.seed_index in own][:count]
        accepted += some
        if len(some) < count:
            notes.append(
                f"{trait.name}: {len(some)} variations at the {side} pole, not {count}. Texts to vary: {len(own)}. A"
                " text needs a second sentence or clause to be varied."
            )
    return Admission(accepted, admitted.rejects), notes


def _varied(seeds: dict[int, Seed], count: int) -> list[Exemplar]:
    """Variations, one of each seed, then a second one of each, up to twice as many as are needed."""
    most = min(_PER_SEED, max(1, math.ceil(2 * count / max(1, len(seeds)))))
    streams = [(i, diverse(seed.text, [*variations(seed.text)], most)) for i, seed in sorted(seeds.items())]
    alternating = [
        Exemplar(seeds[i].trait_key, stream[at], seeds[i].quality, i)
        for at in range(_PER_SEED)
        for i, stream in streams
        if at < len(stream)
    ]
    return alternating[: 2 * count]


# Measured on samples of the demo models, 36 texts of a trait at a time: a median of 6 % is on the wrong side, and 31 %
# with swapped poles. The sentence came for 36 of 45 draws with swapped poles, and for 2 of 45 others.
_SHARE, _FEWEST = 0.2, 5


def swapped(rejects: Sequence[Reject], accepted: Sequence[Exemplar], names: Mapping[str, str]) -> list[str]:
    """Return a sentence for each trait of which a generator made many texts on the wrong side; `names` are by key."""
    wrong = Counter(
        (each.exemplar.trait_key, each.exemplar.generator) for each in rejects if each.reason == "wrong_side"
    )
    judged = wrong + Counter((each.trait_key, each.generator) for each in accepted)
    return [
        f"{names[key]}: {number} of {judged[key, generator]} made texts were on the wrong side. Check whether its poles"
        " are swapped."
        for (key, generator), number in sorted(wrong.items())
        if number >= max(_FEWEST, _SHARE * judged[key, generator])
    ]
