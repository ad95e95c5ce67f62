"""The model that a file makes: its traits and samples, made through the client, the same by page and command."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Unpack

from traitbench.client import Traitbench
from traitbench.client.wire import CreateFields
from traitbench.contract.models import Model
from traitbench.contract.samples import SampleInput
from traitbench.contract.traits import TraitInput
from traitbench.display.text import count
from traitbench.names import slug
from traitbench.tables.columns import FileReading
from traitbench.tables.labelled import FileSamples, TraitFound

Aside = Callable[[Sequence[SampleInput]], Collection[int]]
"""Chooses the samples that are set aside for testing, by their positions."""


@dataclass(frozen=True)
class FileModel:
    """The model that a file makes. The trait of a sample is its position among the traits.

    `source` is the name of the file, `example` a text to score first, `said` what became of the rows.
    """

    handle: str
    traits: tuple[TraitInput, ...]
    samples: tuple[SampleInput, ...]
    source: str
    example: str
    said: str


def model_of(
    reading: FileReading,
    traits: Sequence[TraitFound],
    read: FileSamples,
    samples: Sequence[SampleInput],
    *,
    handle: str,
    source: str,
) -> FileModel:
    """Return the model that the traits and samples of a file make; `samples` are those of `read`, with test marks."""
    # A text that the model will not have learned, if there is one.
    unseen = (*reading.unlabelled(traits)[:1], *(each.text for each in samples if each.held_out), samples[0].text)
    rows = count(reading.rows, "row")
    said = f"{len({*read.lines}):,} of {rows} in {source} became samples."
    return FileModel(handle, inputs_of(traits), tuple(samples), source, unseen[0], said)


def with_tests(reading: FileReading, samples: Sequence[SampleInput], aside: Aside) -> tuple[SampleInput, ...]:
    """Return the samples with those marked that `aside` chooses, unless a column of the file marks test samples."""
    chosen = () if reading.test is not None or not samples else aside(samples)
    return tuple(
        each.model_copy(update={"held_out": True}) if position in chosen else each
        for position, each in enumerate(samples)
    )


def inputs_of(traits: Sequence[TraitFound]) -> tuple[TraitInput, ...]:
    """Return traits for the service. A key is given where the names give none, or the same for several traits."""
    slugs = [slug(each.name) for each in traits]
    return tuple(
        TraitInput(
            name=each.name,
            key=None if own and slugs.count(own) == 1 else f"trait-{number}",
            positive_label=each.positive,
            negative_label=each.negative,
        )
        for number, (each, own) in enumerate(zip(traits, slugs, strict=True), start=1)
    )


def names_wrong(traits: Sequence[TraitFound]) -> list[str]:
    """Return what is wrong with the names of each trait; an empty text where nothing is."""
    folded = [each.name.casefold() for each in traits]
    return [
        "Give the trait a name, and name both sides."
        if not (each.name and each.negative and each.positive)
        else "Two traits have this name. Use two different ones."
        if folded.count(each.name.casefold()) > 1
        else "Both sides have the same name. Use two different ones."
        if each.negative.casefold() == each.positive.casefold()
        else ""
        for each in traits
    ]


def missing_side(traits: Sequence[TraitFound], samples: Sequence[SampleInput]) -> str:
    """Return which trait has a side without texts to train with; empty if none."""
    for number, trait in enumerate(traits):
        own = [each.quality for each in samples if each.trait == str(number) and not each.held_out]
        for side, there in ((trait.negative, any(q < 0.5 for q in own)), (trait.positive, any(q > 0.5 for q in own))):
            if not there:
                return f"{trait.name} has no text that is {side}."
    return ""


def create(client: Traitbench, plan: FileModel, **fields: Unpack[CreateFields]) -> Model:
    """Create the model as an empty draft, with these fields."""
    fields.setdefault("description", f"Made from the file {plan.source}.")
    return client.models.create(plan.handle, **fields)


def fill(client: Traitbench, plan: FileModel) -> None:
    """Bring the draft to what the plan says. What is there already is not added again."""
    keys = [each.key for each in client.traits.add(plan.handle, plan.traits)]
    there = {(each.trait, each.text) for each in client.samples.list(plan.handle)}
    samples = [each.model_copy(update={"trait": keys[int(each.trait)]}) for each in plan.samples]
    if missing := [each for each in samples if (each.trait, each.text) not in there]:
        client.samples.add(plan.handle, missing)
