"""Synthesis by a language model: what it would be asked, and what passes the exam.

If it fails, what came before is kept, and the traits that got nothing at a pole are left to the offline generator; the
outcome of the run says so.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from traitbench.contract.samples import TEXTS_PER_POLE
from traitbench.scoring.segments import Encode
from traitbench.synthesis import Exemplar, Reject, Seed, TraitPoles
from traitbench.synthesis.asking import Asker
from traitbench.synthesis.entrance import Admission, Present, admit_new, admit_varied
from traitbench.synthesis.language_model import Endpoint
from traitbench.synthesis.written import Request, new_texts, varied_texts, write

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
class ByModel:
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
) -> ByModel:
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
            failure = f"No text by {model.model} passed the exam at a pole of {names}. Texts were made offline."
        return ByModel(made, failure, rejects, asker.tokens, frozenset(left), invalid)


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
    kept = f" {made} of its texts are kept." if made else ""
    offline = f" The texts for {', '.join(left)} were made offline." if left else ""
    return f"The language model {model.model} {failure}.{kept}{offline}"
