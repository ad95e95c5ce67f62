"""Two versions without test samples: set texts aside and train both again in memory to compare them."""

from collections.abc import Mapping

import streamlit as st

from traitbench.comparison.drafts import TrainedDraft, compared_again
from traitbench.contract.comparisons import VersionsComparison
from traitbench.contract.page import LARGEST_SAMPLE_PAGE
from traitbench.contract.samples import Sample
from traitbench.display.text import count, plain
from traitbench.local.preview import PreviewUnavailable
from traitbench_app.parts.verdict import draw_picture, draw_verdict
from traitbench_app.shell import session
from traitbench_app.shell.navigation import page_link
from traitbench_app.shell.service import attempt, client, version
from traitbench_app.versions.pair import PairSide

_KEY = "versions.again"


def draw_again(pair: tuple[PairSide, PairSide], names: Mapping[str, str]) -> None:
    """Draw the button that compares both on texts that neither then knows, and the result."""
    asked = tuple(each.pinned for each in pair)
    with st.container(border=True, key=_KEY):
        st.markdown(
            "**Both versions know the texts there are.** Set some of the texts aside, and train both again without "
            "them to see which one is better. This happens in memory: nothing is stored, and no version changes."
        )
        with st.container(horizontal=True, vertical_alignment="center"):
            pressed = st.button(
                "Set texts aside and train both again", type="primary", icon=":material/call_split:", key=f"{_KEY}.go"
            )
            page_link("samples", "Add test texts", icon=":material/notes:")
        if pressed:
            session.store(_KEY, None)
            with st.spinner("Training both versions again", show_time=True), attempt():
                try:
                    session.store(_KEY, (asked, *_compared(pair)))
                except PreviewUnavailable as reason:
                    st.info(plain(str(reason)), icon=":material/info:")
        if (known := session.get(_KEY)) and known[0] == asked:
            _draw_result(known[1], known[2], pair, names)


def _draw_result(
    comparison: VersionsComparison, texts: int, pair: tuple[PairSide, PairSide], names: Mapping[str, str]
) -> None:
    labels = pair[0].title, pair[1].title
    lead = (
        f"This is of both trained again without {count(texts, 'text')}, and measured on these. The versions themselves "
        "have learned from a few more texts."
    )
    draw_verdict(comparison, names, labels, lead=lead, key="verdict.again")
    draw_picture(comparison, names, labels, key=f"{_KEY}.picture")


def _compared(pair: tuple[PairSide, PairSide]) -> tuple[VersionsComparison, int]:
    before, after = (
        TrainedDraft(
            each.model,
            client().traits.list(each.model.handle),
            version(each.model.handle, each.version),
            _samples(each),
        )
        for each in pair
    )
    return compared_again(before, after)


def _samples(side: PairSide) -> list[Sample]:
    """What the version was trained with; raise `PreviewUnavailable` if that is not known any more."""
    listed = client().samples.list(side.model.handle, held_out=False, limit=LARGEST_SAMPLE_PAGE)
    samples = [each for each in listed if not each.pending and each.created_at <= side.version.created_at]
    if len(samples) != side.version.sample_count:
        raise PreviewUnavailable(
            f"The samples of {side.name} have changed since it was trained, so it cannot be trained again. Add freshly "
            "labelled texts as test samples to a draft instead."
        )
    return samples
