"""The texts of two versions that moved, worst first, with the reasons of both; all of them as a table, and files."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, cast, get_args

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from traitbench.contract.comparisons import ComparedText, MovedBy
from traitbench.contract.explanations import Explanation
from traitbench.contract.traits import Trait
from traitbench.display.colours import NEGATIVE_SIGN, POSITIVE_SIGN, SIDES, pole_sign
from traitbench.display.moved import STYLE, moved
from traitbench.display.reasons import legend
from traitbench.display.sides import side_at
from traitbench.display.text import count, is_address, plain, shortened
from traitbench.errors import TraitbenchError
from traitbench_app.parts.background_work import draw_end_of_work, draw_resume, watch_work
from traitbench_app.parts.chart import draw_downloads
from traitbench_app.parts.controls import folded, page_of
from traitbench_app.parts.reasons import draw_highlighted, reasons_of
from traitbench_app.parts.sample_table import ROW_HEIGHT, table_height
from traitbench_app.parts.scorer import PageScorer
from traitbench_app.shell import session
from traitbench_app.shell.service import attempt, client
from traitbench_app.versions.pair import PairSide
from traitbench_app.versions.text_comparison import (
    DELTA,
    ERROR,
    EXPECTED,
    KIND,
    MUST_PASS,
    SCORE_A,
    SCORE_B,
    SURE_A,
    SURE_B,
    TEXT,
    TRAIT,
    Show,
    TextComparison,
    as_csv,
    as_jsonl,
    frame_of,
    shown,
    summary,
)
from traitbench_app.versions.texts import discard, may_read_samples

MOST_SHOWN = 5_000

_PAGE, _CUT, _OPENED = 10, 300, "versions.opened"
_KINDS = {"regression": "✗ Worse", "fixed": "✓ Better", "side changed": "⇄ Side changed", "": ""}
_CHIPS: Mapping[Show, str] = {
    "Moved": "that moved",
    "All": "texts",
    "Regressions": "worse",
    "Fixed": "better",
    "Side changed": "on another side",
    "Must pass failed": "wrong that never should be",
}


def draw_triage(
    comparison: TextComparison, pair: tuple[PairSide, PairSide], names: Mapping[str, str], traits: Mapping[str, Trait]
) -> None:
    """Draw the texts, or the progress while they are scored."""
    if comparison.state == "running":
        watch_work(
            comparison, f"Scoring {plain(comparison.name)} with both versions", unit="text", key="versions.comparison"
        )
        st.caption("This continues while you visit other pages. Keep this tab or its URL to find the results again.")
        return
    with st.container(border=True, key="card.moved"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.header("Texts that moved", anchor=False, width="stretch")
            st.button(
                "Discard these scores",
                icon=":material/delete:",
                key="versions.comparison.discard",
                type="tertiary",
                help="Delete these texts and scores from memory.",
                on_click=discard,
                args=(pair,),
            )
        draw_end_of_work(comparison, "comparison", unit="text")
        draw_resume(comparison, key="versions.comparison.go_on")
        if not comparison.done:
            return
        keys = [*comparison.traits]
        key = None
        if len(keys) > 1:
            key = st.pills(
                "Trait", keys, format_func=lambda each: names.get(each, each), key="trait", bind="query-params",
                label_visibility="collapsed",
            )  # fmt: skip
        _draw_texts(_computed(comparison, [key] if key else keys), comparison, pair, names, traits)


def _computed(comparison: TextComparison, keys: Sequence[str]) -> pd.DataFrame:
    """The table of these traits, computed once for each number of scored texts."""
    asked = (comparison.done, *keys)
    if asked not in comparison.computed:
        comparison.computed[asked] = frame_of(comparison, *keys)
    frame: pd.DataFrame = comparison.computed[asked]
    return frame


# ---- texts ---------------------------------------------------------------------------------------------------------


def _draw_texts(
    frame: pd.DataFrame,
    comparison: TextComparison,
    pair: tuple[PairSide, PairSide],
    names: Mapping[str, str],
    traits: Mapping[str, Trait],
) -> None:
    numbers = {each: len(shown(frame, each)) for each in get_args(Show)}
    known = bool(frame[EXPECTED].notna().all())
    # A filter that shows every text, or the same as another one, is left out.
    superfluous = {*({"Moved"} if numbers["Moved"] == len(frame) else ()), *({"Side changed"} if known else ())}
    chips = [each for each in numbers if each == "All" or (numbers[each] and each not in superfluous)]
    st.markdown(f"{plain(comparison.name)}: {summary(frame)}")
    picked = st.pills(
        "Show",
        chips,
        default=chips[0],
        required=True,
        format_func=lambda each: f"{numbers[each]:,} {_CHIPS[each]}",
        key="versions.show",
        label_visibility="collapsed",
        persist_state="page",
    )
    rows = shown(frame, cast(Show, picked or chips[0]))
    slot = st.container()
    # Other rows begin at the first page again.
    page = page_of(range(len(rows)), _PAGE, key=f"versions.page:{comparison.id}:{picked}:{len(rows)}")
    with slot:
        st.html(STYLE)
        drawn = [
            (row, trait, _draw_text(row, f"{comparison.id}:{row[TRAIT]}:{at}", pair, trait, names))
            for at, row in rows.iloc[list(page)].iterrows()
            for trait in [traits.get(row[TRAIT])]
        ]
    with folded("As a table, with downloads", icon=":material/table:", key="table") as is_open:
        if is_open:
            _draw_table(rows, comparison, pair, names, traits)
    _add_reasons(drawn, pair, names)


def _add_reasons(
    drawn: Sequence[tuple[pd.Series, Trait | None, DeltaGenerator]],
    pair: tuple[PairSide, PairSide],
    names: Mapping[str, str],
) -> None:
    """Draw the texts again with the words that decide, one after the other: each takes the service a moment."""
    for row, trait, slot in drawn:
        if row[ERROR] or is_address(row[TEXT]):
            continue
        try:
            reasons = [reasons_of(PageScorer(side.pinned), row[TEXT]).get(row[TRAIT]) for side in pair]
        except TraitbenchError:
            return  # The rows stay as they are, and the button of each says what went wrong.
        slot.html(_in_html(row, trait, names.get(row[TRAIT], row[TRAIT]), [each for each in reasons if each]))


def _draw_text(
    row: pd.Series, own: str, pair: tuple[PairSide, PairSide], trait: Trait | None, names: Mapping[str, str]
) -> DeltaGenerator:
    """Draw a text with its label and both scores, and a button that opens the reasons of both versions.

    Return the place of the text.
    """
    is_open = session.get(_OPENED) == own
    what, button = st.columns([12, 1], vertical_alignment="center")
    slot = what.empty()
    slot.html(_in_html(row, trait, names.get(row[TRAIT], row[TRAIT])))
    with button:
        st.button(
            "Close" if is_open else "Why", key=f"versions.why:{own}", type="tertiary",
            on_click=session.store, args=(_OPENED, None if is_open else own),
        )  # fmt: skip
    if is_open:
        draw_opened(row, pair, row[TRAIT], trait)
    return slot


def _in_html(row: pd.Series, trait: Trait | None, name: str, reasons: Sequence[Explanation] = ()) -> str:
    labels, expected = _poles(trait), row[EXPECTED]
    about = f"{name}{', never get wrong' if row[MUST_PASS] else ''}"
    if row[ERROR]:
        return moved(row[TEXT], about, row[ERROR], None, labels, ())
    positive = None if pd.isna(expected) or expected == 0.5 else bool(expected > 0.5)
    scores = ((row[SCORE_A], row[SURE_A]), (row[SCORE_B], row[SURE_B]))
    return moved(row[TEXT], about, expected_in_words(expected, trait), positive, labels, scores, reasons)


def _poles(trait: Trait | None) -> tuple[str, str]:
    return (trait.negative_label, trait.positive_label) if trait else (NEGATIVE_SIGN, POSITIVE_SIGN)


# ---- table ---------------------------------------------------------------------------------------------------------


def _draw_table(
    rows: pd.DataFrame,
    comparison: TextComparison,
    pair: tuple[PairSide, PairSide],
    names: Mapping[str, str],
    traits: Mapping[str, Trait],
) -> None:
    top = rows.head(MOST_SHOWN)
    st.dataframe(
        _on_screen(top, names, traits),
        column_config=_columns(pair),
        hide_index=True,
        height=table_height(len(top), most=12),
        row_height=ROW_HEIGHT,
        placeholder="–",
        key="versions.table",
        alt="Texts scored by both versions",
    )
    said = count(len(rows), "text")
    if len(rows) > len(top):
        said = f"The first {len(top):,} of {said}. Downloads contain all of them."
    stem = f"{comparison.a}-{comparison.b}".replace("@", "-")
    draw_downloads(_FILES, rows, comparison, key="versions.file", stem=stem, summary=said)


def _on_screen(rows: pd.DataFrame, names: Mapping[str, str], traits: Mapping[str, Trait]) -> pd.DataFrame:
    columns: dict[str, Any] = {KIND: rows[KIND].map(_KINDS), TEXT: rows[TEXT].str.slice(0, _CUT)}
    if rows[TRAIT].nunique() > 1:
        columns[TRAIT] = [names.get(each, each) for each in rows[TRAIT]]
    if rows[EXPECTED].notna().any():
        expected = zip(rows[EXPECTED], rows[TRAIT], strict=True)
        columns[EXPECTED] = [expected_in_words(quality, traits.get(key)) for quality, key in expected]
    columns |= {SCORE_A: rows[SCORE_A], SCORE_B: rows[SCORE_B], DELTA: rows[DELTA]}
    if rows[MUST_PASS].notna().any():
        columns[MUST_PASS] = rows[MUST_PASS].fillna("")
    if rows[ERROR].any():
        columns[ERROR] = rows[ERROR]
    return pd.DataFrame(columns)


def expected_in_words(quality: float, trait: Trait | None) -> str:
    """The pole on which a text should score; "" if that is not known."""
    if pd.isna(quality):
        return ""
    if quality == 0.5:
        return f"{pole_sign(0.5)} in between"
    return f"{pole_sign(quality)} {_poles(trait)[quality > 0.5]}"


def _columns(pair: tuple[PairSide, PairSide]) -> dict[str, Any]:
    column = st.column_config
    score = partial(column.ProgressColumn, min_value=0, max_value=100, format="%d", width=90)
    return {
        KIND: column.TextColumn(
            "Change of side",
            width=110,
            help="Worse: the score was on the right side and is not any more. Better: the reverse. Side changed: "
            "it is not known which side is right.",
        ),
        TEXT: column.TextColumn("Text", width=260),
        TRAIT: column.TextColumn("Trait", width=100),
        EXPECTED: column.TextColumn("Expected", width=110, help="The side of the label."),
        SCORE_A: score("A", help=pair[0].name, color="gray"),
        SCORE_B: score("B", help=pair[1].name, color="gray"),
        DELTA: column.NumberColumn("Change", format="%+d", width=70, help="Points."),
        MUST_PASS: column.TextColumn("Never get wrong", width=90),
        ERROR: column.TextColumn("Why not scored", width=300),
    }


_FILES: Mapping[str, Callable[[pd.DataFrame, TextComparison], bytes]] = {"CSV": as_csv, "JSONL": as_jsonl}


_EXCERPT, _MOVED = 140, "versions.moved_by"

Moved = Sequence[tuple[MovedBy, str]]
"""Changed samples with their texts; the text is empty if it was deleted."""


def draw_opened(row: pd.Series, pair: tuple[PairSide, PairSide], key: str, trait: Trait | None) -> None:
    """Draw the text with the reasons of both versions for one trait."""
    text = str(row[TEXT])
    with st.container(border=True, key="versions.opened"):
        if row[ERROR]:
            st.text(shortened(text, 2_000))
            st.error(plain(str(row[ERROR])), icon=":material/error:")
            return
        poles = (trait.negative_label, trait.positive_label) if trait else (NEGATIVE_SIGN, POSITIVE_SIGN)
        if pd.notna(row[EXPECTED]):
            pole = "in between" if row[EXPECTED] == 0.5 else poles[bool(row[EXPECTED] > 0.5)]
            st.markdown(f"Expected: **{pole_sign(row[EXPECTED])} {plain(pole)}**")
        st.html(legend(*poles))
        sides = ((SCORE_A, SURE_A), (SCORE_B, SURE_B))
        for side, column, (score, sure) in zip(pair, st.columns(2, gap="large"), sides, strict=True):
            with column:
                at = side_at(row[score] - 50, row[sure], positive_label=poles[1], negative_label=poles[0])
                st.markdown(f"**{plain(side.name)}: {row[score]}** {SIDES[at.positive].sign} {plain(at.words)}")
                draw_highlighted(PageScorer(side.pinned), key, text)
        if may_read_samples(pair):
            _draw_moved(pair, key, text)


def _draw_moved(pair: tuple[PairSide, PairSide], key: str, text: str) -> None:
    with st.spinner("Finding the changed samples that moved this text", show_time=True), attempt() as asking:
        moved = _moved(pair, key, text)
    if not asking.done:
        return
    st.markdown("**Changed samples most like this text**")
    if not moved:
        st.caption("None: no training samples changed between these versions, or they were not recorded.")
        return
    st.dataframe(
        pd.DataFrame(
            [
                {
                    "Sample": shortened(words, _EXCERPT) if words else f"#{each.sample_id}",
                    "Change": each.change,
                    "Quality before": each.quality_a,
                    "Quality after": each.quality_b,
                    "Similarity": each.similarity,
                    "Moved the score by": each.shift,
                }
                for each, words in moved
            ]
        ),
        hide_index=True,
        width="stretch",
        placeholder="–",
        key="versions.moved",
        column_config={
            "Sample": st.column_config.TextColumn(width="large"),
            "Similarity": st.column_config.NumberColumn(format="%.2f"),
            "Moved the score by": st.column_config.NumberColumn(
                format="%+.1f",
                help="In points: the score compared with a version without this change and its near duplicates.",
            ),
        },
    )


def _moved(pair: tuple[PairSide, PairSide], key: str, text: str) -> Moved:
    """The changed samples that are most similar to the text, with their texts; of the last text from memory."""
    asked = (pair[0].pinned, pair[1].pinned, key, text)
    stored: tuple[object, Moved] = session.get(_MOVED, (None, ()))
    if stored[0] != asked:
        stored = asked, _find(pair, key, text)
        session.store(_MOVED, stored)
    return stored[1]


def _find(pair: tuple[PairSide, PairSide], key: str, text: str) -> Moved:
    a, b = pair
    compared = client().versions.compare(a.pinned, b.pinned, texts=[text], traits=[key], explain=True)
    line = next(iter(compared.texts or ()), None)
    moved = (line.moved_by or []) if isinstance(line, ComparedText) else []
    texts = _texts(pair, {each.sample_id for each in moved})
    return [(each, texts.get(each.sample_id, "")) for each in moved]


def _texts(pair: tuple[PairSide, PairSide], ids: set[int]) -> Mapping[int, str]:
    """The texts of samples of either model, by id."""
    texts: dict[int, str] = {}
    for handle in dict.fromkeys(each.model.handle for each in reversed(pair)):
        if missing := sorted(ids - texts.keys()):
            texts |= {sample.id: sample.text for sample in client().samples.list(handle, ids=missing)}
    return texts
