"""The check of the samples on a page: problems to fix before training.

Each fix is shown with the texts that it changes, before it is applied. Either all of it is applied or none. A fix that
deletes samples must be confirmed, and the undo of the page covers it.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from traitbench.analysis.checks import KINDS, Finding, Kind, Severity, Wanted
from traitbench.contract.models import Model
from traitbench.contract.samples import Sample
from traitbench.contract.traits import Trait
from traitbench.display.colours import NEUTRAL_SIGN, BadgeColour, pole_sign
from traitbench.display.text import count, plain, shortened
from traitbench.local.preview import PreviewUnavailable
from traitbench_app.parts.chart import download_table
from traitbench_app.parts.controls import ask, asked, confirm
from traitbench_app.parts.sample_table import waiting
from traitbench_app.parts.undo import draw_undo
from traitbench_app.samples.add import POLE, TRAIT
from traitbench_app.samples.held_out import draw_leaks
from traitbench_app.samples.rows import show_rows
from traitbench_app.shell import session
from traitbench_app.shell.navigation import page_link
from traitbench_app.shell.service import attempt
from traitbench_app.workspace import fixes as doctor
from traitbench_app.workspace.changes import Changes, remember, save
from traitbench_app.workspace.fixes import Examination
from traitbench_app.workspace.samples import all_samples

_QUESTION, _IGNORED, _READ, _MORE = "samples.doctor", "samples.ignored", "samples.read_all", "samples.more"
_OTHER = ":other"
_UNASKED_ON_TRAIN = 2_000
_A_PAGE, _TEXTS, _IN_QUESTION, _TEXT, _LABEL = 10, 6, 12, 150, 40


@dataclass(frozen=True)
class _Sign:
    one: str
    icon: str
    colour: BadgeColour


_SEVERITIES: Mapping[Severity, _Sign] = {
    "error": _Sign("error", ":material/error:", "red"),
    "warning": _Sign("warning", ":material/warning:", "orange"),
    "note": _Sign("note", ":material/info:", "blue"),
}

_HEADLINES: Mapping[Kind, str] = {
    "no_samples": "{} has a pole without samples",
    "shortcut": "A mark alone tells the poles of {} apart",
    "inseparable": "Labels of {} cannot be told apart",
    "conflict": "{} has the same text at both poles",
    "negation": "{} has a label that only negates",
    "suspect": "Some labels of {} look wrong",
    "length": "The poles of {} differ in length",
    "language": "The poles of {} differ in language",
    "source": "The poles of {} differ in source",
    "few": "{} has few samples",
    "unbalanced": "The poles of {} differ in size",
    "duplicate": "{} has duplicate texts",
    "near_duplicate": "{} has texts that are nearly the same",
    "outlier": "{} has texts unlike all others",
}
"""What each kind of finding says in a few words, with a place for the trait."""

_ABOUT: Mapping[Kind, str] = {
    "suspect": "Usually the label is wrong; sometimes the text is ambiguous. Read the text before you flip its label.",
    "outlier": "They may be valid samples, or they may have been added by mistake.",
}
"""An explanation shown once for all findings of a kind."""


@dataclass(frozen=True)
class _Context:
    """The model with its traits and samples, and whether they can be edited."""

    model: Model
    traits: Mapping[str, Trait]
    samples: Mapping[int, Sample]
    can_edit: bool


def draw_doctor(model: Model, traits: Sequence[Trait], samples: list[Sample], *, can_edit: bool) -> None:
    """Check the samples and draw the findings, the most severe first."""
    context = _Context(model, {each.key: each for each in traits}, {each.id: each for each in samples}, can_edit)
    with st.container(horizontal=True, vertical_alignment="center", key="doctor.said"):
        summary = st.container(width="content")
        if can_edit:
            draw_undo(model.handle)
    if unsaved := len(waiting(model.handle)):
        st.caption(f":material/edit: {count(unsaved, 'unsaved change')} in the table not included.")
    draw_leaks(model, traits, samples, can_edit=can_edit)
    examination = _examined(context, traits, samples)
    if examination is None:
        return
    ignored = _ignored(model.handle)
    shown = [each for each in examination.findings if doctor.identity(each) not in ignored]
    if shown:
        st.markdown(f"### {_gravest(context, shown[0])}")
    summary.caption(_summary(examination, shown))
    hidden = len(examination.findings) - len(shown)
    if hidden:
        _draw_hidden(model.handle, hidden)
    if not shown:
        _draw_nothing(context, examination, hidden)
    for place, group in enumerate(dict.fromkeys(map(_group, shown))):
        _draw_group(context, group, [finding for finding in shown if _group(finding) == group], first=not place)
    if shown:
        with st.container(horizontal=True, horizontal_alignment="right"):
            download_table(_table(context, shown), key="doctor", file_name=f"{model.handle}-findings")
    _ask_once_more(context, shown)


def draw_doctor_line(model: Model, traits: Sequence[Trait]) -> None:
    """Draw the number of findings in one line, with a link to the check; a shortcut in its own words."""
    given = sum(trait.sample_count for trait in traits if trait.kind == "extrinsic")
    if not given:
        return
    if given > _UNASKED_ON_TRAIN:
        _check_link(f"Check {count(given, 'sample')} before you train")
        return
    place = st.empty()
    try:
        with place.container():
            samples = all_samples(model.handle, traits)
            if doctor.to_read(traits, samples):
                _check_link("Check the samples before you train")
                return
            examination = _with_progress(traits, samples)
    except PreviewUnavailable:
        place.empty()
        return
    findings = [each for each in examination.findings if doctor.identity(each) not in _ignored(model.handle)]
    with place.container():
        if findings:
            errors = sum(finding.severity == "error" for finding in findings)
            worst = f", {count(errors, 'error')}" if errors else ""
            if findings[0].kind == "shortcut":
                st.warning(plain(findings[0].says), icon=":material/warning:")
            _check_link(f"{count(len(findings), 'finding')}{worst}: review before you train")
        else:
            st.caption(f":material/stethoscope: No problems found in {count(examination.samples, 'sample')}.")


def _check_link(label: str) -> None:
    page_link("samples", label, icon=":material/stethoscope:", task="Check")


# ---- the check -------------------------------------------------------------------------------------------------------


def _examined(context: _Context, traits: Sequence[Trait], samples: Sequence[Sample]) -> Examination | None:
    """The result of the check; None while many texts wait for the button, or if this workbench has no encoder."""
    agreed = f"{_READ}:{context.model.handle}"
    try:
        many = doctor.to_read(traits, samples)
        if many and session.get(agreed) is None:
            with st.container(border=True, key="doctor.many"):
                st.markdown(
                    f"**{count(many, 'text')} must be read first.** This may take "
                    f"{'a few minutes' if many > 5_000 else 'a minute'}. Later checks read only new texts."
                )
                st.button(
                    f"Read {count(many, 'text')}",
                    type="primary",
                    icon=":material/stethoscope:",
                    key="doctor.read",
                    on_click=session.store,
                    args=(agreed, True),
                )
            return None
        return _with_progress(traits, samples)
    except PreviewUnavailable as reason:
        st.info(f"The samples cannot be checked here. {plain(str(reason))}", icon=":material/info:")
        return None


def _with_progress(traits: Sequence[Trait], samples: Sequence[Sample]) -> Examination:
    place = st.empty()

    def progress(done: int, of: int) -> None:
        if of > 64:
            place.progress(done / of, text=f"Reading {done:,} of {count(of, 'text')}")

    with st.spinner(f"Checking {count(len(samples), 'sample')}", show_time=True):
        examination = doctor.examine(traits, samples, progress=progress)
    place.empty()
    return examination


def _summary(examination: Examination, shown: Sequence[Finding]) -> str:
    if not shown:
        return ""
    numbers = {name: sum(finding.severity == name for finding in shown) for name in doctor.SEVERITIES}
    parts = [count(number, _SEVERITIES[name].one) for name, number in numbers.items() if number]
    where = f" in {count(examination.samples, 'sample')}" if examination.samples else ""
    return f"{count(len(shown), 'finding')}{where}: {', '.join(parts)}.{_left_out(examination)}"


def _gravest(context: _Context, finding: Finding) -> str:
    """The most severe finding in a few words, with the name of its trait, in markdown."""
    trait = context.traits.get(finding.trait_key)
    said = _HEADLINES[finding.kind].format(plain(trait.name) if trait else plain(finding.trait_key))
    return said if finding.auroc is None else f"{said}: {finding.auroc:.2f}"


def _left_out(examination: Examination) -> str:
    return f" Not checked: {count(examination.left_out, 'sample')}." if examination.left_out else ""


def _draw_nothing(context: _Context, examination: Examination, hidden: int) -> None:
    with st.container(border=True, key="doctor.nothing"):
        st.subheader(
            "No other problems found" if hidden else "No problems found", icon=":material/check_circle:", anchor=False
        )
        given = sum(trait.kind == "extrinsic" for trait in context.traits.values())
        looked_for = "\n".join(f"- {title}" for title in KINDS.values())
        st.markdown(
            f"Checked {count(examination.samples, 'sample')} of {count(given, 'trait')} for:\n\n{looked_for}\n\n"
            f"There may still be problems that this check cannot detect.{_left_out(examination)}"
        )
        if context.can_edit:
            page_link("train", "Train this model")


# ---- ignoring --------------------------------------------------------------------------------------------------------


def _ignored(handle: str) -> frozenset[str]:
    held = session.get(_IGNORED)
    return held[1] if held and held[0] == handle else frozenset()


def _ignore(handle: str, findings: Iterable[Finding]) -> None:
    """Hide these findings for this session. A button callback."""
    session.store(_IGNORED, (handle, _ignored(handle) | {doctor.identity(finding) for finding in findings}))


def _draw_hidden(handle: str, hidden: int) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="doctor.ignored"):
        st.caption(f"{count(hidden, 'finding')} ignored until you close this tab.", width="content")
        st.button(
            "Show again",
            icon=":material/visibility:",
            type="tertiary",
            key="doctor.show_again",
            on_click=session.store,
            args=(_IGNORED, None),
        )


# ---- findings --------------------------------------------------------------------------------------------------------


def _group(finding: Finding) -> str:
    """The group of a finding: findings of one severity and kind are shown together."""
    return f"{finding.severity}.{finding.kind}"


def _draw_group(context: _Context, group: str, findings: Sequence[Finding], *, first: bool) -> None:
    """Draw the findings of a group as compact rows, folded unless it is the first group."""
    kind = findings[0].kind
    fixable = [finding for finding in findings if len(doctor.changes_of([finding], context.samples))]
    sign = _SEVERITIES[findings[0].severity]
    named = count(len(findings), sign.one) if len(findings) > 1 else sign.one
    with st.expander(
        f":{sign.colour}[{sign.icon}] **{KINDS[kind]}** :small[:gray[{named}]]",
        expanded=first,
        key=f"doctor.{group}",
    ):
        if len(findings) > 1:
            with st.container(horizontal=True, vertical_alignment="center"):
                _draw_all(context, group, findings, fixable)
        if kind in _ABOUT:
            st.caption(_ABOUT[kind])
        limit = session.get(f"{_MORE}:{group}", _A_PAGE)
        before = None
        for finding in findings[:limit]:
            _draw_finding(context, finding, after=before)
            before = finding
        if len(findings) > limit:
            st.button(
                f"Show {min(_A_PAGE, len(findings) - limit)} more of {len(findings) - limit:,}",
                type="tertiary",
                icon=":material/expand_more:",
                key=f"doctor.more.{group}",
                on_click=session.store,
                args=(f"{_MORE}:{group}", limit + _A_PAGE),
            )


def _draw_all(context: _Context, group: str, findings: Sequence[Finding], fixable: Sequence[Finding]) -> None:
    if context.can_edit and len(fixable) > 1:
        st.button(
            f"Fix all {len(fixable):,}",
            icon=":material/healing:",
            key=f"doctor.all.{group}",
            on_click=ask,
            args=(_QUESTION, group),
        )
    st.button(
        f"Ignore all {len(findings):,}",
        type="tertiary",
        icon=":material/visibility_off:",
        key=f"doctor.ignore_all.{group}",
        on_click=_ignore,
        args=(context.model.handle, findings),
    )


def _draw_finding(context: _Context, finding: Finding, *, after: Finding | None) -> None:
    """Draw a finding as a row: its texts and, beside them, what can be done. A sentence is not repeated."""
    this = doctor.identity(finding)
    changes = doctor.changes_of([finding], context.samples) if context.can_edit else Changes()
    fix = finding.fix.says if finding.fix and context.can_edit else ""
    with st.container(key=f"doctor.one.{this}", gap="xsmall"):
        if after is None or (after.says, after.trait_key) != (finding.says, finding.trait_key):
            st.markdown(_about(context, finding) + plain(finding.says))
        if fix and (after is None or after.fix is None or after.fix.says != fix):
            st.caption(plain(fix))
        texts = [context.samples[each] for each in finding.sample_ids if each in context.samples]
        if not texts:
            _draw_actions(context, finding, changes)
            return
        words, actions = st.columns([3, 2], vertical_alignment="center", gap="small")
        with words:
            st.markdown("\n".join(_line(context, sample, changes) for sample in _first(texts, changes)))
            if len(texts) > _TEXTS:
                st.caption(f"and {count(len(texts) - _TEXTS, 'more text')}")
        with actions:
            _draw_actions(context, finding, changes)


def _about(context: _Context, finding: Finding) -> str:
    """The trait of a finding, in markdown; empty if the model has only one."""
    trait = context.traits.get(finding.trait_key)
    return f"**{plain(trait.name)}:** " if trait and len(context.traits) > 1 else ""


def _draw_actions(context: _Context, finding: Finding, changes: Changes) -> None:
    this = doctor.identity(finding)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        other = doctor.kept_otherwise(finding, context.samples)
        if context.can_edit and other is not None:
            for subject, each in ((this, finding), (f"{this}{_OTHER}", other)):
                st.button(
                    f"Keep {_kept(context, each)}",
                    icon=":material/check:",
                    key=f"doctor.fix.{subject}",
                    on_click=ask,
                    args=(_QUESTION, subject),
                )
        elif context.can_edit and finding.fix and len(changes):
            agreed = st.button(
                _verbs(changes),
                icon=":material/healing:",
                key=f"doctor.fix.{this}",
                on_click=ask if changes.deletions else None,
                args=(_QUESTION, this) if changes.deletions else None,
            )
            if agreed and not changes.deletions:
                with attempt() as fixing:
                    _apply(context, changes)
                if fixing.done:
                    st.rerun()
        if context.can_edit and finding.fix and finding.fix.add:
            _draw_adding(context, finding, finding.fix.add)
        if finding.sample_ids:
            st.button(
                "Show in the table",
                type="tertiary",
                icon=":material/table_rows:",
                key=f"doctor.rows.{this}",
                on_click=show_rows,
                args=(finding.sample_ids,),
            )
        if context.can_edit and finding.kind == "negation":
            page_link("traits", "Rename the label")
        st.button(
            "Ignore",
            type="tertiary",
            icon=":material/visibility_off:",
            key=f"doctor.ignore.{this}",
            on_click=_ignore,
            args=(context.model.handle, [finding]),
        )


def _kept(context: _Context, finding: Finding) -> str:
    """The pole at which the fix of a finding keeps a text, in markdown."""
    gone = finding.fix.delete if finding.fix else ()
    stays = next(context.samples[each] for each in finding.sample_ids if each not in gone)
    return _pole(context, stays.trait, stays.quality)


def _draw_adding(context: _Context, finding: Finding, wanted: Wanted) -> None:
    """Draw a button that opens the form for new samples, with trait and pole preselected."""
    trait = context.traits[finding.trait_key]
    label = trait.positive_label if wanted.pole == "positive" else trait.negative_label
    st.button(
        f"Add {count(wanted.count, 'text')}: {plain(shortened(label, _LABEL))}",
        icon=":material/add:",
        key=f"doctor.add.{doctor.identity(finding)}",
        on_click=session.put,
        args=({"task": "add", TRAIT: trait.key, POLE: wanted.pole},),
    )


def _first(texts: Sequence[Sample], changes: Changes) -> list[Sample]:
    """The texts to show, in the order of the finding; those that a fix would change come into the selection first."""
    touched = changes.deletions | changes.edits.keys()
    chosen = sorted(texts, key=lambda sample: sample.id not in touched)[:_TEXTS]
    return [sample for sample in texts if sample in chosen]


def _line(context: _Context, sample: Sample, changes: Changes) -> str:
    """A markdown list item: a text with its pole, and what a fix would do with it."""
    words = f"- {_pole(context, sample.trait, sample.quality)} “{plain(shortened(sample.text, _TEXT))}”"
    if sample.id in changes.deletions:
        return f"{words} :red-badge[:material/delete: will be deleted]"
    if sample.id in changes.edits:
        return f"{words} :blue-badge[will be {_pole(context, sample.trait, changes.edits[sample.id].quality)}]"
    return words


def _pole(context: _Context, key: str, quality: float) -> str:
    trait = context.traits.get(key)
    if trait is None or quality == 0.5:
        return f"{NEUTRAL_SIGN} {quality:.2f}"
    label = trait.positive_label if quality > 0.5 else trait.negative_label
    exactly = "" if quality in (0.0, 1.0) else f" {quality:.2f}"
    return f"{pole_sign(quality)} {plain(label)}{exactly}"


# ---- fixes -----------------------------------------------------------------------------------------------------------


def _ask_once_more(context: _Context, shown: Sequence[Finding]) -> None:
    subject = asked(_QUESTION)
    if subject is None:
        return
    meant = [each for each in shown if subject in (doctor.identity(each), _group(each))]
    if subject.endswith(_OTHER):
        same = (each for each in shown if doctor.identity(each) == subject.removesuffix(_OTHER))
        meant = [other for each in same if (other := doctor.kept_otherwise(each, context.samples))]
    changes = doctor.changes_of(meant, context.samples)
    if not context.can_edit or not len(changes):
        session.store(_QUESTION, None)
        return
    confirm(
        _QUESTION,
        title=f"{_verbs(changes)}?",
        body=_body(context, changes),
        yes="Apply",
        no="Not yet",
        icon=":material/healing:",
        act=lambda: _apply(context, changes),
    )


def _verbs(changes: Changes) -> str:
    """`Delete 3 samples and flip 2 labels`."""
    parts = []
    if changes.deletions:
        parts.append(f"delete {count(len(changes.deletions), 'sample')}")
    if changes.edits:
        parts.append(f"flip {count(len(changes.edits), 'label')}")
    return " and ".join(parts).capitalize()


def _body(context: _Context, changes: Changes) -> str:
    touched = [context.samples[each] for each in sorted(changes.deletions | changes.edits.keys())]
    lines = [_line(context, sample, changes) for sample in touched[:_IN_QUESTION]]
    if len(touched) > _IN_QUESTION:
        lines.append(f"- and {len(touched) - _IN_QUESTION:,} more")
    made = sum(context.samples[each].provenance == "synthesized" for each in changes.deletions)
    lost = f" An undo cannot restore {count(made, 'synthesized text')}." if made else ""
    note = f"Either every change is applied or none. You can undo this while the page is open.{lost}"
    return "\n".join(lines) + f"\n\n{note}"


def _apply(context: _Context, changes: Changes) -> None:
    bar = st.progress(0.0, text="Applying changes")
    done = save(
        context.model.handle,
        context.samples.values(),
        changes,
        progress=lambda at, of: bar.progress(at / of, text=f"Applying {at:,} of {of:,}"),
        whole=True,
    )
    remember(done)
    session.flash(f"Applied: {done.what}.")


def _table(context: _Context, findings: Sequence[Finding]) -> pd.DataFrame:
    """One row per finding."""
    return pd.DataFrame(
        [
            {
                "Severity": finding.severity,
                "Kind": finding.kind,
                "Trait": context.traits[finding.trait_key].name
                if finding.trait_key in context.traits
                else finding.trait_key,
                "Finding": finding.says,
                "Fix": finding.fix.says if finding.fix else None,
                "Samples": json.dumps(list(finding.sample_ids)),
                "Texts": " | ".join(
                    shortened(context.samples[each].text, _TEXT)
                    for each in finding.sample_ids
                    if each in context.samples
                ),
            }
            for finding in findings
        ]
    )
