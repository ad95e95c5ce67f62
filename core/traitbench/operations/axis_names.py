"""Names for discovered traits from the language model of the service, if the run may ask it.

It gets the typical texts and phrases of both ends of each axis. Where it gives no name, that of the words stays.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from traitbench.fitting.discover import DiscoveredTrait
from traitbench.operations.rules import permitted
from traitbench.runs.execution import Execution
from traitbench.runs.progress import Timeline
from traitbench.settings import Settings
from traitbench.synthesis.naming import AxisEnds, name_axes

_ASKING = "asking the language model"


def named(
    settings: Settings,
    execution: Execution,
    timeline: Timeline,
    axes: Sequence[DiscoveredTrait],
    texts: Mapping[int, str],
    *,
    sends_nothing: bool,
) -> tuple[Sequence[DiscoveredTrait], list[str]]:
    """The traits with their names, and notes for a person; `texts` are the typical ones at least, by id."""
    wanted = execution.run.options.get("language_model")
    if wanted is None or not axes:
        return axes, []
    asked, _ = permitted(settings, sends_nothing=sends_nothing, wanted=True)
    if asked is None or asked.model != wanted:
        note = f"The language model {wanted} is no longer set, or not allowed. Names are made of words of the texts."
        return axes, [note]

    def report() -> None:
        execution.report(_ASKING, 0, 1, fraction=timeline.fraction, left_s=timeline.left_s)

    report()
    names = name_axes(asked, [_ends(each, texts) for each in axes], meanwhile=report)
    without = names.count(None)
    notes = [f"{len(names) - without} of {len(names)} names are by {asked.model}."]
    if without:
        notes.append("It gave no name that can be used for the others: they have words of the texts.")
    if without == len(names):
        notes = [f"{asked.model} gave no name that can be used. The names are words of the texts."]
    traits = [
        each if name is None else replace(each, **name.model_dump()) for each, name in zip(axes, names, strict=True)
    ]
    return traits, notes


def _ends(trait: DiscoveredTrait, texts: Mapping[int, str]) -> AxisEnds:
    return AxisEnds(
        positive_texts=[texts[each] for each in trait.anchor_positive],
        negative_texts=[texts[each] for each in trait.anchor_negative],
        positive_phrases=trait.phrases_positive,
        negative_phrases=trait.phrases_negative,
    )
