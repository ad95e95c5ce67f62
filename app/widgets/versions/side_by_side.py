"""The same texts scored with two versions: the cards, the differences by text and trait, and a table of all scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from traitbench.app.charts.dumbbell import Pair, signed
from traitbench.app.local import preview
from traitbench.app.samples.examples import examples, texts_to_try
from traitbench.app.shell import session
from traitbench.app.shell.service import client, version
from traitbench.app.shell.text import count, plain, shortened
from traitbench.app.widgets.common.chart import download_table
from traitbench.app.widgets.score.card import draw_pairs, pairs
from traitbench.contract.confidence import why_short
from traitbench.contract.names import pin
from traitbench.contract.scores import Card
from traitbench.contract.versions import Version

_MOST_TEXTS = 200
_OFFERED = 8
_NAME = 60


@dataclass(frozen=True)
class Both:
    """One text scored with both versions."""

    text: str
    before: Card
    after: Card

    @property
    def composite(self) -> Pair:
        """The two composites as a row; its name is the shortened text."""
        sure = "low" not in (self.before.confidence, self.after.confidence)
        return Pair(shortened(self.text, _NAME), self.before.composite, self.after.composite, sure=sure)


def in_link(numbers: Sequence[str], names: Mapping[str, str], *, active: str) -> dict[str, str]:
    """The state of the Versions page as query parameters, with version numbers, so that a link never changes meaning.

    `names` maps trait keys to names; the link contains the name.
    """
    view, trait = session.on_screen("view", "All"), session.on_screen("trait", "")
    name = names.get(trait, trait)
    about = {"trait": name} if name in names.values() else {}
    if view == "Details":
        version_no = session.on_screen("version", "active")
        return {"view": view, "version": version_no if version_no in numbers else active, **about}
    if view == "Compare" and len(numbers) > 1:
        before, after = pair_of(numbers, active=active)
        return {"view": view, "a": before, "b": after, **about}
    return {"view": view}


def pair_of(numbers: Sequence[str], *, active: str) -> tuple[str, str]:
    """The two compared versions; "previous" is the version before the other one, or after it if it is the first."""
    before, after = session.on_screen("a", "previous"), session.on_screen("b", "active")
    after = after if after in numbers else active
    at = numbers.index(after)
    return (before if before in numbers else numbers[at + 1] if at + 1 < len(numbers) else numbers[at - 1]), after


def pick_texts(handle: str) -> list[str]:
    """Draw the text field, with a button to fill in samples, and return its texts, one per line."""
    key = f"versions.texts:{handle}"
    if session.get(key) is None:
        session.store(key, "\n".join(_lines(examples(handle))))
    st.text_area("Texts, one per line", key=key, height=170, persist_state="session", placeholder="Paste texts here.")
    st.button(
        "Use examples" if examples(handle) else "Use samples of this model",
        icon=":material/shuffle:",
        type="tertiary",
        key="versions.take",
        on_click=_take,
        args=(handle, key),
    )
    texts = [line.strip() for line in session.get(key, "").splitlines() if line.strip()]
    if len(texts) > _MOST_TEXTS:
        st.caption(f"The first {_MOST_TEXTS} of {count(len(texts), 'text')} are compared.")
    return texts[:_MOST_TEXTS]


def score_both(handle: str, versions: tuple[Version, Version], texts: Sequence[str]) -> list[Both]:
    """Score each text with both versions: in this workbench if it can read the snapshots, else by the service."""
    try:
        before, after = (preview.score(version(handle, each), texts) for each in versions)
    except preview.PreviewUnavailable as reason:
        st.caption(f"{plain(str(reason))} The service scores the texts instead.")
        before, after = (
            [client().scores.score(pin(handle, f"v{each.version_no}"), text) for text in texts] for each in versions
        )
    return [Both(*row) for row in zip(texts, before, after, strict=True)]


def draw_both(rows: Sequence[Both], labels: tuple[str, str], names: Mapping[str, str], *, file_name: str) -> None:
    """Draw the summary, a dumbbell chart by text or by trait, and the download of all scores."""
    _draw_summary(rows, names)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        by_text = st.segmented_control("Rows", ["texts", "traits"], default="texts", required=True, key="versions.rows")
        if by_text == "traits":
            position = st.selectbox(
                "Text",
                range(len(rows)),
                format_func=lambda at: f"{at + 1}. {shortened(rows[at].text, _NAME)}",
                key=f"versions.text_of_{len(rows)}",
            )
            shown, what = pairs(rows[position].before, rows[position].after, names), "Trait"
        else:
            key = st.selectbox(
                "Score", ["", *names], format_func=lambda key: names.get(key, "Composite"), key="versions.trait"
            )
            shown, what = [_pair(row, key) for row in rows], "Text"
    draw_pairs(shown, labels, key="versions.change", file_name=file_name, what=what)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption("All texts and traits:", width="content")
        download_table(table(rows, labels, names), key="versions.all", file_name=f"{file_name}-all")


def table(rows: Sequence[Both], labels: tuple[str, str], names: Mapping[str, str]) -> pd.DataFrame:
    """One row per text and trait, the composite first."""
    cells = []
    for row in rows:
        composite, why = row.composite, _why(row, names)
        for pair in [Pair("Composite", composite.a, composite.b, composite.sure), *pairs(row.before, row.after, names)]:
            cells.append(
                {
                    "Text": row.text,
                    "Trait": pair.name,
                    labels[0]: pair.a,
                    labels[1]: pair.b,
                    "Change": pair.delta,
                    "Sure": pair.sure,
                    "Why not sure": why.get(pair.name),
                }
            )
    return pd.DataFrame(cells)


def _why(row: Both, names: Mapping[str, str]) -> dict[str, str]:
    """Why a score of a text has low confidence, by the name of the trait, and of the composite."""
    reasons: dict[str, list[str]] = {}
    for card in (row.before, row.after):
        for key, each in card.detail.items():
            if each.confidence == "low" and (reason := why_short(each)):
                reasons.setdefault(names.get(key, key), []).append(reason)
    reasons["Composite"] = [reason for each in reasons.values() for reason in each]
    return {name: ", ".join(dict.fromkeys(each)) for name, each in reasons.items() if each}


def _draw_summary(rows: Sequence[Both], names: Mapping[str, str]) -> None:
    moves = [pair.delta for row in rows for pair in pairs(row.before, row.after, names)]
    with st.grid(4, min_column_width=150):
        st.metric("Trait scores changed", f"{sum(map(bool, moves))} of {len(moves)}", border=True)
        st.metric("Largest trait change", signed(max(moves, key=abs)), border=True)
        st.metric("Mean absolute change", f"{sum(map(abs, moves)) / len(moves):.1f}", border=True)
        st.metric("Texts", f"{len(rows):,}", border=True)


def _pair(row: Both, key: str) -> Pair:
    if not key:
        return row.composite
    before, after = row.before.detail[key], row.after.detail[key]
    sure = "low" not in (before.confidence, after.confidence)
    return Pair(row.composite.name, before.score, after.score, sure=sure)


def _take(handle: str, key: str) -> None:
    texts = texts_to_try(handle)
    if not texts:
        return
    spread = texts[:: max(len(texts) // _OFFERED, 1)][:_OFFERED]
    session.store(key, "\n".join(_lines(spread)))


def _lines(texts: Sequence[str]) -> list[str]:
    return [" ".join(text.split()) for text in texts]
