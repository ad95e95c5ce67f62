"""What a model needs next: one sentence and one button, for the header of its pages and for its card.

`facts_of` reads the facts; all that it adds to a page's own reads is cached, or needed only if something waits.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import streamlit as st

from traitbench.analysis.checks import ENOUGH
from traitbench.contract.metrics import Pole
from traitbench.contract.models import Model, OperationKind, State
from traitbench.contract.traits import Trait
from traitbench.display.quality import Evidence, by_trait, evidence_on
from traitbench.display.text import count, plain, shortened
from traitbench.errors import InternalError, TraitbenchError
from traitbench_app.parts.advice import FEW
from traitbench_app.parts.model_actions import copy_model_button, improve_button, left
from traitbench_app.parts.runs import KINDS, progress_now, time_left
from traitbench_app.shell.navigation import PageName, page_link
from traitbench_app.shell.permission import why_nowhere, why_read_only
from traitbench_app.shell.service import active_version, client, namespaces, reader
from traitbench_app.workspace.changes import is_suggestion

_NO_TRAITS = "This model has no traits yet."
_SHARE = 4
_LONGEST_LABEL = 24


@dataclass(frozen=True)
class Sides:
    """A trait that is given by samples: its poles, and how many samples are at each."""

    trait: str
    negative: str
    positive: str
    negatives: int
    positives: int

    @property
    def fewer_pole(self) -> Pole:
        """The pole with fewer samples."""
        return min(self.poles, key=lambda each: each[0])[2]

    @property
    def poles(self) -> tuple[tuple[int, str, Pole], ...]:
        """For each pole its number of samples, its label in Markdown, and which it is."""
        poles: tuple[tuple[int, str, Pole], ...] = (
            (self.negatives, self.negative, "negative"),
            (self.positives, self.positive, "positive"),
        )
        return tuple((samples, plain(shortened(label, _LONGEST_LABEL)), pole) for samples, label, pole in poles)

    @property
    def fewer(self) -> tuple[int, str]:
        """The smaller side: its number of samples and its label in Markdown."""
        samples, label, _ = min(self.poles, key=lambda each: each[0])
        return samples, label

    @property
    def is_lopsided(self) -> bool:
        """Whether one side has so few samples, and so small a share, that more of them would help most."""
        fewer, every = self.fewer[0], self.negatives + self.positives
        return fewer < FEW and _SHARE * fewer < every


@dataclass(frozen=True)
class StepFacts:
    """What decides the next step of a model.

    `traits` are those that are no `suggestions`, `sides` those with samples of their own, and `samples` those of all
    traits. `version` is the active one, such as `v1`; without `is_readable` it is damaged. `failed` is the kind of the
    last run if it failed. A draft of another model has an `origin`, such as `tone v1`, and `differs` if its samples do.
    """

    state: State
    may_change: bool = True
    traits: int = 1
    suggestions: int = 0
    sides: Sequence[Sides] = ()
    samples: int = 0
    version: str = ""
    is_readable: bool = True
    evidence: Evidence | None = None
    takes_labels: bool = True
    run: OperationKind = "train"
    time_left: str = ""
    failed: OperationKind | None = None
    origin: str = ""
    differs: bool = False
    corrections: int = 0
    held: str = ""
    archived: str = ""


@dataclass(frozen=True)
class NextStep:
    """A sentence in Markdown, and the button for it, if any: its label, the page and query that it opens, its key.

    It is `primary` only if nothing speaks against it.
    """

    sentence: str
    label: str = ""
    page: PageName | None = None
    query: Mapping[str, str] = field(default_factory=dict)
    key: str | None = None
    primary: bool = False


def next_step(facts: StepFacts) -> NextStep:
    """Return what the model needs next: the first step that fits."""
    if facts.state == "archived":
        return NextStep(facts.archived)
    if facts.state == "busy":
        left = f": {facts.time_left}" if facts.time_left else ""
        return NextStep(f"{KINDS[facts.run]}{left}.", "Watch", "train")
    if facts.state == "failed":
        return NextStep("The first training failed.", "See why", "train")
    steps = (_steps_of_version if facts.version else _steps_of_draft)(facts)
    return next(step for step in steps if step is not None)


def _steps_of_draft(facts: StepFacts) -> Iterator[NextStep | None]:
    if not facts.may_change:
        yield NextStep("This model is not trained yet." if facts.traits else _NO_TRAITS)
    if not facts.samples and facts.suggestions:
        yield NextStep(f"{count(facts.suggestions, 'suggested trait')}.", "Decide", "traits", primary=True)
    if not facts.traits:
        yield NextStep(_NO_TRAITS, "Add traits", "traits", primary=True)
    if not facts.samples:
        yield NextStep(f"Add about {ENOUGH} texts for each side.", "Add samples", "samples", primary=True)
    yield _too_few(facts)
    if facts.origin:
        yield _lopsided(facts)
        if facts.differs:
            yield NextStep(f"Differs from {facts.origin}.", "Train and compare", "train", key="T", primary=True)
        yield NextStep(f"As many samples as {facts.origin}.", "Change its samples", "samples")
    one = facts.sides[0] if len(facts.sides) == facts.traits == 1 else None
    samples = f"{one.negatives:,} + {one.positives:,} samples" if one else count(facts.samples, "sample")
    yield NextStep(f"{samples}.", "Train", "train", key="T", primary=True)


def _steps_of_version(facts: StepFacts) -> Iterator[NextStep | None]:
    if not facts.is_readable:
        yield NextStep(f"{facts.version} cannot be read.", "View versions", "versions")
    if facts.may_change:
        if facts.failed in ("train", "retune", "retrain"):
            yield NextStep(f"{KINDS[facts.failed]} failed.", "See why", "train")
        if facts.held:
            yield NextStep(f"{facts.held} is on hold.", "Decide", "samples", primary=True)
        if facts.takes_labels:
            yield _lopsided(facts)
        if facts.origin:
            yield NextStep(f"Is it better than {facts.origin}?", "Compare", "train", primary=True)
        if facts.corrections:
            verb = "waits" if facts.corrections == 1 else "wait"
            yield NextStep(f"{count(facts.corrections, 'correction')} {verb}.", "Learn them", "samples", primary=True)
    evidence = facts.evidence
    if evidence is None:
        yield NextStep("How often it is right is not known.", "See why", "train")
    elif evidence.is_guessed:
        said = f"{evidence.title}."
        labels = facts.may_change and facts.takes_labels
        yield NextStep(said, "Label more texts", "label") if labels else NextStep(said, "See why", "train")
    elif evidence.is_shared and facts.may_change:
        yield NextStep(f"Trained: {evidence.in_short}.", "See what it is", "samples", {"task": "Check"})
    else:
        few = "" if evidence.is_shared else evidence.few
        proven = not (evidence.doubt or evidence.is_shared)
        yield NextStep(f"Trained: {evidence.in_short}{few}.", "Score a file", "batch", key="F", primary=proven)


def _too_few(facts: StepFacts) -> NextStep | None:
    """The side with the fewest samples, if they are not enough to ask_for_model."""
    sides = min(facts.sides, key=lambda each: each.fewer[0], default=None)
    if sides is None or sides.fewer[0] >= ENOUGH:
        return None
    fewer, label = sides.fewer[0], as_word(sides.fewer[1])
    number = f"{fewer} of about {ENOUGH} {label} texts" if fewer else f"No {label} texts yet"
    query = {"task": "Add by hand", "trait": sides.trait, "pole": sides.fewer_pole}
    return NextStep(f"{_of_trait(facts, sides)}{number}.", f"Add {label} texts", "samples", query, primary=True)


def _lopsided(facts: StepFacts) -> NextStep | None:
    """The trait with the smallest share at one side, if it is too small."""
    lopsided = [each for each in facts.sides if each.is_lopsided]
    if not lopsided:
        return None
    sides = min(lopsided, key=lambda each: each.fewer[0] / (each.negatives + each.positives))
    fewer, label = sides.fewer[0], as_word(sides.fewer[1])
    sentence = f"{_of_trait(facts, sides)}Few {label} texts ({fewer} of {sides.negatives + sides.positives:,})."
    query = {"trait": sides.trait} if len(facts.sides) > 1 else {}
    return NextStep(sentence, f"Label more {label} texts", "label", query, key="L", primary=True)


def as_word(label: str) -> str:
    """A pole before `texts`: one of several words is quoted, so that `can wait texts` is not read as a sentence."""
    return f"“{label}”" if " " in label else label


def _of_trait(facts: StepFacts, sides: Sides) -> str:
    return f"{plain(shortened(sides.trait, _LONGEST_LABEL))}: " if facts.traits > 1 else ""


# ---- the facts -------------------------------------------------------------------------------------------------------


def facts_of(model: Model, traits: Sequence[Trait], *, is_followed: bool = False) -> StepFacts:
    """Read the facts of a model with these traits; the time left only if the caller draws it again every second."""
    version, last, may_change = None, model.last_operation, not why_read_only(model)
    suggestions = sum(map(is_suggestion, traits)) if model.state in ("draft", "failed") else 0
    # A damaged version does not close the pages of its model; the step then says that it cannot be read.
    with suppress(InternalError):
        version = active_version(model)
    origin, differs = _origin(model, traits) if may_change else ("", False)
    return StepFacts(
        state=model.state,
        may_change=may_change,
        traits=(len(traits) or len(model.traits)) - suggestions,
        suggestions=suggestions,
        sides=[sides_of(each) for each in traits if each.kind == "extrinsic"],
        samples=sum(each.sample_count for each in traits),
        version="" if model.version_no is None else f"v{model.version_no}",
        is_readable=version is not None,
        evidence=None if version is None else evidence_on(by_trait(version.metrics)),
        takes_labels=not model.zero_data_retention,
        run=last.kind if last else "train",
        time_left=time_left(progress_now(model)) if is_followed else "",
        failed=last.kind if last and last.status == "failed" else None,
        origin=origin,
        differs=differs,
        corrections=model.retrain.pending if may_change and model.state == "ready" else 0,
        held="" if model.held_version_no is None else f"v{model.held_version_no}",
        archived=left(model) if model.state == "archived" else "",
    )


def sides_of(trait: Trait) -> Sides:
    """Return the poles of a trait and how many samples are at each."""
    labels, samples = (trait.negative_label, trait.positive_label), (trait.negative_samples, trait.positive_samples)
    return Sides(trait.name, *labels, *samples)


def _origin(model: Model, traits: Sequence[Trait]) -> tuple[str, bool]:
    """The version that a draft was made from, and whether the draft has other samples or words; empty if none."""
    if model.forked_from is None or model.forked_from.version_no is None:
        return "", False
    handle, number = model.forked_from.handle, model.forked_from.version_no
    try:
        # The origin may be gone, or not be readable with this key.
        learned = _learned(reader(), handle, number)
    except TraitbenchError:
        return "", False
    now = {each.key: (each.positive_samples, each.negative_samples) for each in traits}
    differs = bool(learned) and (now != learned or _is_renamed(handle, traits))
    return f"{plain(handle.partition('.')[2])} v{number}", differs


def _is_renamed(origin: str, traits: Sequence[Trait]) -> bool:
    """Whether a trait has other words than in the model that the draft was made from, which training reads."""

    def words(each: Trait) -> tuple[str, str, str]:
        return each.negative_label, each.positive_label, each.description

    try:
        before = {each.key: words(each) for each in client().traits.list(origin)}
    except TraitbenchError:
        return False
    return any(before.get(each.key, words(each)) != words(each) for each in traits)


@st.cache_data(max_entries=500, show_spinner=False)
def _learned(reader: tuple[str, str], handle: str, version_no: int) -> dict[str, tuple[int, int]]:
    """How many samples at each pole of each trait a version learned from; empty if it is gone."""
    version = next((each for each in client().versions.list(handle) if each.version_no == version_no), None)
    figures = version.metrics.traits if version else {}
    return {key: (each.counts.get("positive", 0), each.counts.get("negative", 0)) for key, each in figures.items()}


# ---- what training needs ---------------------------------------------------------------------------------------------


def missing(traits: Sequence[Trait]) -> list[str]:
    """What prevents training, one sentence per trait, in Markdown."""
    if traits and not any(trait.sample_count for trait in traits) and all(each.kind == "intrinsic" for each in traits):
        return [
            "The model has no samples. A discovered trait takes its scale from them: make a suggestion your own on"
            " Traits, or label some texts."
        ]
    return [f"{plain(trait.name)} {needs}." for trait in traits if (needs := needed(trait))]


def needed(trait: Trait) -> str:
    """What a trait needs before training, in Markdown; empty if nothing is missing or the trait is discovered."""
    if trait.kind == "intrinsic":
        return ""
    poles = ((trait.positive_samples, trait.positive_label), (trait.negative_samples, trait.negative_label))
    empty = [f"*{plain(pole)}*" for samples, pole in poles if not samples]
    return f"needs at least one sample that is {' and one that is '.join(empty)}" if empty else ""


# ---- what cannot be done now ----------------------------------------------------------------------------------------


def editable(model: Model, what: str) -> bool:
    """Whether `what` ("traits" or "samples") can be edited; if not, draw the reason and what to do instead."""
    forbidden = why_read_only(model)
    if not forbidden and model.state in ("draft", "failed"):
        return True
    with st.container(border=True, key=f"{what}.frozen"):
        st.markdown(f":material/lock: {f'**Read only.** {forbidden}' if forbidden else _why_frozen(model, what)}")
        with st.container(horizontal=True, vertical_alignment="center"):
            if forbidden and not why_nowhere(namespaces()):
                page_link("catalog", "Create your own model")
            elif not forbidden and model.state in ("ready", "archived"):
                improve_button(model, key=f"{what}.improve")
                copy_model_button(model, key=f"{what}.copy")
    return False


def _why_frozen(model: Model, what: str) -> str:
    if model.state == "busy" and model.version_no is None:
        derived = model.last_operation is not None and model.last_operation.kind in ("discover", "synthesize")
        then = "can be edited again when the run is done" if derived else "are frozen once the model is trained"
        return f"**Read only for now.** The {what} {then}."
    if model.state == "archived":
        return "**Read only.** This model was archived."
    frozen = f"**Read only.** The {what} are frozen in v{model.version_no}."
    if model.state == "ready" and model.forked_from is not None:
        origin = plain(model.forked_from.handle)
        return f"{frozen} Put it in use in {origin} if it is better; for other {what}, improve this draft."
    return frozen if model.state == "busy" else f"{frozen} To change them, make a draft of this model."


def can_rehearse(traits: Sequence[Trait]) -> bool:
    """Whether some trait has a sample at each pole, so that the draft can score."""
    return any(trait.positive_samples and trait.negative_samples for trait in traits)


def draw_untrained(model: Model, traits: Sequence[Trait]) -> None:
    """Say what the scores below are, or why there are none."""
    if not can_rehearse(traits):
        st.markdown("To preview scores, add a sample at each pole of a trait.")
        return
    samples, error = sum(trait.sample_count for trait in traits), model.last_operation and model.last_operation.error
    failed = f"**The training failed.** {plain(error.message)} " if error and model.state == "failed" else ""
    st.markdown(
        f"{failed}**Preview from {count(samples, 'sample')}.** This is how the draft would score after training. "
        "Nothing is stored."
    )
