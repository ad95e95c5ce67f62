"""Score: score a text as you type, compare it with a second text, see the reasons, and send feedback."""

import streamlit as st

from traitbench.app.charts.dumbbell import signed
from traitbench.app.local import preview
from traitbench.app.presentation.figures import names_of
from traitbench.app.shell import session
from traitbench.app.shell.navigation import page_link
from traitbench.app.shell.service import attempt, client, version
from traitbench.app.shell.text import count, is_address, plain
from traitbench.app.widgets.common.confidence import draw_trained_before
from traitbench.app.widgets.common.heading import heading
from traitbench.app.widgets.common.model_picker import chosen_model
from traitbench.app.widgets.common.quality import discovered_note
from traitbench.app.widgets.common.unreadable import cannot_be_read
from traitbench.app.widgets.score.card import draw_card, draw_pairs, draw_words
from traitbench.app.widgets.score.differences import differences, draw_differences
from traitbench.app.widgets.score.explanation import HELP, WHY, draw_reasons, explained, pick_text
from traitbench.app.widgets.score.feedback import draw_feedback
from traitbench.app.widgets.score.live import read_while_typing
from traitbench.app.widgets.score.official import draw_official, draw_official_pair, draw_text, draw_text_pair
from traitbench.app.widgets.score.rehearsal import rehearsed
from traitbench.app.widgets.score.texts import (
    AGAINST,
    COMPARE,
    TEXT,
    TEXTS_IN_LINK,
    link_texts,
    offer_reading,
    offer_text,
    restore_texts,
)
from traitbench.app.widgets.score.unsure import draw_unsure
from traitbench.app.widgets.train.learning import draw_learning
from traitbench.contract.scores import Card, Comparison

ACTIVE = "active"


def scored_by_service(pinned: str, texts: list[str]) -> tuple[list[Card], Comparison | None]:
    """The cards from the service: a score call for one text, a comparison for two."""
    if len(texts) == 1:
        return [client().scores.score(pinned, texts[0])], None
    both = client().scores.compare(pinned, *texts)
    return [both.a, both.b], both


model = chosen_model()
restore_texts()
versions = list(client().versions.list(model.handle))
numbers = [f"v{each.version_no}" for each in versions]
active = f"v{model.version_no}" if model.version_no is not None else ""
chosen = session.on_screen("version", ACTIVE)
heading("score", model, version=chosen if chosen in numbers else active, **link_texts())

if model.state == "archived":
    st.info("This model was archived and no longer scores. You can still read its traits, samples and versions.")
    page_link("versions", "View versions")
    st.stop()

traits = client().traits.list(model.handle)
names = names_of(traits)
if model.version_no is not None and active not in numbers:
    cannot_be_read(f"v{model.version_no}", "the active version is damaged", "version", key="score.unreadable")
if model.version_no is not None and not numbers:
    st.stop()
typing, answer = st.columns([5, 6], gap="large")

# ---- the version and the texts ---------------------------------------------------------------------------------------

with typing:
    picked = ACTIVE
    if numbers:
        picked = st.selectbox(
            "Version",
            [ACTIVE, *numbers],
            key="version",
            bind="query-params",
            help=f"`active` always means the active version, now {active}.",
        )
    text = st.text_area(
        "Text",
        key=TEXT,
        height=220,
        persist_state="session",
        placeholder="Type or paste a text. The scores update as you type.",
    )
    against = ""
    if st.toggle("Compare with a second text", key=COMPARE, persist_state="session"):
        against = st.text_area(
            "Second text",
            key=AGAINST,
            height=220,
            persist_state="session",
            placeholder="Another wording, to see what changes.",
        )
    if any(trait.sample_count for trait in traits):
        offer_text(model.handle)
    if len(text) + len(against) > TEXTS_IN_LINK:
        st.caption(f"Copied links leave out texts of more than {TEXTS_IN_LINK:,} characters.")
    read_while_typing(TEXT, AGAINST)
    if numbers:
        draw_learning(model, traits, versions)

# ---- the score card, from a version or from a rehearsal of the draft -------------------------------------------------

chosen = active if picked == ACTIVE else picked
texts = [text, against] if against.strip() else [text]
cards: list[Card] = []
comparison: Comparison | None = None

with answer:
    if not numbers:
        can_rehearse = any(trait.positive_samples and trait.negative_samples for trait in traits)
        with st.container(border=True, key="score.draft"):
            if can_rehearse:
                st.markdown("**Not trained yet.** This preview shows how the model would score after training.")
                page_link("train", "Train this model")
            else:
                st.markdown("**Not trained yet.** To preview scores, add a sample at each pole of a trait.")
                page_link("samples" if traits else "traits", "Add samples" if traits else "Add traits")
        if not can_rehearse:
            st.stop()
    if not text.strip():
        with st.container(border=True, key="score.empty"):
            st.subheader("Nothing to score yet", icon=":material/notes:", anchor=False)
            st.markdown("Type or paste a text to see its scores.")
        st.stop()

    addresses = {key: each for key, each in zip((TEXT, AGAINST), texts, strict=False) if is_address(each)}
    for key, address in addresses.items():
        offer_reading(key, address)
    if addresses:
        st.stop()

    if numbers and chosen not in numbers:
        st.caption("This version cannot be read. Choose another one.")
        st.stop()
    source, by_service, rehearsal = "", False, None
    try:
        if numbers:
            scoring_version = version(model.handle, versions[numbers.index(chosen)])
            cards = preview.score(scoring_version, texts)
            comparison = preview.compare(scoring_version, *cards) if against.strip() else None
            source = f"Preview with {chosen}, updated as you type"
        elif rehearsal := rehearsed(model, traits):
            cards = preview.score_rehearsal(rehearsal, texts)
            comparison = preview.compare_rehearsal(rehearsal, *cards) if against.strip() else None
            source = f"Rehearsal from {count(rehearsal.samples, 'sample')} (nothing is stored)"
    except preview.PreviewUnavailable as reason:
        st.caption(plain(str(reason)))
        source, by_service = f"Scored by the service with {chosen}", True
        if numbers:
            with attempt():
                cards, comparison = scored_by_service(f"{model.handle}@{chosen}", texts)
    if not cards:
        st.stop()

    st.badge(source, icon=":material/visibility:", color="gray")
    if numbers:
        draw_trained_before(model, versions[numbers.index(chosen)])
    draw_card(cards[0], names, key="score.card", file_name=f"{model.handle}-scores")
    draw_words(cards[0], names)
    discovered_note(traits)
    if st.toggle("Why these scores?", key=WHY, persist_state="session", help=HELP):
        at = pick_text(texts)
        with attempt():
            draft = preview.explain_rehearsal(rehearsal, texts[at]) if rehearsal else None
            reasons = explained(model.handle, chosen, texts[at]) if draft is None else draft
            draw_reasons(reasons, cards[at], texts[at], traits, names, file_name=model.handle)
    if numbers:
        draw_feedback(model, chosen, text, cards[0], traits)
    else:
        st.caption("You can give feedback on scores once the model is trained.")
    if by_service:
        st.markdown(f"Request `{cards[0].metadata.request_id}`")
    elif numbers and len(cards) == 1:
        draw_official(model.handle, chosen, text, cards[0])
    with st.expander("As plain text", icon=":material/content_paste:"):
        draw_text(cards[0])

# ---- two texts -------------------------------------------------------------------------------------------------------

if comparison:
    first, second = comparison.a, comparison.b
    rows = differences(comparison, names)
    st.subheader("What changes with the second text", anchor=False)
    with st.container(horizontal=True):
        st.metric("Composite", f"{first.composite} → {second.composite}", width=160)
        st.metric("Change", signed(comparison.improvement), width=160)
        st.metric("Traits changed", f"{sum(pair.delta != 0 for pair in rows)} of {len(rows)}", width=160)
    draw_unsure((("Text", first), ("Second text", second)), names)
    draw_pairs(rows, ("Text", "Second text"), key="score.change", file_name=f"{model.handle}-two-texts")
    draw_differences(comparison, names)
    if numbers and not by_service:
        draw_official_pair(model.handle, chosen, (text, against), comparison)
    with st.expander("Side by side as plain text", icon=":material/content_paste:"):
        draw_text_pair(comparison)
