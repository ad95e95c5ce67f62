"""One text of a comparison: the reasons of both versions side by side, and the changed samples that moved its score."""

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from traitbench.contract.comparisons import ComparedText, MovedBy
from traitbench.contract.page import LARGEST_SAMPLE_PAGE
from traitbench.contract.traits import Trait
from traitbench.display.colours import NEGATIVE_SIGN, POSITIVE_SIGN, SIDES, pole_sign
from traitbench.display.reasons import legend
from traitbench.display.sides import side_at
from traitbench.display.text import plain, shortened
from traitbench_app.parts.reasons import draw_highlighted
from traitbench_app.parts.scorer import PageScorer
from traitbench_app.shell import session
from traitbench_app.shell.service import attempt, client
from traitbench_app.versions.pair import PairSide
from traitbench_app.versions.text_comparison import (
    ERROR,
    EXPECTED,
    SCORE_A,
    SCORE_B,
    SURE_A,
    SURE_B,
    TEXT,
)
from traitbench_app.versions.texts import may_read_samples

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
    known, moved = session.get(_MOVED, (None, ()))
    if known != asked:
        moved = _find(pair, key, text)
        session.store(_MOVED, (asked, moved))
    return moved  # type: ignore[no-any-return]


def _find(pair: tuple[PairSide, PairSide], key: str, text: str) -> Moved:
    a, b = pair
    compared = client().versions.compare(a.pinned, b.pinned, texts=[text], traits=[key], explain=True)
    line = next(iter(compared.texts or ()), None)
    moved = (line.moved_by or []) if isinstance(line, ComparedText) else []
    texts = _texts(pair, {each.sample_id for each in moved}, key)
    return [(each, texts.get(each.sample_id, "")) for each in moved]


def _texts(pair: tuple[PairSide, PairSide], ids: set[int], key: str) -> Mapping[int, str]:
    """The texts of samples of either model, by id."""
    texts: dict[int, str] = {}
    for handle in dict.fromkeys(each.model.handle for each in reversed(pair)):
        if ids - texts.keys():
            for sample in client().samples.list(handle, trait=key, held_out=False, limit=LARGEST_SAMPLE_PAGE):
                if sample.id in ids:
                    texts[sample.id] = sample.text
    return texts
