"""Synthesize labelled texts without a language model, from the words for the poles or from existing texts.

From traits: see `words`. From seeds: see `variations`.
"""

from collections.abc import Callable, Collection, Sequence

from traitbench.generators import SYNTH_TYPES, TEXTS_PER_POLE, CannotSynthesize, Exemplar, Seed, Synthesis, TraitPoles
from traitbench.generators.filters import agreeing
from traitbench.generators.variations import variations
from traitbench.generators.words import doubts, write
from traitbench.scoring.inputs import Vocabulary
from traitbench.scoring.segments import Encode, Vectors, embed

_NEAR_SEED = 0.7


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
    on_progress: Callable[[int, int], None] = ignore,
) -> Synthesis:
    """Texts for every trait; `words` and `word_vectors` (n_words, d) are the encoder's vocabulary.

    A trait gets no text twice and no copy of a seed. Raise `CannotSynthesize` if no text could be made.
    """
    if synth_type not in SYNTH_TYPES:
        raise ValueError(f"Unknown type of synthesis {synth_type!r}. Use one of: {', '.join(SYNTH_TYPES)}.")
    count, made, notes = TEXTS_PER_POLE[effort], list[Exemplar](), list[str]()
    vocabulary = Vocabulary(tuple(words), word_vectors)
    for done, trait in enumerate(traits):
        on_progress(done, len(traits))
        own = {i: seed for i, seed in enumerate(seeds) if seed.trait_key == trait.key}
        if synth_type == "diversify":
            exemplars, trait_notes = _from_seeds(trait, own, count, encode)
        else:
            exemplars, trait_notes = _from_words(
                trait, frozenset(seed.text for seed in own.values()), count, encode, vocabulary
            )
        made += exemplars
        notes += trait_notes
    on_progress(len(traits), len(traits))
    if not made:
        raise CannotSynthesize(" ".join(notes) or "The model has no trait to write texts for. Add one.")
    return Synthesis(tuple(made), tuple(notes))


def _from_words(
    trait: TraitPoles, known: frozenset[str], count: int, encode: Encode, vocabulary: Vocabulary
) -> tuple[list[Exemplar], list[str]]:
    notes, pairs = doubts(trait), write(trait, count, encode=encode, vocabulary=vocabulary, known=known).pairs
    if len(pairs) < count:
        notes.append(f"{trait.name}: {len(pairs)} texts per pole, not {count}. Its words yield no more distinct texts.")
    poles = ((1.0, [pair[0] for pair in pairs]), (0.0, [pair[1] for pair in pairs]))
    return [Exemplar(trait.key, text, quality, None) for quality, texts in poles for text in texts], notes


def _from_seeds(
    trait: TraitPoles, seeds: dict[int, Seed], count: int, encode: Encode
) -> tuple[list[Exemplar], list[str]]:
    made: list[Exemplar] = []
    notes: list[str] = []
    known = {seed.text for seed in seeds.values()}
    for side, sign in (("positive", 1), ("negative", -1)):
        own = {i: seed for i, seed in seeds.items() if sign * (seed.quality - 0.5) > 0}
        exemplars = _varied(own, count, known, encode)
        known |= {exemplar.text for exemplar in exemplars}
        made += exemplars
        if len(exemplars) < count:
            notes.append(
                f"{trait.name}: {len(exemplars)} variations at the {side} pole, not {count}. Texts to vary: {len(own)}."
                " A text needs a second sentence, a number or a contraction to be varied."
            )
    return made, notes


def _varied(seeds: dict[int, Seed], count: int, known: Collection[str], encode: Encode) -> list[Exemplar]:
    """Variations, one of each seed, then a second one of each, until there are enough."""
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
    row_of = {i: row for row, i in enumerate(seeds)}
    originals = embed(encode, [seed.text for seed in seeds.values()])
    near = agreeing(
        embed(encode, [text for _, text in made]), [row_of[i] for i, _ in made], originals, least=_NEAR_SEED
    )
    return [
        Exemplar(seeds[i].trait_key, text, seeds[i].quality, i)
        for (i, text), kept in zip(made, near, strict=True)
        if kept
    ]
