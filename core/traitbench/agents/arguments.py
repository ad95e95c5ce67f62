"""The arguments of the tools, described for a language model, and what samples that an agent proposes would change."""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from traitbench.as_read import is_blank, read_hash
from traitbench.contract.comparisons import PINNED
from traitbench.contract.fields import WithoutNul
from traitbench.contract.samples import LONGEST_TEXT
from traitbench.contract.texts import is_url
from traitbench.names import HANDLE

MOST_TEXTS = 200
MOST_MODELS = 50
MOST_PROPOSED = 50

Handle = Annotated[str, Field(pattern=f"^{HANDLE.pattern}$", description="The model, such as acme.tone.")]
PinnedHandle = Annotated[
    str, Field(pattern=PINNED, description="The model, such as acme.tone, or one version of it, such as acme.tone@v3.")
]
Traits = Annotated[
    list[str] | None, Field(min_length=1, description="Keys of the traits to look at. Leave it out for all traits.")
]


def _no_address(text: str) -> str:
    if is_url(text):
        raise ValueError("this is an address; the tool does not fetch pages, so send the text itself")
    return text


PlainText = Annotated[
    str, AfterValidator(_no_address), Field(description="The text itself, not the address of a page.")
]
Texts = Annotated[
    list[Annotated[str, AfterValidator(_no_address)]],
    Field(min_length=1, max_length=MOST_TEXTS, description=f"Up to {MOST_TEXTS} texts, not addresses of pages."),
]


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ListModels(_Arguments):
    """Arguments of `list_models`."""

    namespace: Annotated[
        str | None,
        Field(description="A namespace that the key owns. Leave it out for all models of the key and the public ones."),
    ] = None
    words: Annotated[
        str | None,
        Field(min_length=1, description="Only models with all of these words in handle, traits or description."),
    ] = None


class ModelStatus(_Arguments):
    """Arguments of `model_status`."""

    handle: Handle


class ScoreTexts(_Arguments):
    """Arguments of `score_texts`."""

    handle: PinnedHandle
    texts: Texts
    traits: Traits = None


class Explain(_Arguments):
    """Arguments of `explain`."""

    handle: PinnedHandle
    text: PlainText
    traits: Traits = None


class CompareTexts(_Arguments):
    """Arguments of `compare_texts`."""

    handle: PinnedHandle
    a: Annotated[PlainText, Field(description="The first text, such as the original.")]
    b: Annotated[PlainText, Field(description="The second text, such as the revision.")]
    traits: Traits = None


class CompareVersions(_Arguments):
    """Arguments of `compare_versions`."""

    a: Annotated[str, Field(pattern=PINNED, description="The first version, such as acme.tone@v3.")]
    b: Annotated[str, Field(pattern=PINNED, description="The second version; a handle alone is the active version.")]
    texts: Annotated[Texts | None, Field(description="Texts to score with both versions, if any.")] = None
    traits: Traits = None


class Proposal(_Arguments):
    """One sample that an agent proposes."""

    trait: Annotated[str, Field(max_length=200, description="The key of the trait, from model_status."), WithoutNul]
    text: Annotated[
        str, Field(min_length=1, max_length=LONGEST_TEXT, description="The text of the sample."), WithoutNul
    ]
    quality: Annotated[
        float, Field(ge=0, le=1, description="1 is the positive pole of the trait, 0 the negative pole.")
    ]


class ProposeSamples(_Arguments):
    """Arguments of `propose_samples`."""

    handle: Handle
    samples: Annotated[list[Proposal], Field(min_length=1, max_length=MOST_PROPOSED)]


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

    `traits` has the key for each key and name. `stored` has the quality for each trait and `read_hash` of a text.
    """
    result, seen = list[Proposed](), set[tuple[str, str]]()
    for index, sample in enumerate(samples):
        pair = (traits.get(sample.trait, ""), read_hash(sample.text))
        known = sample.model_copy(update={"trait": pair[0] or sample.trait})
        result.append(Proposed(index, _outcome(sample, pair, stored, seen), known))
        seen.add(pair)
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
    # A quoted document and not arguments: a text in it can neither end the command nor start another one.
    lines = [_line(each.sample) for each in proposed if each.outcome == "new"]
    return "\n".join((f"traitbench samples import {handle} - <<'{_END}'", *lines, _END))


def _outcome(
    sample: Proposal, pair: tuple[str, str], stored: Mapping[tuple[str, str], float], seen: set[tuple[str, str]]
) -> Outcome:
    if not pair[0]:
        return "unknown_trait"
    if is_blank(sample.text):
        return "blank"
    if pair in seen:
        return "repeated"
    if pair not in stored:
        return "new"
    return "already_there" if stored[pair] == sample.quality else "other_quality"


def _line(sample: Proposal) -> str:
    fields: dict[str, Any] = {"trait": sample.trait, "quality": sample.quality, "text": sample.text}
    return re.sub(r"[^ -~]", _escaped, json.dumps(fields, ensure_ascii=False))


def _escaped(match: re.Match[str]) -> str:
    """Escape characters that a person does not see, such as line separators and those that reverse text."""
    character = match[0]
    seen = unicodedata.category(character)[0] not in "CZ"
    return character if seen else json.dumps(character)[1:-1]
