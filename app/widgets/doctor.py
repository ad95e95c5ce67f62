"""The sample doctor on a page: what is wrong with the samples before a training learns it, and how to mend it.

A fix is shown before it is made, beside the texts that it is about, and is made whole or not at all. What deletes asks
once more; the way back is the page's own.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from traitbench.app import doctor, session
from traitbench.app.doctor import Examination
from traitbench.app.navigation import page_link
from traitbench.app.preview import PreviewUnavailable
from traitbench.app.sample_changes import UNDO, Changes, save
from traitbench.app.sample_list import all_samples
from traitbench.app.service import attempt
from traitbench.app.text import count, plain, shortened
from traitbench.app.theme import NEUTRAL_SIGN, BadgeColour, pole_sign
from traitbench.app.widgets.chart import download_table
from traitbench.app.widgets.confirm import ask, asked, confirm
from traitbench.app.widgets.sample_add import POLE, TRAIT
from traitbench.app.widgets.sample_rows import show_rows
from traitbench.app.widgets.sample_table import waiting
from traitbench.app.widgets.undo import draw_undo
from traitbench.contract.models import Model
from traitbench.contract.samples import Sample
from traitbench.contract.traits import Trait
from traitbench.scoring.doctor import KINDS, Finding, Kind, Severity, Wanted

_QUESTION, _IGNORED, _READ, _MORE = "samples.doctor", "samples.ignored", "samples.read_all", "samples.more"
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

_ABOUT: Mapping[Kind, str] = {
    "suspect": "Most often that is a wrong label, at times a text that is hard to tell. Read before you turn one.",
    "outlier": "They may belong to the trait or have got in by mistake.",
}
"""What is said once of findings that are made text by text."""


@dataclass(frozen=True)
class _Room:
    """What everything here is about."""

    model: Model
    traits: Mapping[str, Trait]
    samples: Mapping[int, Sample]
    can_edit: bool


def draw_doctor(model: Model, traits: Sequence[Trait], samples: Sequence[Sample], *, can_edit: bool) -> None:
    """Look at the samples and draw what was found, the worst first."""
    room = _Room(model, {trait.key: trait for trait in traits}, {sample.id: sample for sample in samples}, can_edit)
    with st.container(horizontal=True, vertical_alignment="center", key="doctor.said"):
        said = st.container(width="content")
        if can_edit:
            draw_undo(model.handle)
    if unsaved := len(waiting(model.handle)):
        st.caption(f":material/edit: {count(unsaved, 'change')} in the table not saved yet and not looked at.")
    examination = _examined(room, traits, samples)
    if examination is None:
        return
    ignored = _ignored(model.handle)
    shown = [each for each in examination.findings if doctor.identity(each) not in ignored]
    said.markdown(_summary(examination, shown))
    hidden = len(examination.findings) - len(shown)
    if hidden:
        _draw_hidden(model.handle, hidden)
    if not shown:
        _draw_nothing(room, examination, hidden)
    for group in dict.fromkeys(map(_group, shown)):
        _draw_group(room, group, [finding for finding in shown if _group(finding) == group])
    if shown:
        with st.container(horizontal=True, horizontal_alignment="right"):
            download_table(_table(room, shown), key="doctor", file_name=f"{model.handle}-findings")
    _ask_once_more(room, shown)


def draw_doctor_line(model: Model, traits: Sequence[Trait]) -> None:
    """What the doctor would say, in a line with the way to it."""
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
    found = [each for each in examination.findings if doctor.identity(each) not in _ignored(model.handle)]
    with place.container():
        if found:
            errors = sum(finding.severity == "error" for finding in found)
            worst = f", {count(errors, 'error')}" if errors else ""
            _check_link(f"{count(len(found), 'finding')}{worst}: look before you train")
        else:
            st.caption(f":material/stethoscope: Nothing found in {count(examination.samples, 'sample')}.")


def _check_link(label: str) -> None:
    page_link("samples", label, icon=":material/stethoscope:", task="Check")


# ---- looking ---------------------------------------------------------------------------------------------------------


def _examined(room: _Room, traits: Sequence[Trait], samples: Sequence[Sample]) -> Examination | None:
    """The examination; None while so many texts wait for a button, or where there is no encoder."""
    agreed = f"{_READ}:{room.model.handle}"
    try:
        many = doctor.to_read(traits, samples)
        if many and session.kept(agreed) is None:
            with st.container(border=True, key="doctor.many"):
                st.markdown(
                    f"**{count(many, 'text')} to read first.** They are read here, once, which may take "
                    f"{'some minutes' if many > 5_000 else 'a minute'}; from then on only what is new."
                )
                st.button(
                    f"Read {count(many, 'text')}",
                    type="primary",
                    icon=":material/stethoscope:",
                    key="doctor.read",
                    on_click=session.keep,
                    args=(agreed, True),
                )
            return None
        return _with_progress(traits, samples)
    except PreviewUnavailable as reason:
        st.info(f"The samples cannot be looked at here. {plain(str(reason))}", icon=":material/info:")
        return None


def _with_progress(traits: Sequence[Trait], samples: Sequence[Sample]) -> Examination:
    place = st.empty()

    def progress(done: int, of: int) -> None:
        if of > 64:
            place.progress(done / of, text=f"Reading {done:,} of {count(of, 'text')}")

    with st.spinner(f"Looking at {count(len(samples), 'sample')}", show_time=True):
        examination = doctor.examine(traits, samples, progress=progress)
    place.empty()
    return examination


def _summary(examination: Examination, shown: Sequence[Finding]) -> str:
    if not shown:
        return ""
    numbers = {name: sum(finding.severity == name for finding in shown) for name in doctor.SEVERITIES}
    parts = [count(number, _SEVERITIES[name].one) for name, number in numbers.items() if number]
    return (
        f"**{count(len(shown), 'finding')}** in {count(examination.samples, 'sample')}: {', '.join(parts)}."
        f"{_left_out(examination)}"
    )


def _left_out(examination: Examination) -> str:
    return f" {examination.left_out:,} were not looked at." if examination.left_out else ""


def _draw_nothing(room: _Room, examination: Examination, hidden: int) -> None:
    with st.container(border=True, key="doctor.nothing"):
        st.subheader("Nothing else found" if hidden else "Nothing found", icon=":material/check_circle:", anchor=False)
        given = sum(trait.kind == "extrinsic" for trait in room.traits.values())
        looked_for = "\n".join(f"- {title}" for title in KINDS.values())
        st.markdown(
            f"{count(examination.samples, 'sample')} of {count(given, 'trait')} were looked at for:\n\n{looked_for}\n\n"
            f"That is no proof that all is well: it says that none of this stands out.{_left_out(examination)}"
        )
        if room.can_edit:
            page_link("train", "Train")


# ---- ignoring --------------------------------------------------------------------------------------------------------


def _ignored(handle: str) -> frozenset[str]:
    held = session.kept(_IGNORED)
    return held[1] if held and held[0] == handle else frozenset()


def _ignore(handle: str, findings: Iterable[Finding]) -> None:
    """A button's callback."""
    session.keep(_IGNORED, (handle, _ignored(handle) | {doctor.identity(finding) for finding in findings}))


def _draw_hidden(handle: str, hidden: int) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="doctor.ignored"):
        st.caption(f"{count(hidden, 'finding')} ignored, until this tab is closed.", width="content")
        st.button(
            "Show again",
            icon=":material/visibility:",
            type="tertiary",
            key="doctor.show_again",
            on_click=session.keep,
            args=(_IGNORED, None),
        )


# ---- findings --------------------------------------------------------------------------------------------------------


def _group(finding: Finding) -> str:
    """Findings of one kind and severity stand together."""
    return f"{finding.severity}.{finding.kind}"


def _draw_group(room: _Room, group: str, findings: Sequence[Finding]) -> None:
    kind = findings[0].kind
    mendable = [finding for finding in findings if len(doctor.changes_of([finding], room.samples))]
    with st.container(border=True, key=f"doctor.{group}"):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            with st.container(horizontal=True, vertical_alignment="center", width="content"):
                _badge(findings[0])
                number = f" · {len(findings):,}" if len(findings) > 1 else ""
                st.markdown(f"**{KINDS[kind]}**{number}", width="content")
            if len(findings) > 1:
                with st.container(horizontal=True, width="content"):
                    _draw_all(room, group, findings, mendable)
        if kind in _ABOUT:
            st.caption(_ABOUT[kind])
        there = session.kept(f"{_MORE}:{group}", _A_PAGE)
        for place, finding in enumerate(findings[:there]):
            if place:
                st.divider()
            _draw_finding(room, finding)
        if len(findings) > there:
            st.button(
                f"Show {min(_A_PAGE, len(findings) - there)} more of {len(findings) - there:,}",
                type="tertiary",
                icon=":material/expand_more:",
                key=f"doctor.more.{group}",
                on_click=session.keep,
                args=(f"{_MORE}:{group}", there + _A_PAGE),
            )


def _draw_all(room: _Room, group: str, findings: Sequence[Finding], mendable: Sequence[Finding]) -> None:
    if room.can_edit and len(mendable) > 1:
        st.button(
            f"Mend all {len(mendable):,}",
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
        args=(room.model.handle, findings),
    )


def _draw_finding(room: _Room, finding: Finding) -> None:
    this = doctor.identity(finding)
    changes = doctor.changes_of([finding], room.samples) if room.can_edit else Changes()
    with st.container(key=f"doctor.one.{this}"):
        trait = room.traits.get(finding.trait_key)
        about = f"**{plain(trait.name)}:** " if trait and len(room.traits) > 1 else ""
        st.markdown(about + plain(finding.says))
        texts = [room.samples[each] for each in finding.sample_ids if each in room.samples]
        if texts:
            st.markdown("\n".join(_line(room, sample, changes) for sample in _first(texts, changes)))
        if len(texts) > _TEXTS:
            st.caption(f"and {count(len(texts) - _TEXTS, 'text')} more")
        if finding.fix and room.can_edit:
            st.caption(plain(finding.fix.says))
        _draw_actions(room, finding, changes)


def _draw_actions(room: _Room, finding: Finding, changes: Changes) -> None:
    this = doctor.identity(finding)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if room.can_edit and finding.fix and len(changes):
            agreed = st.button(
                _verbs(changes),
                icon=":material/healing:",
                key=f"doctor.fix.{this}",
                on_click=ask if changes.deletions else None,
                args=(_QUESTION, this) if changes.deletions else None,
            )
            if agreed and not changes.deletions:
                with attempt() as mending:
                    _mend(room, changes)
                if mending.done:
                    st.rerun()
        if room.can_edit and finding.fix and finding.fix.add:
            _draw_adding(room, finding, finding.fix.add)
        if finding.sample_ids:
            st.button(
                "Show in the table",
                type="tertiary",
                icon=":material/table_rows:",
                key=f"doctor.rows.{this}",
                on_click=show_rows,
                args=(finding.sample_ids,),
            )
        if room.can_edit and finding.kind == "negation":
            page_link("traits", "Rename the label")
        st.button(
            "Ignore",
            type="tertiary",
            icon=":material/visibility_off:",
            key=f"doctor.ignore.{this}",
            on_click=_ignore,
            args=(room.model.handle, [finding]),
        )


def _draw_adding(room: _Room, finding: Finding, wanted: Wanted) -> None:
    """To the form that adds what is wanted, its trait and pole chosen."""
    trait = room.traits[finding.trait_key]
    label = trait.positive_label if wanted.pole == "positive" else trait.negative_label
    st.button(
        f"Add {count(wanted.count, 'text')}: {plain(shortened(label, _LABEL))}",
        icon=":material/add:",
        key=f"doctor.add.{doctor.identity(finding)}",
        on_click=session.put,
        args=({"task": "add", TRAIT: trait.key, POLE: wanted.pole},),
    )


def _first(texts: Sequence[Sample], changes: Changes) -> list[Sample]:
    """As many as are shown, those that would change among them; in the order of the finding."""
    touched = changes.deletions | changes.edits.keys()
    chosen = sorted(texts, key=lambda sample: sample.id not in touched)[:_TEXTS]
    return [sample for sample in texts if sample in chosen]


def _line(room: _Room, sample: Sample, changes: Changes) -> str:
    """A text with its pole, and what a fix would do with it; a point of a list."""
    words = f"- {_pole(room, sample.trait, sample.quality)} “{plain(shortened(sample.text, _TEXT))}”"
    if sample.id in changes.deletions:
        return f"{words} :red-badge[:material/delete: will go]"
    if sample.id in changes.edits:
        return f"{words} :blue-badge[becomes {_pole(room, sample.trait, changes.edits[sample.id].quality)}]"
    return words


def _pole(room: _Room, key: str, quality: float) -> str:
    trait = room.traits.get(key)
    if trait is None or quality == 0.5:
        return f"{NEUTRAL_SIGN} {quality:.2f}"
    label = trait.positive_label if quality > 0.5 else trait.negative_label
    exactly = "" if quality in (0.0, 1.0) else f" {quality:.2f}"
    return f"{pole_sign(quality)} {plain(label)}{exactly}"


def _badge(finding: Finding) -> None:
    sign = _SEVERITIES[finding.severity]
    st.badge(sign.one.capitalize(), icon=sign.icon, color=sign.colour)


# ---- mending ---------------------------------------------------------------------------------------------------------


def _ask_once_more(room: _Room, shown: Sequence[Finding]) -> None:
    subject = asked(_QUESTION)
    if subject is None:
        return
    meant = [each for each in shown if subject in (doctor.identity(each), _group(each))]
    changes = doctor.changes_of(meant, room.samples)
    if not room.can_edit or not len(changes):
        session.keep(_QUESTION, None)
        return
    confirm(
        _QUESTION,
        title=f"{_verbs(changes)}?",
        body=_body(room, changes),
        yes="Do it",
        no="Not yet",
        icon=":material/healing:",
        act=lambda: _mend(room, changes),
    )


def _verbs(changes: Changes) -> str:
    """`Delete 3 samples and move 2`."""
    parts = []
    if changes.deletions:
        parts.append(f"delete {count(len(changes.deletions), 'sample')}")
    if changes.edits:
        parts.append(f"turn {count(len(changes.edits), 'label')}")
    return " and ".join(parts).capitalize()


def _body(room: _Room, changes: Changes) -> str:
    touched = [room.samples[each] for each in sorted(changes.deletions | changes.edits.keys())]
    lines = [_line(room, sample, changes) for sample in touched[:_IN_QUESTION]]
    if len(touched) > _IN_QUESTION:
        lines.append(f"- and {len(touched) - _IN_QUESTION:,} more")
    made = sum(room.samples[each].provenance == "synthesized" for each in changes.deletions)
    good = f" {count(made, 'text')} that nobody wrote cannot be brought back." if made else ""
    whole = f"All of it happens or nothing. It can be undone on this page, as long as it is open.{good}"
    return "\n".join(lines) + f"\n\n{whole}"


def _mend(room: _Room, changes: Changes) -> None:
    bar = st.progress(0.0, text="Mending")
    done = save(
        room.model.handle,
        room.samples.values(),
        changes,
        progress=lambda at, of: bar.progress(at / of, text=f"Mending {at:,} of {of:,}"),
        whole=True,
    )
    session.keep(UNDO, done)
    session.flash(f"Mended: {done.what}.")


def _table(room: _Room, findings: Sequence[Finding]) -> pd.DataFrame:
    """One row a finding."""
    return pd.DataFrame(
        [
            {
                "Severity": finding.severity,
                "Kind": finding.kind,
                "Trait": room.traits[finding.trait_key].name if finding.trait_key in room.traits else finding.trait_key,
                "Finding": finding.says,
                "Fix": finding.fix.says if finding.fix else None,
                "Samples": json.dumps(list(finding.sample_ids)),
                "Texts": " | ".join(
                    shortened(room.samples[each].text, _TEXT) for each in finding.sample_ids if each in room.samples
                ),
            }
            for finding in findings
        ]
    )
