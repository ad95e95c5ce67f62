"""Ask a corpus: what share of a batch is on a pole, from an audit sample that a person labels without seeing scores."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from traitbench.analysis import corpus
from traitbench.analysis.corpus import Answer, Estimate
from traitbench.batch.audits import Audit
from traitbench.contract.models import Model
from traitbench.contract.samples import LONGEST_TEXT
from traitbench.contract.texts import is_url
from traitbench.contract.traits import Trait
from traitbench.display.charts import shares
from traitbench.display.charts.shares import ChartShare
from traitbench.display.colours import PALETTE, SIDES
from traitbench.display.text import count, plain
from traitbench.local.label_session import LabelSession, LabelWork, item_id
from traitbench.local.labeller import LabelAnswer as LabelAnswer
from traitbench.tables.writing import csv_file
from traitbench_app.batch import audit_answers
from traitbench_app.batch.results import NOTHING_COUNTS
from traitbench_app.parts.chart import chart
from traitbench_app.parts.controls import download
from traitbench_app.parts.feedback import why_none
from traitbench_app.parts.labeller import labeller
from traitbench_app.shell import session
from traitbench_app.shell.navigation import page_link
from traitbench_app.shell.service import attempt, client
from traitbench_app.workspace import stored_batches
from traitbench_app.workspace.batches import Batch

POLE = "pole"

_TRAIT, _ANSWERED = "batch.ask.trait", "batch.ask.answered"
_SIZE, _BY, _PROMISE = "batch.ask.size", "batch.ask.by", "batch.ask.promise"
_ALL = "All texts together"
_PROMISES = {0.8: "80 %", 0.9: "90 %", 0.95: "95 %"}
_SURE_FROM = 30


def draw_ask(model: Model, batch: Batch, traits: Sequence[Trait]) -> None:
    """Draw the question, then the labelling, then the answer; each replaces the one before."""
    known = [trait for trait in traits if trait.key in batch.traits]
    if not known or batch.done == batch.failed:
        st.info("No text of this batch has a score.", icon=":material/filter_alt_off:")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        trait = _pick_trait(known)
        positive = _pick_pole(trait)
    audit = batch.audits.get(trait.key)
    whole = _is_whole(audit)
    scored = len(audit_answers.scored_rows(batch, trait.key, whole=whole))
    pole = trait.positive_label if positive else trait.negative_label
    st.header(f"What share of these {scored:,} texts is *{plain(pole)}*?", anchor=False)
    if audit is None:
        _draw_question(batch, trait, positive, scored)
    elif audit.open_rows and session.get(_ANSWERED) != _id(batch, audit):
        _draw_labelling(model, batch, trait, audit)
    else:
        _draw_answer(model, batch, trait, audit, positive=positive)


def _is_whole(audit: Audit | None) -> bool:
    """Whether texts that say nothing count: as the audit was drawn, or as chosen beside the shares."""
    return bool(session.get(NOTHING_COUNTS)) if audit is None else audit.whole


def _pick_trait(traits: Sequence[Trait]) -> Trait:
    if len(traits) == 1:
        return traits[0]
    names = {trait.key: trait.name for trait in traits}
    # A value of another batch would not be among the options.
    if session.get(_TRAIT) not in names:
        session.store(_TRAIT, None)
    key = st.selectbox(
        "Trait", list(names), key=_TRAIT, format_func=names.__getitem__, persist_state="session", width=280
    )
    return next(trait for trait in traits if trait.key == key)


def _pick_pole(trait: Trait) -> bool:
    """Draw the choice of the pole and return whether it is the positive one."""
    options = {f"{SIDES[side].sign} {_label(trait, positive=side)}": side for side in (True, False)}
    first = next(iter(options))
    picked = st.segmented_control(
        "Pole", list(options), default=first, required=True, key=POLE, bind="query-params", label_visibility="collapsed"
    )
    return options.get(picked or first, True)


# ---- the question ----------------------------------------------------------------------------------------------------


def _draw_question(batch: Batch, trait: Trait, positive: bool, scored: int) -> None:
    whole = _is_whole(None)
    counting = corpus.percent(audit_answers.counted(batch, trait.key, positive=positive, whole=whole))
    st.markdown(
        f"**{counting}** of the scores are on this side of 50, but some scores are wrong. Label a random sample "
        "without seeing scores to get an estimate with a 95 % interval."
    )
    columns = audit_answers.group_columns(batch)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        size = scored
        if scored > audit_answers.SIZES[0]:
            size = st.select_slider(
                "Texts to label",
                _sizes(scored),
                value=audit_answers.SIZES[scored >= audit_answers.SIZES[1]],
                key=_SIZE,
                width=280,
                help="More texts, narrower interval: 200 give an interval half as wide as 50.",
                persist_state="page",
            )
        by = _ALL
        if columns:
            by = st.selectbox(
                "Compare",
                [_ALL, *columns],
                key=_BY,
                width=220,
                help="Draws the same number of texts from each group in a column. Then no score can be guaranteed.",
                persist_state="page",
            )
    if st.button(f"Label {count(size, 'text')}", type="primary", icon=":material/label:", key="batch.ask.draw"):
        column = None if by == _ALL else by
        _store(
            batch,
            audit_answers.drawn(batch, trait.key, size=size, seed=secrets.randbelow(1_000_000), by=column, whole=whole),
        )
        session.store(_ANSWERED, None)
        st.rerun()
    left_out = len(audit_answers.scored_rows(batch, trait.key, whole=True)) - scored
    if left_out:
        st.caption(f"{count(left_out, 'text')} left out, because they say nothing, such as “n/a”.")
    st.caption("The labels stay with this batch. They never become samples of the model unless you add them.")


def _sizes(scored: int) -> list[int]:
    """The sizes of a sample of so many texts; the last one is all of them if they are few."""
    return [*(size for size in audit_answers.SIZES[:-1] if size < scored), min(scored, audit_answers.SIZES[-1])]


# ---- labelling -------------------------------------------------------------------------------------------------------


def _draw_labelling(model: Model, batch: Batch, trait: Trait, audit: Audit) -> None:
    run = _id(batch, audit)
    labeller(
        _labels(batch, trait, audit),
        key="batch.ask.labeller",
        run=run,
        on_answers=partial(_take, batch, trait),
        keep="" if model.zero_data_retention else f"traitbench.audit.{run}",
        empty="All texts are labelled.",
    )
    judged = len(audit.judged)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Answer now",
            icon=":material/query_stats:",
            key="batch.ask.now",
            disabled=judged < corpus.FEWEST,
            on_click=session.store,
            args=(_ANSWERED, run),
            help=f"Needs at least {corpus.FEWEST} labels. With fewer than {_SURE_FROM} the interval is wide.",
        )
        _start_over_button(batch, trait.key)
        st.caption("Scores are hidden so that they do not influence you. You can leave this page and come back.")


def _labels(batch: Batch, trait: Trait, audit: Audit) -> LabelSession:
    """Return the rows of an audit in their order. Their ids name the audit, because an answer may come late."""
    run = _id(batch, audit)
    decided = {item_id(f"{run}.{row}", trait.key): label for row, label in audit.decided.items()}
    texts = {f"{run}.{row}": batch.texts[row] for row in audit.rows}
    # Without hints: the labels measure the scores, so they must not follow them.
    return LabelSession(LabelWork([trait], texts, hints=False, decided=decided))


def _take(batch: Batch, trait: Trait, answers: Sequence[LabelAnswer]) -> None:
    """Store what the component sent; a repeated answer changes nothing."""
    before = batch.audits.get(trait.key)
    if before is None:
        return
    labels = _labels(batch, trait, before)
    labels.take(answers)
    rows = {int(item.rpartition(":")[0].rpartition(".")[2]): label for item, label in labels.decided.items()}
    audit = replace(before, labels=rows)
    if any(answer.action == "leave" for answer in answers) and len(audit.judged) >= corpus.FEWEST:
        session.store(_ANSWERED, _id(batch, audit))
    if audit.decided != before.decided:
        _store(batch, audit)


def _store(batch: Batch, audit: Audit) -> None:
    """Store the audit with the batch, and write both to the home folder."""
    batch.audits[audit.trait] = audit
    stored_batches.keep_audits(batch)


def _start_over_button(batch: Batch, trait: str) -> None:
    with st.popover("Start over", icon=":material/restart_alt:", type="tertiary", key="batch.ask.over"):
        st.markdown("This deletes the labels of this audit.")
        if st.button("Delete the labels", key="batch.ask.forget"):
            batch.audits.pop(trait, None)
            stored_batches.keep_audits(batch)
            st.rerun()


# ---- the answer ------------------------------------------------------------------------------------------------------


def _draw_answer(model: Model, batch: Batch, trait: Trait, audit: Audit, *, positive: bool) -> None:
    pole = _label(trait, positive=positive)
    promised = float(session.get(_PROMISE) or corpus.PROMISED)
    try:
        answer = audit_answers.answer_of(batch, audit, pole=pole, positive=positive, promised=promised)
    except ValueError as reason:
        st.warning(f"{reason} Label more texts.", icon=":material/info:")
        _more_buttons(batch, audit)
        return
    share = answer.share
    with st.container(horizontal=True, vertical_alignment="center", gap="large", key="batch.ask.head"):
        st.metric(
            f"{SIDES[positive].sign} {plain(pole)}",
            corpus.percent(share.value),
            width="content",
            help=answer.method,
        )
        st.metric("95 % interval", corpus.between(share), width="content")
        st.metric("By the scores alone", corpus.percent(share.counted), width="content")
    rows = [_share("All texts", share), *(_share(group.name, group.share) for group in answer.groups)]
    chart(
        shares.figure(rows, SIDES[positive].colour, PALETTE),
        alt=shares.alt(rows, pole),
        table=shares.table(rows),
        key="batch.ask.chart",
        file_name=f"{batch.handle}-{trait.key}-shares",
    )
    st.markdown("**The answer, to copy**")
    st.code(answer.paragraph, language=None, wrap_lines=True)
    _draw_cut(answer)
    _more_buttons(batch, audit, answer=answer)
    labels = {batch.texts[row]: label for row, label in audit.judged.items()}
    offer_feedback(model, trait, labels, run=_id(batch, audit))


def _draw_cut(answer: Answer) -> None:
    with st.container(border=True, key="batch.ask.cut"):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.markdown(f"**From which score on can I trust “{plain(answer.pole)}”?**", width="content")
            if not answer.stratified:
                st.segmented_control(
                    "Guarantee",
                    list(_PROMISES),
                    default=corpus.PROMISED,
                    required=True,
                    format_func=_PROMISES.__getitem__,
                    key=_PROMISE,
                    persist_state="session",
                    label_visibility="collapsed",
                    width="content",
                )
        sentence = corpus.cut_sentence(answer)
        if answer.cut is None:
            st.markdown(plain(sentence))
            return
        side = "or more" if answer.positive else "or less"
        st.markdown(f"### {answer.cut.score:g} {side}")
        st.markdown(plain(sentence))


def _more_buttons(batch: Batch, audit: Audit, *, answer: Answer | None = None) -> None:
    larger = [
        size
        for size in _sizes(len(audit_answers.scored_rows(batch, audit.trait, whole=audit.whole)))
        if size > len(audit.rows)
    ]
    with st.container(horizontal=True, vertical_alignment="center"):
        if answer is not None:
            figures = answer.rows()
            download(
                "CSV",
                csv_file(list(figures[0]), [list(row.values()) for row in figures]),
                f"{batch.handle}-{batch.version}-{audit.trait}-answer.csv",
                key="batch.ask.csv",
                help="The figures with method and seed.",
            )
        if audit.open_rows:
            st.button(
                f"Label the other {len(audit.open_rows)}",
                icon=":material/label:",
                key="batch.ask.rest",
                on_click=session.store,
                args=(_ANSWERED, None),
            )
        elif larger and st.button(
            f"Label {larger[0] - len(audit.rows)} more", icon=":material/label:", key="batch.ask.more"
        ):
            _store(batch, audit_answers.extended(batch, audit, larger[0]))
            session.store(_ANSWERED, None)
            st.rerun()
        if audit.decided:
            st.button(
                "Undo the last label",
                icon=":material/undo:",
                key="batch.ask.undo",
                type="tertiary",
                on_click=_undo_last,
                args=(batch, audit.trait),
            )
        _start_over_button(batch, audit.trait)
    if answer is not None and answer.left_out:
        st.caption(plain(corpus.left_out_sentence(answer)))


def _undo_last(batch: Batch, trait: str) -> None:
    audit = batch.audits.get(trait)
    if audit is not None and audit.last is not None:
        _store(batch, audit.undo(audit.last))
        session.store(_ANSWERED, None)


def _share(name: str, of: Estimate) -> ChartShare:
    return ChartShare(name, 100 * of.value, 100 * of.interval[0], 100 * of.interval[1], 100 * of.counted, of.labelled)


def _label(trait: Trait, *, positive: bool) -> str:
    return trait.positive_label if positive else trait.negative_label


def _id(batch: Batch, audit: Audit) -> str:
    return f"{batch.id}.{audit.trait}.{audit.seed}"


# ---- feedback --------------------------------------------------------------------------------------------------------

_SENT = "batch.feedback.sent"


def offer_feedback(model: Model, trait: Trait, labels: Mapping[str, float], *, run: str) -> None:
    """Draw the button that sends the labels of an audit; after that, what was sent."""
    sent: Mapping[str, int] = session.get(_SENT, {})
    if run in sent:
        st.success(f"{count(sent[run], 'label')} sent. The model learns them by itself.")
        page_link("samples", "View the feedback")
        return
    if reason := why_none(model, ""):
        st.caption(f":material/lock: The labels cannot be added to the model. {reason}")
        return
    # As feedback, the page of a web address would be fetched.
    usable = {
        text: label for text, label in labels.items() if text.strip() and len(text) <= LONGEST_TEXT and not is_url(text)
    }
    with st.popover("Teach the model these labels", icon=":material/school:", type="tertiary", key="batch.feedback"):
        st.markdown(
            f"Send {count(len(usable), 'label')} of {plain(trait.name)} to the model, which learns them by itself. "
            "A later version cannot be audited with these texts any more."
        )
        # Never by itself: a version that has learned these labels cannot be audited with them any more.
        if st.button("Send as feedback", type="primary", key="batch.feedback.send"):
            done = 0
            with attempt() as sending, st.spinner("Sending"):
                for text, label in usable.items():
                    client().scores.score(model.handle, text, traits=[trait.key], feedback={trait.key: label})
                    done += 1
            if done:
                session.store(_SENT, {**sent, run: done})
            if sending.done:
                st.rerun()
