"""Samples of a version with their held-out scores, and those behind a part of a picture, with their highlights."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.page import LARGEST_SAMPLE_PAGE
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.display.colours import NEGATIVE_SIGN, POSITIVE_SIGN, SIDES
from traitbench.display.reasons import legend
from traitbench.display.sides import side_of
from traitbench.display.text import count, plain, shortened
from traitbench.errors import FeatureUnavailable, SamplesPurged, Unavailable, Unreachable
from traitbench.local.unseen import LabelledScore, UnseenRow, UnseenScore, axes_of, joined, possible_scores, worst_first
from traitbench.names import pin
from traitbench_app.parts.reasons import draw_highlighted
from traitbench_app.parts.sample_table import ROW_HEIGHT, table_height
from traitbench_app.parts.scorer import PageScorer
from traitbench_app.parts.version_figures import label
from traitbench_app.shell.permission import why_read_only
from traitbench_app.shell.service import client, guarded, reader
from traitbench_app.shell.service import version as whole_version

_AGAIN_S = 2.0
_EXCERPT = 160


@dataclass(frozen=True)
class NotKnown:
    """Why it is not known what a version said of its samples before it had seen them.

    `is_coming` says that the service works it out now.
    """

    why: str
    is_coming: bool = False


def of(model: Model, version: Version) -> Mapping[int, UnseenRow] | NotKnown:
    """Return what a version said of its samples when they were held out, by sample id, or why that is not known."""
    which = (reader(), model.handle, version.version_no, version.param_hash)
    if model.zero_data_retention:
        _rows.clear(*which)  # in the service they went with the samples
        return NotKnown("Zero data retention is on: the samples were removed after training, so none can be shown.")
    if forbidden := why_read_only(model):
        return NotKnown(f"{forbidden} Only people who may change the model see its samples.")
    try:
        return _rows(*which)
    except Unreachable:
        raise
    except Unavailable:
        return NotKnown(f"What {label(version)} said of samples that it had not seen is worked out now, once.", True)
    except (FeatureUnavailable, SamplesPurged) as reason:
        return NotKnown(reason.message)


def draw_not_known(model: Model, version: Version, reason: NotKnown) -> None:
    """Draw the reason; while it is being worked out, look again every few seconds, and then draw the page again."""
    st.info(plain(reason.why), icon=":material/hourglass_top:" if reason.is_coming else ":material/info:")
    if not reason.is_coming:
        return

    @st.fragment(run_every=_AGAIN_S)
    def look() -> None:
        with guarded():
            if not (isinstance(now := of(model, version), NotKnown) and now.is_coming):
                st.rerun()

    look()


@st.cache_resource(max_entries=4, show_spinner="Reading what it said of samples that it had not seen")
def _rows(reader: tuple[str, str], handle: str, version_no: int, param_hash: str) -> Mapping[int, UnseenRow]:
    # `reader` and `param_hash` are only part of the cache's key. The rows hold no texts.
    return {
        row.sample_id: UnseenRow(row.sample_id, row.trait, row.position, row.right, row.held_out)
        for row in client().versions.samples(handle, f"v{version_no}")
    }


@dataclass(frozen=True)
class UnseenTexts:
    """The texts that were farthest from their label, worst first, and how many other samples are left out."""

    scores: Sequence[UnseenScore]
    left_out: int


def texts_of(model: Model, version: Version, rows: Iterable[UnseenRow]) -> UnseenTexts:
    """Read the texts of rows with a label that has a side, worst first; of very many, only the worst."""
    worst = worst_first(rows)
    shown = worst[:LARGEST_SAMPLE_PAGE]
    ids = [row.sample_id for row in shown]
    samples = client().samples.list(model.handle, ids=ids, limit=LARGEST_SAMPLE_PAGE) if ids else ()
    axes = axes_of(whole_version(model.handle, version))
    return UnseenTexts(joined(shown, samples, axes), len(worst) - len(shown))


def side_in_words(scored: UnseenScore, trait: Trait) -> str:
    """`▼ clearly cold`: what the held-out score says, in Markdown."""
    side = side_of(scored.score, positive_label=trait.positive_label, negative_label=trait.negative_label)
    return f"{SIDES[side.positive].sign} {plain(side.words)}"


def pole_in_words(positive: bool, trait: Trait) -> str:
    """`▲ warm`, in Markdown."""
    pole = trait.positive_label if positive else trait.negative_label
    return f"{POSITIVE_SIGN if positive else NEGATIVE_SIGN} {plain(shortened(pole, 40))}"


def draw_text(model: Model, version: Version, trait: Trait, scored: UnseenScore) -> None:
    """Draw the whole text with the highlights of the version."""
    st.html(legend(trait.negative_label, trait.positive_label))
    draw_highlighted(PageScorer(pin(model.handle, label(version))), trait.key, scored.first.text)


def table_of(scores: Sequence[UnseenScore], trait: Trait) -> pd.DataFrame:
    """One row per text: the text, its label, its held-out score and what that says."""
    poles = {True: f"{POSITIVE_SIGN} {trait.positive_label}", False: f"{NEGATIVE_SIGN} {trait.negative_label}"}
    sides = [
        side_of(each.score, positive_label=trait.positive_label, negative_label=trait.negative_label) for each in scores
    ]
    return pd.DataFrame(
        {
            "Text": [shortened(each.first.text, _EXCERPT) for each in scores],
            "Label": [poles[each.positive] for each in scores],
            "Score": [each.points for each in scores],
            "Says": [f"{SIDES[side.positive].sign} {side.words}" for side in sides],
            "Measured": ["test sample" if each.first.held_out else "not seen" for each in scores],
        }
    )


def draw_cell_texts(
    model: Model, version: Version, trait: Trait, which: Callable[[LabelledScore], bool], *, title: str, key: str
) -> None:
    """Draw the samples of a trait that are `which`, worst first, and one of them as a whole. Test samples are not."""
    with st.container(border=True, key=key):
        st.markdown(title)
        rows = of(model, version)
        if isinstance(rows, NotKnown):
            draw_not_known(model, version, rows)
            return
        axis = axes_of(whole_version(model.handle, version)).get(trait.key)
        own = [row for row in rows.values() if row.trait == trait.key and not row.held_out]
        chosen = [] if axis is None else [row for row in own if any(map(which, possible_scores(row, axis)))]
        texts = texts_of(model, version, chosen)
        scores = [each for each in texts.scores if which(each)]
        if not scores:
            st.caption("These texts are no longer among the samples.")
            return
        if texts.left_out:
            st.caption(f"The {len(scores):,} texts farthest from their label. {texts.left_out:,} are left out.")
        event = st.dataframe(
            table_of(scores, trait).drop(columns=["Label", "Measured"]),
            hide_index=True,
            width="stretch",
            height=table_height(len(scores), most=8),
            row_height=ROW_HEIGHT,
            on_select="rerun",
            selection_mode="single-row",
            key=f"{key}.list:{title}:{trait.key}:{version.version_no}",
            alt=count(len(scores), "text"),
            column_config={"Text": st.column_config.TextColumn(width="large")},
        )
        picked_rows = event.selection.rows if event else []
        picked = scores[picked_rows[0]] if picked_rows and picked_rows[0] < len(scores) else scores[0]
        st.markdown(f"Scored **{picked.points}**: {side_in_words(picked, trait)}.")
        draw_text(model, version, trait, picked)
