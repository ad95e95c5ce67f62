"""Score: score a text as you type and see why; compare it with a second text; send feedback; present it to a room."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from traitbench.contract.explanations import Explanation
from traitbench.contract.scores import Card, Comparison
from traitbench.contract.versions import Version
from traitbench.display.text import is_address, plain
from traitbench.errors import Unreachable
from traitbench.local import preview
from traitbench.local.version import LocalVersion
from traitbench_app.parts.card import (
    draw_card,
    draw_change,
    draw_change_numbers,
    draw_numbers,
    ordered,
    picked_bar,
    poles_of,
    score_counts,
)
from traitbench_app.parts.controls import cannot_be_read, folded, is_open, question
from traitbench_app.parts.feedback import draw_feedback, draw_learning, open_feedback, why_none
from traitbench_app.parts.heading import chosen_model, heading, say_if_gone
from traitbench_app.parts.next_step import can_rehearse, draw_untrained
from traitbench_app.parts.quality import discovered_note
from traitbench_app.parts.reasons import (
    draw_adding,
    draw_nearest,
    pick_text,
    reasons_of,
)
from traitbench_app.parts.scored_text import light_and_say, lit_field, read_while_typing
from traitbench_app.parts.scorer import PageScorer, is_preview, scorer_of
from traitbench_app.parts.taught_text import draw_teaching, teachable_text
from traitbench_app.parts.teaching import rehearsed
from traitbench_app.parts.version_figures import names_of
from traitbench_app.score.official import draw_differences, draw_official, draw_official_pair, draw_text, draw_text_pair
from traitbench_app.score.present import present, presenting, start
from traitbench_app.shell import session
from traitbench_app.shell.navigation import page_link
from traitbench_app.shell.service import attempt, client
from traitbench_app.workspace.texts import (
    AGAINST,
    COMPARE,
    IN_USE,
    TEXT,
    TEXTS_IN_LINK,
    are_fresh,
    link_texts,
    offer_reading,
    offer_text,
    restore_texts,
    usual_version,
)

BARS = "score.card"

model = chosen_model()
restore_texts(model)
versions = list(client().versions.list(model.handle))
numbers = [f"v{each.version_no}" for each in versions]
active = f"v{model.version_no}" if model.version_no is not None else ""
usual = usual_version(numbers)
offered = [IN_USE, *numbers]
chosen = session.on_screen("version", usual)

# ---- before a room ---------------------------------------------------------------------------------------------------

traits = client().traits.list(model.handle)
if presenting() and model.state != "archived" and traits:
    with st.container(key="present.hidden"):
        if numbers:
            st.selectbox("Version", offered, offered.index(usual), key="version", bind="query-params")
    present(model, traits, versions, chosen if chosen in numbers else active)
    st.stop()

opened = {name: "true" for name in ("reasons", "numbers") if is_open(name)}
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

# ---- the texts, and beside or below them their scores ----------------------------------------------------------------

difference = st.container(key="scored.difference")
two = bool(session.get(COMPARE))
left, right = st.columns(2 if two else [1.22, 1], gap="small")
against, fields = "", list[DeltaGenerator]()

with left, st.container(border=True, key="card.text"):
    with st.container(horizontal=True, vertical_alignment="center", key="score.controls"):
        if any(trait.sample_count for trait in traits):
            st.caption("Edit this, or:", width="content")
            offer_text(model)
        st.toggle("Second text", key=COMPARE, persist_state="session", help="Compare it with another wording.")
        st.button(
            "Present",
            icon=":material/slideshow:",
            type="tertiary",
            key="score.present",
            on_click=start,
            shortcut="P",
            help="Show the scores in large type, for a room.",
        )
    text, slot = lit_field(TEXT, session.get(TEXT, ""))
    fields.append(slot)
    said = st.container(key="words-of.text")
    if len(text) > TEXTS_IN_LINK:
        st.caption(f"Copied links leave out texts of more than {TEXTS_IN_LINK:,} characters.")
if two:
    with right, st.container(border=True, key="card.second_text"):
        st.caption("Second text")
        against, slot = lit_field(AGAINST, session.get(AGAINST, ""), label="Second text")
        fields.append(slot)
        said_second = st.container(key="words-of.second_text")
slots = [(left if two else right).container(border=True, key="card.scores")]
if two:
    slots.append(right.container(border=True, key="card.second_scores"))

with slots[0]:
    picked = IN_USE
    if numbers:
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="bottom"):
            picked = st.selectbox(
                f"Scored with {chosen if chosen in numbers else active}",
                offered,
                offered.index(usual),
                key="version",
                bind="query-params",
                width=220,
            )
            if text.strip() and not why_none(model, text):
                st.button("Correct", type="tertiary", key="score.correct", on_click=open_feedback, shortcut="E")

# ---- the scores, from a version or from a rehearsal of the draft -----------------------------------------------------

chosen = active if picked == IN_USE else picked
texts = [text, against] if against.strip() else [text]
cards: list[Card] = []
comparison: Comparison | None = None
by: Version | LocalVersion | None = None
scorer: PageScorer | None = None

answered = (text, against)
with slots[0]:
    notice = st.container(key="unanswered")
    if numbers or can_rehearse(traits):
        addresses = {key: each for key, each in zip((TEXT, AGAINST), texts, strict=False) if is_address(each)}
        if not text.strip():
            st.caption("Type or paste a text to see its scores.")
        elif addresses:
            for key, address in addresses.items():
                offer_reading(key, address)
        elif numbers and chosen not in numbers:
            st.caption("This version cannot be read. Choose another one.")
        else:
            try:
                by = versions[numbers.index(chosen)] if numbers else rehearsed(model, traits)
                with attempt() as scoring:
                    if by:
                        scorer = PageScorer(by=by) if isinstance(by, LocalVersion) else scorer_of(model.handle, by)
                        cards = scorer.cards(texts)
                        comparison = scorer.compare((text, against), (cards[0], cards[1])) if len(cards) == 2 else None
                if isinstance(scoring.error, Unreachable):
                    answered = ("", "")
            except preview.PreviewUnavailable as reason:
                st.caption(plain(str(reason)))

if comparison:
    with difference, question("What changes with the second text", key="difference", note="○ text, ◆ second text"):
        draw_change(comparison, names, poles, main=main, key="score.change")
samples = score_counts(by) if isinstance(by, Version) else {}
keys = ordered([*cards[0].detail], main) if cards else []
trait = keys[min(picked_bar(BARS), len(keys) - 1)] if keys else ""
with slots[0]:
    teachable = teachable_text(model, traits, by, trait, cards[0], field=TEXT) if by and len(cards) == 1 else None
for slot, card, key in zip(slots, cards, (BARS, "score.second_card"), strict=False):
    with slot, st.container(key=f"scored.{key}"):
        change = teachable.change if teachable and key == BARS else None
        draw_card(
            card, names, poles, main=main, key=key, can_pick=key == BARS, samples=samples, leans=True, change=change
        )
        if teachable:
            draw_teaching(teachable, key="score.teaching")
with notice:
    read_while_typing(
        TEXT,
        AGAINST,
        keep="" if model.zero_data_retention else model.handle,
        forget=model.handle if model.zero_data_retention else "",
        restore=are_fresh(),
        answered=dict(zip((TEXT, AGAINST), answered, strict=True)),
    )
if not cards or scorer is None:
    st.stop()
with slots[0]:
    if numbers:
        draw_feedback(model, chosen, text, cards[0], traits)
    else:
        st.caption("You can correct scores once the model is trained.")

# ---- the words that decide -------------------------------------------------------------------------------------------

explained: list[Explanation] = []
for slot, line, each in zip(fields, (said, said_second) if two else (said,), texts, strict=False):
    with line, attempt():
        explanation = reasons_of(teachable.scorer if teachable and teachable.scorer else scorer, each)[trait]
        name = names.get(trait, trait) if len(keys) > 1 else ""
        light_and_say(slot, explanation, each, poles.get(trait, ("negative", "positive")), name=name)
        explained.append(explanation)
if explained:
    with left, folded("What each part adds", icon=":material/troubleshoot:", key="reasons") as shown:
        if shown:
            at = pick_text(len(explained))
            reasons = reasons_of(scorer, texts[at])
            draw_adding(reasons, trait, names.get(trait, trait), texts[at], file_name=model.handle)
    with left if two else right:
        draw_nearest(explained[0], poles.get(trait, ("negative", "positive")))

# ---- what else one can do --------------------------------------------------------------------------------------------

if numbers:
    draw_learning(model)
with folded("All figures", icon=":material/query_stats:", key="numbers") as shown:
    if shown:
        if comparison:
            draw_differences(comparison, names)
            draw_change_numbers(comparison, names, key="score.change", file_name=f"{model.handle}-two-texts")
            draw_text_pair(comparison)
        draw_numbers(cards[0], names, poles, key="score.card", file_name=f"{model.handle}-scores")
        discovered_note(traits)
        draw_text(cards[0])
        if not is_preview(cards[0]):
            st.markdown(f"Scored by the service. Request `{cards[0].metadata.request_id}`")
        elif numbers and comparison:
            draw_official_pair(model.handle, chosen, (text, against), comparison)
        elif numbers:
            draw_official(model.handle, chosen, text, cards[0])
