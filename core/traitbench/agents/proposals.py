"""What samples that an agent proposes would change, and the command with which a person adds them."""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from traitbench.agents.arguments import Proposal
from traitbench.contract.samples import text_hash

Outcome = Literal["new", "already_there", "other_quality", "repeated", "unknown_trait", "blank"]

_END = "SAMPLES"


@dataclass(frozen=True)
class Proposed:
    """A sample and what would become of it; only a new one would be added."""

    index: int
    outcome: Outcome
    sample: Proposal


def judged(
    samples: Sequence[Proposal], traits: Mapping[str, str], stored: Mapping[tuple[str, str], float]
) -> list[Proposed]:
    """Return the outcome of each sample.

    `traits` has the key for each key and name. `stored` has the quality for each trait and hash of a text.
    """
    result, seen = list[Proposed](), set[tuple[str, str]]()
    for index, sample in enumerate(samples):
        place = (traits.get(sample.trait, ""), text_hash(sample.text.encode("utf-8", "replace").decode()))
        known = sample.model_copy(update={"trait": place[0] or sample.trait})
        result.append(Proposed(index, _outcome(sample, place, stored, seen), known))
        seen.add(place)
    return result


def counts(proposed: Iterable[Proposed]) -> dict[str, dict[str, int]]:
    """Return how many samples would be added for each trait at each pole; a quality of 0.5 is at neither."""
    new = [each.sample for each in proposed if each.outcome == "new"]
    at_pole = Counter((sample.trait, sample.quality > 0.5) for sample in new if sample.quality != 0.5)
    keys = sorted({sample.trait for sample in new})
    return {key: {"positive": at_pole[key, True], "negative": at_pole[key, False]} for key in keys}


def command(handle: str, proposed: Iterable[Proposed]) -> str:
    """Return the shell command that adds the new samples, safe to paste whatever the texts are.

    The shell expands nothing in a document whose end is quoted. Each line begins with a brace, so none is that end.
    """
    lines = [_line(each.sample) for each in proposed if each.outcome == "new"]
    return "\n".join((f"traitbench samples import {handle} - <<'{_END}'", *lines, _END))


def _outcome(
    sample: Proposal, place: tuple[str, str], stored: Mapping[tuple[str, str], float], seen: set[tuple[str, str]]
) -> Outcome:
    if not place[0]:
        return "unknown_trait"
    if not sample.text.strip():
        return "blank"
    if place in seen:
        return "repeated"
    if place not in stored:
        return "new"
    return "already_there" if stored[place] == sample.quality else "other_quality"


def _line(sample: Proposal) -> str:
    fields: dict[str, Any] = {"trait": sample.trait, "quality": sample.quality, "text": sample.text}
    return re.sub(r"[^ -~]", _escaped, json.dumps(fields, ensure_ascii=False))


def _escaped(match: re.Match[str]) -> str:
    """Escape characters that a person does not see, such as line separators and those that reverse text."""
    character = match[0]
    seen = unicodedata.category(character)[0] not in "CZ"
    return character if seen else json.dumps(character)[1:-1]
