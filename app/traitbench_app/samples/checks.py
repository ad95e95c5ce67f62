"""The check of the samples on a page: a list of sentences, the gravest first, each with its fix.

Each fix is shown with the texts that it changes, before it is applied. Either all of it is applied or none. A fix that
deletes samples must be confirmed, and the undo of the page covers it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal

import streamlit as st

from traitbench.analysis.findings import KINDS, Finding, Fix, Kind, grouped
from traitbench.analysis.languages import count_languages
from traitbench.contract.models import Model
from traitbench.contract.samples import Sample
from traitbench.contract.traits import Trait
from traitbench.display.colours import NEUTRAL_SIGN, pole_sign
from traitbench.display.languages import languages_line, main_languages
from traitbench.display.text import count, plain, shortened
from traitbench.errors import SampleNotFound
from traitbench.local.checks import Findings
from traitbench.local.preview import PreviewUnavailable
from traitbench_app.parts.chart import download_table
from traitbench_app.parts.controls import ask, asked, confirm, draw_title, folded, page_of, primary_link
from traitbench_app.parts.model_actions import draft_of
from traitbench_app.parts.next_step import facts_of, next_step
from traitbench_app.parts.samples_switch import draw_samples_switch
from traitbench_app.samples.editing import apply, conflict_in
from traitbench_app.samples.narrowing import show_samples
from traitbench_app.samples.paste import TRAIT
from traitbench_app.samples.views import go_to
from traitbench_app.shell import session
from traitbench_app.shell.navigation import page_link
from traitbench_app.shell.service import attempt, client
from traitbench_app.workspace import fixes
from traitbench_app.workspace.changes import Changes
from traitbench_app.workspace.fixes import Examination, identity
from traitbench_app.workspace.samples import all_samples

_QUESTION, _IGNORED, _READ, _OPEN = "samples.doctor", "samples.ignored", "samples.read_all", "samples.opened"
_OTHER = ":other"
_UNASKED_ON_TRAIN = 2_000
_LANGUAGES, _MOST_LANGUAGES = "samples.languages", 5
_A_PAGE, _FEW, _IN_QUESTION, _TEXT, _NAME = 10, 3, 12, 150, 40


_STEP, _NAMED = "samples.check_step", 4
_COUNTED: Mapping[Kind, tuple[str, str]] = {
    "conflict": ("text pulls to both sides.", "texts pull to both sides."),
    "leak": ("text: the test knows its answer.", "texts: the test knows their answers."),
    "duplicate": ("text, which counts once.", "texts, of which each counts once."),
    "near_duplicate": ("text, which counts once.", "texts, nearly the same, so each counts once."),
}
"""What the number of texts of a finding means, for one and for several."""

_STYLE = """
<style>
.stApp [class*="st-key-doctor-one"] h2 { padding: 0; font-size: 16px; line-height: 24px; font-weight: 600; }
.stApp [class*="st-key-doctor-one"] [data-testid="stMarkdownContainer"] :is(p, li) {
  font-size: 13px; line-height: 20px;
}
.stApp [class*="st-key-doctor-one"] [data-testid="stHeading"] [data-testid="stMarkdownContainer"] { margin-bottom: 0; }
.stApp [class*="st-key-doctor-one"] button { min-height: 32px; }
.tb-cost b { display: block; font-size: 20px; line-height: 28px; font-weight: 600; font-variant-numeric: tabular-nums; }
.tb-cost span { font-size: 13px; line-height: 20px; color: var(--tb-ink-2); }
.stApp .st-key-card-held { padding: 8px 16px; }
.stApp .st-key-card-held p { font-size: 13px; line-height: 20px; }
</style>
"""


@dataclass(frozen=True)
class _Context:
    """The model with its traits and samples, and whether they can be edited."""

    model: Model
    traits: Mapping[str, Trait]
    samples: Mapping[int, Sample]
    can_edit: bool


def draw_check(model: Model, traits: Sequence[Trait], samples: list[Sample], *, can_edit: bool) -> None:
    """Check the samples and draw the findings, the gravest first."""
    context = _Context(model, {each.key: each for each in traits}, {each.id: each for each in samples}, can_edit)
    st.html(_STYLE)
    with st.container(horizontal=True, horizontal_alignment="distribute", key="samples-title"):
        top = st.container(width="content")
        draw_samples_switch("check")
    examination = _examined(context, traits, samples)
    if examination is None:
        _draw_step(context, traits, ())
        return
    shown = _to_show(model.handle, examination)
    hidden = len(examination.findings) - sum(len(each.parts) or 1 for each in shown)
    with top:
        draw_title(*_title(shown, hidden, examination.samples), is_first=False)
    _draw_step(context, traits, shown)
    if hidden:
        with st.container(horizontal=True, vertical_alignment="center", key="doctor.ignored"):
            st.caption(f"{count(hidden, 'finding')} ignored until you close this tab.", width="content")
            none = (f"{_IGNORED}:{model.handle}", frozenset[str]())
            st.button("Show again", type="tertiary", key="doctor.show_again", on_click=session.store, args=none)
    if examination.left_out:
        st.caption(f"Not checked: {count(examination.left_out, 'sample')}.")
    if said := _languages(samples):
        st.caption(f"Languages: {plain(said)}.")
    if shown:
        for finding in page_of(shown, _A_PAGE, key="doctor.page"):
            with st.container(border=True, key=f"card.{identity(finding)}"):
                _draw_finding(context, finding)
        _draw_held({each.kind for each in shown})
        _draw_download(context, shown)
        _ask_once_more(context, shown)
    else:
        _draw_kinds()


def _title(shown: Sequence[Finding], hidden: int, samples: int) -> tuple[str, str]:
    """The title and the line below it: the gravest finding in short, and how many others there are."""
    checked = f"{len(KINDS)} kinds of problems looked for in {count(samples, 'sample')}."
    if not shown:
        return f"Nothing {'else ' if hidden else ''}to fix in {count(samples, 'sample')}", checked
    more = f", and {count(len(shown) - 1, 'smaller problem')}" if len(shown) > 1 else ""
    first = " The costliest one is first." if more else ""
    return f"{plain(shown[0].in_short)}{more}", f"{checked}{first}"


def draw_check_line(model: Model, traits: Sequence[Trait]) -> None:
    """Draw the number of findings in one line, with a link to the check; a finding that harms training is said."""
    given = sum(trait.sample_count for trait in traits if trait.kind == "extrinsic")
    if not given:
        return
    # The page is about training, so it must not wait for a long check.
    if given > _UNASKED_ON_TRAIN:
        _check_link(f"Check {count(given, 'sample')} before you train")
        return
    slot = st.empty()
    try:
        with slot.container():
            samples = all_samples(model.handle, traits)
            if fixes.to_read(traits, samples):
                _check_link("Check the samples before you train")
                return
            examination = _with_progress(traits, samples)
    except PreviewUnavailable:
        slot.empty()
        return
    shown = _to_show(model.handle, examination)
    with slot.container():
        if shown and (shown[0].severity == "error" or shown[0].kind == "shortcut"):
            st.warning(plain(shown[0].says), icon=":material/warning:")
        if shown:
            _check_link(f"{count(len(shown), 'finding')}: review before you train")
        else:
            st.caption(f":material/stethoscope: Nothing to fix in {count(examination.samples, 'sample')}.")


def _languages(samples: Sequence[Sample]) -> str:
    """The languages of the different texts, if there are several; they are counted once for each list."""

    def counted() -> str:
        known, unclear = count_languages({sample.content_sha256: sample.text for sample in samples}.values())
        several = len(main_languages(known)) > 1
        return languages_line(known, unclear, most=_MOST_LANGUAGES) if several else ""

    return session.once(_LANGUAGES, samples, counted)


def _check_link(label: str) -> None:
    page_link("samples", label, icon=":material/stethoscope:", task="Check")


# ---- the check -------------------------------------------------------------------------------------------------------


def _examined(context: _Context, traits: Sequence[Trait], samples: Sequence[Sample]) -> Examination | None:
    """The result of the check; None while many texts wait for the button, or if this workbench has no encoder."""
    agreed = f"{_READ}:{context.model.handle}"
    try:
        many = fixes.to_read(traits, samples)
        if not many or session.get(agreed) is not None:
            return _with_progress(traits, samples)
    except PreviewUnavailable as reason:
        st.info(f"The samples cannot be checked here. {plain(str(reason))}", icon=":material/info:")
        return None
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


def _with_progress(traits: Sequence[Trait], samples: Sequence[Sample]) -> Examination:
    slot = st.empty()

    def progress(done: int, of: int) -> None:
        if of > 64:
            slot.progress(done / of, text=f"Reading {done:,} of {count(of, 'text')}")

    with st.spinner(f"Checking {count(len(samples), 'sample')}", show_time=True):
        examination = fixes.examine(traits, samples, progress=progress)
    slot.empty()
    return examination


def slot_of_step() -> bool:
    """Leave room in the header for what is next, which follows from the check. Return that the page draws it."""
    session.store(_STEP, st.container(horizontal=True, vertical_alignment="center", key="doctor.next"))
    return True


def _draw_step(context: _Context, traits: Sequence[Trait], shown: Sequence[Finding]) -> None:
    """Draw what is next in the header: what the first finding asks for or, without one, the next step of the model."""
    with session.get(_STEP):
        if not shown:
            step = next_step(facts_of(context.model, traits))
            st.markdown(step.sentence, width="content")
            if context.can_edit and step.page is not None:
                (primary_link if step.primary else page_link)(step.page, step.label, **step.query)
            return
        first = shown[0]
        st.markdown(f"{plain(shortened(first.in_short, _NAME))}.", width="content")
        if first.kind == "suspect":
            _draw_read(first, "head", kind="primary", key="M")
        elif context.can_edit and first.fix and first.fix.add:
            st.button(
                "Add texts", type="primary", shortcut="V", key="head.add", on_click=_open_paste, args=(first.trait_key,)
            )


def _draw_read(finding: Finding, where: str, *, kind: Literal["primary", "secondary"], key: str | None = None) -> None:
    says = "Read it" if len(finding.sample_ids) == 1 else "Read them"
    name = f"doctor.read.{where}.{identity(finding)}"
    st.button(says, type=kind, shortcut=key, key=name, on_click=show_samples, args=(finding.sample_ids,))


def _draw_held(kinds: Collection[str]) -> None:
    """Draw in a line what else the check looked for; it found `kinds`."""
    held = [title for kind, title in KINDS.items() if kind not in kinds]
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="card.held"):
        more = f", and {len(held) - _NAMED} more" if len(held) > _NAMED else ""
        st.markdown(f"**Not found** {', '.join(held[:_NAMED])}{more}.", width="stretch")
        with st.popover("What was looked for", type="tertiary", key="doctor.kinds"):
            st.markdown("\n".join(f"- {title}" for title in KINDS.values()))


def _draw_kinds() -> None:
    """Draw what was looked for."""
    with folded(f"What was looked for: {len(KINDS)} kinds of problems", icon=":material/check:", key="looked_for"):
        st.markdown("\n".join(f"- {title}" for title in KINDS.values()))
        st.caption("There may still be problems that this check cannot detect.")


def _draw_download(context: _Context, shown: Sequence[Finding]) -> None:
    table = Findings(tuple(shown), len(context.samples)).to_frame()
    table["texts"] = [
        " | ".join(shortened(context.samples[each].text, _TEXT) for each in finding.sample_ids) for finding in shown
    ]
    with st.container(horizontal=True, horizontal_alignment="right"):
        download_table(table, key="doctor", file_name=f"{context.model.handle}-findings")


# ---- ignoring, opening and paging ------------------------------------------------------------------------------------


def _to_show(handle: str, examination: Examination) -> tuple[Finding, ...]:
    ignored = _ignored(handle)
    return grouped(each for each in examination.findings if identity(each) not in ignored)


def _ignored(handle: str) -> frozenset[str]:
    ignored: frozenset[str] = session.get(f"{_IGNORED}:{handle}", frozenset())
    return ignored


def _ignore(handle: str, findings: Iterable[Finding]) -> None:
    """Hide these findings for this session. A button callback."""
    session.store(f"{_IGNORED}:{handle}", _ignored(handle) | set(map(identity, findings)))


# ---- a finding -------------------------------------------------------------------------------------------------------


def _draw_finding(context: _Context, finding: Finding, *, whole: Finding | None = None) -> None:
    """Draw a finding: what it is, what it costs and what can be done, below it its texts or the findings that it
    consists of.

    A few are open, more are one click away. `whole` is the finding that it is a part of.
    """
    this, parts = identity(finding), finding.parts
    with st.container(key=f"doctor.{'part' if whole else 'one'}.{this}", gap="xsmall"):
        words, cost, actions = st.columns([3.3, 1.2, 1.25], gap="medium")
        with words, st.container(gap="xsmall"):
            if whole is None:
                st.header(plain(finding.in_short), anchor=False)
            if whole is not None or not parts:
                st.markdown(("" if whole else _about(context, finding)) + plain(finding.says))
            if finding.more and (whole is None or whole.more != finding.more):
                st.caption(plain(finding.more))
            _draw_texts(context, finding)
        if whole is None:
            with cost:
                _draw_cost(finding)
        with actions, st.container(horizontal=True, gap="xsmall"):
            _draw_actions(context, finding)
        if parts and (len(parts) <= _FEW or session.get(f"{_OPEN}:{this}")):
            for part in page_of(parts, _A_PAGE, key=f"doctor.page.{this}"):
                _draw_finding(context, part, whole=finding)


def _draw_cost(finding: Finding) -> None:
    """Draw a number with what it says: what the finding costs or, if that is not known, how many texts it is about."""
    cost, number = finding.cost, len(finding.sample_ids)
    if cost is not None:
        figure, says = f"{cost.right:,} of {cost.of:,}", cost.says
    elif number and finding.kind in _COUNTED:
        figure, says = f"{number:,}", _COUNTED[finding.kind][number != 1]
    else:
        return
    st.html(f'<div class="tb-cost"><b>{figure}</b><span>{escape(says)}</span></div>')


def _about(context: _Context, finding: Finding) -> str:
    """The name of the trait, unless the model has only one or the sentence names it."""
    trait = context.traits.get(finding.trait_key)
    named = trait is None or len(context.traits) == 1 or trait.name in finding.says
    return "" if trait is None or named else f"**{plain(shortened(trait.name, _NAME))}:** "


def _draw_texts(context: _Context, finding: Finding) -> None:
    """Draw a few texts with what a fix would do to them, unless the sentence quotes them in full."""
    texts = [context.samples[each] for each in finding.sample_ids if each in context.samples]
    if len(texts) <= _FEW and not finding.parts and not all(f"“{text.text}”" in finding.says for text in texts):
        changes = fixes.changes_of(finding.fix, context.samples) if context.can_edit else Changes()
        st.markdown("\n".join(_line(context, sample, changes) for sample in texts))


def _draw_actions(context: _Context, finding: Finding) -> None:
    this, fix, many = identity(finding), finding.fix, len(finding.parts)
    if finding.kind == "suspect" and many:
        _draw_read(finding, "card", kind="secondary")
    if context.can_edit and fix and fix.add:
        st.button(plain(fix.says), key=f"doctor.add.{this}", on_click=_open_paste, args=(finding.trait_key,))
    elif context.can_edit and fix and fix.rename:
        page_link("traits", fix.says)
    elif context.can_edit and fix:
        _draw_fix(context, finding, fix, this)
        if fix.other:
            _draw_fix(context, finding, fix.other, f"{this}{_OTHER}")
    if many > _FEW:
        opened = session.get(f"{_OPEN}:{this}", False)
        label, args = "Hide them" if opened else f"Show the {many:,}", (f"{_OPEN}:{this}", not opened)
        st.button(label, type="tertiary", key=f"doctor.open.{this}", on_click=session.store, args=args)
    elif finding.sample_ids and not many:
        ids = finding.sample_ids
        label = f"Show the {len(ids):,} texts" if len(ids) > _FEW else "Show it in the list"
        st.button(label, type="tertiary", key=f"doctor.rows.{this}", on_click=show_samples, args=(ids,))
    ignored = (context.model.handle, finding.parts or [finding])
    hint, key = "Hidden until you close this tab", f"doctor.ignore.{this}"
    st.button("Ignore", type="tertiary", key=key, help=hint, on_click=_ignore, args=ignored)


def _open_paste(trait: str) -> None:
    session.put({TRAIT: trait})
    go_to("paste")


def _draw_fix(context: _Context, finding: Finding, fix: Fix, subject: str) -> None:
    """Draw the button of a fix. It asks first if texts would be deleted, or if not all are on screen."""
    changes = fixes.changes_of(fix, context.samples)
    asks, args = (ask, (_QUESTION, subject)) if changes.deletions or finding.parts else (None, None)
    agreed = st.button(plain(fix.says), key=f"doctor.fix.{subject}", on_click=asks, args=args)
    if agreed and asks is None:
        with attempt() as fixing:
            _apply(context, changes)
        if fixing.done:
            st.rerun()


def _line(context: _Context, sample: Sample, changes: Changes) -> str:
    """A markdown list item: a text with its pole, and what a fix would do with it."""
    words = f"- {_pole(context, sample.trait, sample.quality)} “{plain(shortened(sample.text, _TEXT))}”"
    if sample.id in changes.deletions:
        becomes = "removed"
    elif sample.id in changes.edits and changes.edits[sample.id].group != sample.group:
        becomes = "kept with its source"
    elif sample.id in changes.edits:
        becomes = _pole(context, sample.trait, changes.edits[sample.id].quality)
    elif sample.id in changes.marks:
        becomes = "a test text" if changes.marks[sample.id][0] else "a training text"
    else:
        return words
    return f"{words} :gray-badge[will be {becomes}]"


def _pole(context: _Context, key: str, quality: float) -> str:
    trait = context.traits.get(key)
    if trait is None or quality == 0.5:
        return f"{NEUTRAL_SIGN} {quality:.2f}"
    label = plain(shortened(trait.positive_label if quality > 0.5 else trait.negative_label, _NAME))
    return f"{pole_sign(quality)} {label}{'' if quality in (0.0, 1.0) else f' {quality:.2f}'}"


# ---- fixes -----------------------------------------------------------------------------------------------------------


def _ask_once_more(context: _Context, shown: Sequence[Finding]) -> None:
    subject = asked(_QUESTION)
    if subject is None:
        return
    every = [each for finding in shown for each in (finding, *finding.parts)]
    fix = next((each.fix for each in every if identity(each) == subject.removesuffix(_OTHER)), None)
    fix = fix.other if fix and subject.endswith(_OTHER) else fix
    changes = fixes.changes_of(fix, context.samples)
    if fix is None or not context.can_edit or not len(changes):
        session.store(_QUESTION, None)
        return
    confirm(
        _QUESTION,
        title=f"{plain(fix.says)}?",
        body=_body(context, changes),
        yes="Apply",
        no="Not yet",
        icon=":material/healing:",
        act=lambda: _apply(context, changes),
    )


def _body(context: _Context, changes: Changes) -> str:
    touched = [context.samples[each] for each in sorted(changes.ids)]
    lines = [_line(context, sample, changes) for sample in touched[:_IN_QUESTION]]
    if len(touched) > _IN_QUESTION:
        lines.append(f"- and {len(touched) - _IN_QUESTION:,} more")
    note = "You can undo this. What somebody else changes meanwhile stays, and you are asked about it."
    return "\n".join(lines) + f"\n\n{note}"


def _apply(context: _Context, changes: Changes) -> None:
    updates: dict[int, dict[str, object]] = {
        each: {"quality": edit.quality, "group": edit.group or ""} for each, edit in changes.edits.items()
    }
    for each, (held_out, must_pass) in changes.marks.items():
        updates.setdefault(each, {}).update(held_out=held_out, must_pass=must_pass)
    draft = draft_of(context.model)
    own = dict(context.samples)
    if draft.handle != context.model.handle:
        own = _in_draft(draft, [context.samples[each] for each in sorted(changes.ids)])
        updates, deleted = (
            {own[at].id: fields for at, fields in updates.items()},
            [own[at].id for at in changes.deletions],
        )
        own = {each.id: each for each in own.values()}
    else:
        deleted = [*changes.deletions]
    session.flash(apply(draft, _said, own, updates=updates, deletes=sorted(deleted)))
    if draft.handle != context.model.handle:
        session.next_model(draft.handle)
    if conflict_in(draft.handle) is not None:
        go_to("samples")


def _in_draft(draft: Model, samples: Sequence[Sample]) -> dict[int, Sample]:
    """The copies of samples in a draft, by the ids of the samples; raise `SampleNotFound` if it has not all of them."""
    left: dict[tuple[str, str, float], list[Sample]] = {}
    for each in all_samples(draft.handle, client().traits.list(draft.handle)):
        left.setdefault((each.trait, each.content_sha256, each.quality), []).append(each)
    copies: dict[int, Sample] = {}
    for each in samples:
        same = left.get((each.trait, each.content_sha256, each.quality))
        if not same:
            raise SampleNotFound(f"Your draft {draft.handle} has changed these samples already. Check the draft.")
        copies[each.id] = same.pop(0)
    return copies


def _said(changed: int, deleted: int) -> str:
    return f"Applied: {_named(changed, deleted)}."


def _named(changed: int, deleted: int) -> str:
    parts = ((changed, "changed"), (deleted, "deleted"))
    return " and ".join(f"{count(number, 'sample')} {verb}" for number, verb in parts if number) or "nothing changed"
