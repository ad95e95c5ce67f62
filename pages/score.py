"""Score: score a text as you type and see why; compare it with a second text; send feedback; present it to a room."""

import streamlit as st

from traitbench.contract.scores import Card, Comparison
from traitbench.display.text import is_address, plain
from traitbench.local import preview
from traitbench_app.parts.card import draw_card, draw_change, draw_change_numbers, draw_numbers
from traitbench_app.parts.explanation import HELP, WHY, draw_reasons, explained, pick_text
from traitbench_app.parts.feedback import draw_feedback
from traitbench_app.parts.folded import folded, is_open
from traitbench_app.parts.heading import heading
from traitbench_app.parts.learning import draw_learning
from traitbench_app.parts.linked_version import say_if_gone
from traitbench_app.parts.lit_words import draw_highlighted, highlights_of, pick_highlights
from traitbench_app.parts.live import read_while_typing
from traitbench_app.parts.model_picker import chosen_model
from traitbench_app.parts.quality import discovered_note
from traitbench_app.parts.scorecard import ordered, poles_of
from traitbench_app.parts.scorer import Scorer
from traitbench_app.parts.unreadable import cannot_be_read
from traitbench_app.parts.untrained import can_rehearse, draw_untrained
from traitbench_app.parts.version_figures import names_of
from traitbench_app.score.differences import draw_differences
from traitbench_app.score.keys import on_keys
from traitbench_app.score.official import draw_official, draw_official_pair, draw_text, draw_text_pair
from traitbench_app.score.present import present, presenting, start
from traitbench_app.score.rehearsal import rehearsed
from traitbench_app.shell import session
from traitbench_app.shell.navigation import page_link
from traitbench_app.shell.service import attempt, client, version
from traitbench_app.workspace.texts import (
    AGAINST,
    COMPARE,
    IN_USE,
    TEXT,
    TEXTS_IN_LINK,
    link_texts,
    offer_reading,
    offer_text,
    restore_texts,
    usual_version,
)


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
usual = usual_version(numbers)
offered = [IN_USE, *numbers]
chosen = session.on_screen("version", usual)

# ---- before a room ---------------------------------------------------------------------------------------------------

if presenting() and model.state != "archived":
    with st.container(key="present.hidden"):
        if numbers:
            st.selectbox("Version", offered, offered.index(usual), key="version", bind="query-params")
    present(model, client().traits.list(model.handle), versions, chosen if chosen in numbers else active)
    st.stop()

opened = {"numbers": "true"} if is_open("numbers") else {}
traits = client().traits.list(model.handle)
heading("score", model, traits, version=chosen if chosen in numbers else active, **link_texts(), **opened)

if model.state == "archived":
    st.info("This model was archived and no longer scores. You can still read its traits, samples and versions.")
    page_link("versions", "View versions")
    st.stop()

if numbers:
    say_if_gone(chosen, offered)
names, poles = names_of(traits), poles_of(traits)
main = model.main_trait
if model.version_no is not None and active not in numbers:
    cannot_be_read(f"v{model.version_no}", "the version in use is damaged", "version", key="score.unreadable")
if model.version_no is not None and not numbers:
    st.stop()
if not numbers:
    draw_untrained(model, traits)
    if not can_rehearse(traits) and not session.get(TEXT):
        st.stop()

# ---- the texts and the version ---------------------------------------------------------------------------------------

difference = st.container(key="score.difference")
two = bool(session.get(COMPARE))
left, right = st.columns(2 if two else [5, 6], gap="large")
against = ""

with left:
    text = st.text_area(
        "Text",
        key=TEXT,
        height=110 if two else 160,
        persist_state="session",
        placeholder="Type or paste a text. The scores update as you type.",
    )
    with st.container(horizontal=True, vertical_alignment="center", key="score.controls"):
        if any(trait.sample_count for trait in traits):
            offer_text(model.handle)
        st.toggle("Compare with a second text", key=COMPARE, persist_state="session")
        st.button(
            "Present",
            icon=":material/slideshow:",
            type="tertiary",
            key="score.present",
            on_click=start,
            help="Show the scores in large type, for a room (key P).",
        )
        on_keys({"p": start}, field=TEXT, key="score.keys")
    marked = st.container(key="score.marked")
if two:
    with right:
        against = st.text_area(
            "Second text",
            key=AGAINST,
            height=110,
            persist_state="session",
            placeholder="Another wording, to see what changes.",
        )
        marked_second = st.container(key="score.marked_second")
cards_left, cards_right = (left.container(), right.container()) if two else (right, right)
below = st.container() if two else right
with left:
    picked = IN_USE
    if numbers:
        picked = st.selectbox(
            "Version",
            offered,
            offered.index(usual),
            key="version",
            bind="query-params",
            help=f"{active} is in use now.",
        )
    if len(text) + len(against) > TEXTS_IN_LINK:
        st.caption(f"Copied links leave out texts of more than {TEXTS_IN_LINK:,} characters.")
    read_while_typing(TEXT, AGAINST)
    if numbers:
        draw_learning(model, traits, versions)

# ---- the scores, from a version or from a rehearsal of the draft -----------------------------------------------------

chosen = active if picked == IN_USE else picked
texts = [text, against] if against.strip() else [text]
cards: list[Card] = []
comparison: Comparison | None = None

with cards_right:
    if not numbers and not can_rehearse(traits):
        st.stop()
    if not text.strip():
        st.markdown("Type a text, or try one with the button below the field.")
        st.stop()

    addresses = {key: each for key, each in zip((TEXT, AGAINST), texts, strict=False) if is_address(each)}
    for key, address in addresses.items():
        offer_reading(key, address)
    if addresses:
        st.stop()

    if numbers and chosen not in numbers:
        st.caption("This version cannot be read. Choose another one.")
        st.stop()
    source, scorer, rehearsal = "", None, None
    try:
        if numbers:
            scorer = Scorer(version(model.handle, versions[numbers.index(chosen)]))
            source = f"Scored with {chosen}"
        elif rehearsal := rehearsed(model, traits):
            scorer = Scorer(rehearsal)
        if scorer:
            cards = scorer.cards(texts)
            comparison = scorer.compare(*cards) if len(cards) == 2 else None
    except preview.PreviewUnavailable as reason:
        scorer = None
        st.caption(plain(str(reason)))
        source = f"Scored by the service with {chosen}"
        if numbers:
            with attempt():
                cards, comparison = scored_by_service(f"{model.handle}@{chosen}", texts)
    if not cards:
        st.stop()

if comparison:
    with difference:
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            st.subheader("What changes with the second text", anchor=False, width="content")
            st.caption("○ text, ◆ second text", width="content")
        draw_change(comparison, names, poles, main=main, key="score.change")
for place, card, key in zip((cards_left, cards_right), cards, ("score.card", "score.second_card"), strict=False):
    with place:
        draw_card(card, names, poles, main=main, key=key)
with left:
    if numbers:
        st.badge(source, icon=":material/visibility:", color="gray")

# ---- the words that decide -------------------------------------------------------------------------------------------

with difference if comparison else marked:
    keys = ordered([*cards[0].scores], main)
    trait = pick_highlights(keys, names, texts, quick=scorer is not None)
if trait:
    for place, each in zip((marked, marked_second) if two else (marked,), texts, strict=False):
        with place, attempt():
            explain = scorer.highlights if scorer else lambda one: explained(model.handle, chosen, one)
            by = scorer.identity if scorer else f"{model.handle}@{chosen}"
            if highlighted := highlights_of(each, by, explain).get(trait):
                draw_highlighted(highlighted, each, poles.get(trait, ("negative", "positive")))

# ---- what else one can do --------------------------------------------------------------------------------------------

with below:
    if numbers:
        draw_feedback(model, chosen, text, cards[0], traits)
    else:
        st.caption("You can correct scores once the model is trained.")
    if st.toggle("What each word adds", key=WHY, persist_state="session", help=HELP):
        at = pick_text(texts)
        with attempt():
            draft = preview.explain_rehearsal(rehearsal, texts[at]) if rehearsal else None
            reasons = explained(model.handle, chosen, texts[at]) if draft is None else draft
            draw_reasons(reasons, cards[at], texts[at], traits, names, file_name=model.handle)
    with folded("All figures", icon=":material/query_stats:", key="numbers") as shown:
        if shown:
            if comparison:
                draw_differences(comparison, names)
                draw_change_numbers(comparison, names, key="score.change", file_name=f"{model.handle}-two-texts")
                draw_text_pair(comparison)
            draw_numbers(cards[0], names, poles, key="score.card", file_name=f"{model.handle}-scores")
            discovered_note(traits)
            draw_text(cards[0])
            if scorer is None:
                st.markdown(f"Request `{cards[0].metadata.request_id}`")
            elif numbers and comparison:
                draw_official_pair(model.handle, chosen, (text, against), comparison)
            elif numbers:
                draw_official(model.handle, chosen, text, cards[0])
