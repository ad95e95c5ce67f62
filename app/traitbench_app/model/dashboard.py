"""The dashboard of a model: how often it is right as the title, then one picture for each question about it."""

from collections.abc import Sequence
from datetime import UTC

import streamlit as st

from traitbench.analysis.checks import ENOUGH
from traitbench.contract.models import Model, OperationKind
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.display.quality import Evidence, by_trait, evidence_on
from traitbench.display.text import plain
from traitbench_app.model.cards import draw_learned, draw_texts, draw_waiting, read
from traitbench_app.parts.controls import cannot_be_read, draw_title, draw_unreadable, question
from traitbench_app.parts.course import MOST, draw_course
from traitbench_app.parts.model_actions import left
from traitbench_app.parts.strips import draw_more, draw_strips, first_few, how_to_read, weakest_first
from traitbench_app.parts.version_figures import label
from traitbench_app.shell.navigation import page_link
from traitbench_app.shell.permission import why_read_only
from traitbench_app.shell.service import active_version, client

_RUNNING: dict[OperationKind, str] = {
    "train": "Learning from its samples",
    "discover": "Looking for traits",
    "synthesize": "Writing samples",
}
_STRIPS = "model.traits"
_CARDS = 480  # pixels, about the height of the cards that need the samples


def dashboard(model: Model) -> None:
    """Draw the verdict and the cards; the header line of the page has the next step."""
    traits = client().traits.list(model.handle)
    version = active_version(model)
    newest = [] if model.version_no is None else client().versions.list(model.handle, limit=MOST).items
    if version is None and model.version_no is not None:
        cannot_be_read(f"v{model.version_no}", "the version in use is damaged", "version", key="model.unreadable")
    else:
        _draw_verdict(model, version, traits)
    draw_unreadable(traits.unreadable, "trait", key="model.unreadable_traits")
    order = weakest_first(version, traits)
    shown = first_few(order, key=_STRIPS)
    wide, narrow = st.columns([2.1, 1], gap="small")
    with wide:
        if traits:
            with question("Does it tell the sides apart?", key="sides"):
                st.caption(how_to_read(version, model))
                draw_strips(model, version, shown, among=traits)
                draw_more(order, key=_STRIPS)
        with question("Is it getting better?", key="course"):
            if newest:
                draw_course(model, newest)
            else:
                st.markdown("No version yet. Each training adds one here, with how often it is right.")
    with narrow:
        with st.skeleton(_CARDS):
            samples = read(model, traits)
        draw_learned(model, version, shown, traits, samples)
        draw_texts(model, traits, samples)
        draw_waiting(model, version, traits)
    if version is not None:
        page_link("versions", "All figures", icon=":material/query_stats:", view="Details", version=label(version))


def _draw_verdict(model: Model, version: Version | None, traits: Sequence[Trait]) -> None:
    evidence = None if version is None else evidence_on(by_trait(version.metrics))
    draw_title(
        plain(_title(model, version, traits, evidence)), *_lead(model, version, traits, evidence), is_first=False
    )


def _title(model: Model, version: Version | None, traits: Sequence[Trait], evidence: Evidence | None) -> str:
    if evidence is not None:
        return evidence.title
    if version is not None:
        return "How often it is right is not known"
    if model.state == "failed":
        return "The first training failed"
    if model.state == "busy":
        return _RUNNING.get(model.last_operation.kind if model.last_operation else "train", "A run is in progress")
    return "Not trained yet"


def _lead(model: Model, version: Version | None, traits: Sequence[Trait], evidence: Evidence | None) -> list[str]:
    """The sentences below the title, in Markdown; warnings come before figures."""
    lines = []
    if evidence is not None:
        lines.append(plain(evidence.below(traits)))
    elif version is not None:
        lines.append(f"{label(version)} scores texts, but was not measured on texts that it has not seen.")
    else:
        lines.append(_enough(model, traits))
    lines.append(_last_failure(model))
    if model.state == "busy" and version is not None:
        lines.append(f"{label(version)} keeps scoring during the run.")
    if model.state == "archived":
        when = "" if model.archived_at is None else f" on {model.archived_at.astimezone(UTC):%-d %b %Y}"
        lines.append(f"This model was archived{when} and does not score. {left(model)}")
    elif forbidden := why_read_only(model):
        lines.append(f":material/lock: **Read only.** {forbidden}")
    if model.zero_data_retention:
        lines.append(":material/shield: Zero data retention is on: training removes the samples that it used.")
    return lines


def _enough(model: Model, traits: Sequence[Trait]) -> str:
    """What is enough to start, for a model without a version."""
    if not traits:
        return f"This model has no traits yet. About {ENOUGH} texts for each pole of a trait are enough to start."
    given = [trait for trait in traits if trait.kind == "extrinsic"]
    if given and all(min(trait.positive_samples, trait.negative_samples) >= ENOUGH for trait in given):
        return "" if model.state == "busy" else "There are enough texts for each side to start."
    if len(traits) == 1:
        poles = (f"{ENOUGH} {plain(each)}" for each in (traits[0].positive_label, traits[0].negative_label))
        return f"{' and '.join(poles)} texts are enough to start."
    return f"About {ENOUGH} texts for each side of a trait are enough to start."


def _last_failure(model: Model) -> str:
    """The reason of the last run, if it failed."""
    last = model.last_operation
    if last is None or last.status != "failed" or model.state in ("busy", "archived"):
        return ""
    reason = plain(last.error.message) if last.error else "The service gave no reason."
    rest = "Its samples are safe." if model.version_no is None else f"v{model.version_no} did not change."
    return f":material/error: **The last run failed.** {reason} {rest}"
