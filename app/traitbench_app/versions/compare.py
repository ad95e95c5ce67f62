"""The Compare view: the verdict on two versions, also without test samples, what to do, and the texts that moved."""

from collections.abc import Mapping, Sequence

import streamlit as st

from traitbench.comparison.drafts import TrainedDraft, compared_again
from traitbench.contract.comparisons import VersionsComparison
from traitbench.contract.models import Model
from traitbench.contract.page import LARGEST_SAMPLE_PAGE
from traitbench.contract.samples import Sample
from traitbench.contract.traits import Trait
from traitbench.display.text import count, plain
from traitbench.local.preview import PreviewUnavailable
from traitbench_app.parts.controls import as_shown, primary_link
from traitbench_app.parts.verdict import compared, draw_changes, draw_picture, draw_verdict
from traitbench_app.parts.version_figures import made_how
from traitbench_app.shell import session
from traitbench_app.shell.navigation import page_link
from traitbench_app.shell.service import attempt, client, reader, version
from traitbench_app.versions.pair import PairSide
from traitbench_app.versions.text_comparison import TextComparison
from traitbench_app.versions.texts import (
    TESTS,
    TextSource,
    is_discarded,
    may_read_samples,
    pick_source,
    present_comparison,
    retention_note,
    start,
)
from traitbench_app.versions.triage import draw_triage

Pair = tuple[PairSide, PairSide]

_PICTURE = 260  # pixels, about the height of the picture of two or three traits


def draw_comparison(
    model: Model, pair: Pair, traits: Sequence[Trait], names: Mapping[str, str], *, may_change: bool
) -> None:
    """Draw the verdict, then the texts; an error of the service instead if it cannot compare these versions."""
    before, after = pair
    labels = before.title, after.title
    with st.skeleton(_PICTURE), attempt() as comparing:
        comparison = compared(reader(), before.pinned, after.pinned)
    if not comparing.done:
        return
    tests = sum(each.n for each in comparison.traits.values())
    how = "\n".join(f"- {plain(each.name)}: {made_how(each.version)}" for each in pair)
    draw_verdict(comparison, names, labels, lead=_lead(pair, tests), about=how)
    if may_change:
        _draw_use(pair, comparison)
    if tests:
        with st.container(border=True, key="card.verdict"):
            draw_picture(comparison, names, labels, key="versions.verdict", on_trait=_choose_trait)
    elif may_read_samples(pair) and comparison.verdict == "unknown":
        draw_again(pair, names)
    draw_changes(comparison, names)
    with st.container(horizontal=True):
        for each in pair:
            if each.model is model:
                to = {"view": "Details", "version": each.name}
                st.button(
                    f"All figures of {each.name}", icon=":material/query_stats:", type="tertiary",
                    key=f"versions.details_of:{each.name}", on_click=session.put, args=(to,),
                )  # fmt: skip
    if comparison.traits:
        _draw_texts(model, pair, [*comparison.traits], traits, names, tests=tests)


def _lead(pair: Pair, tests: int) -> str:
    """`**A** v1, in use, 64 samples against **B** v2, 217 samples, both on the same 139 test samples.`"""
    a, b = (
        f"**{letter}** {', '.join(filter(None, (plain(each.name), each.state)))}, "
        f"{count(each.version.sample_count, 'sample')}"
        for letter, each in zip("AB", pair, strict=True)
    )
    measured = f", both on the same {count(tests, 'test sample')}" if tests else ""
    return f"{a} against {b}{measured}."


def _draw_use(pair: Pair, comparison: VersionsComparison) -> None:
    """Draw what to do about the verdict: only a better version is offered by the primary button."""
    before, after = pair
    verdict = comparison.verdict
    end = " anyway" if verdict == "unknown" else ""
    with st.container(horizontal=True, vertical_alignment="center"):
        if before.model.handle != after.model.handle:
            draft, other = (before, after) if before.state == "draft" else (after, before)
            if draft.state != "draft":
                return
            # The verdict is that of B.
            better, worse = ("better", "worse") if draft is after else ("worse", "better")
            if verdict == worse:
                page_link("model", f"Keep {plain(other.name)}", model=other.model.handle)
            else:
                link = primary_link if verdict == better else page_link
                link("train", f"Use the draft{end}", icon=":material/publish:", model=draft.model.handle)
        elif verdict == "worse":
            _draw_activate(before, "Keep" if before.state else "Use")
        elif not after.state:
            _draw_activate(after, "Use", is_primary=verdict == "better", end=end)
        if any(each.n and each.verdict == "unknown" for each in comparison.traits.values()):
            page_link("samples", "Add test texts", icon=":material/notes:")


def _draw_activate(side: PairSide, verb: str, *, is_primary: bool = False, end: str = "") -> None:
    label = f"{verb} {side.name}{end}"
    pressed = st.button(label, key="versions.use", type="primary" if is_primary else "secondary")
    # The version in use may have changed since the button was drawn.
    if as_shown("versions.use", f"{side.pinned} instead of v{side.model.version_no}: {label}", pressed):
        with attempt() as activating:
            client().versions.activate(side.model.handle, version=side.name)
        if activating.done:
            session.flash(f"{side.name} is in use.")
            st.rerun()


def _choose_trait(key: str) -> None:
    session.put({"trait": key})


def _draw_texts(
    model: Model, pair: Pair, keys: Sequence[str], traits: Sequence[Trait], names: Mapping[str, str], *, tests: int
) -> None:
    comparison = present_comparison(pair)
    if comparison is None and tests and may_read_samples(pair) and not is_discarded(pair):
        start(pair, TextSource(TESTS), keys)
    top = st.container()  # its reasons take longest, so they are drawn last
    if comparison is None or comparison.state != "running":
        _draw_other_texts(model, pair, keys, traits, comparison)
    if comparison:
        with top:
            draw_triage(comparison, pair, names, {trait.key: trait for trait in traits})


def _draw_other_texts(
    model: Model, pair: Pair, keys: Sequence[str], traits: Sequence[Trait], comparison: TextComparison | None
) -> None:
    with st.expander("Compare on other texts", icon=":material/playlist_add:", expanded=comparison is None):
        source = pick_source(model, pair, traits, _trait(keys) or keys[0])
        texts = source.texts if source else None
        if (
            st.button(
                f"Score {count(len(texts), 'text')} with both versions" if texts else "Score with both versions",
                icon=":material/play_arrow:",
                disabled=source is None,
                key="versions.compare",
            )
            and source
        ):
            start(pair, source, keys)
        if comparison:
            st.caption("A new comparison discards the results above. Download them first.")
        retention_note(pair)


def _trait(keys: Sequence[str]) -> str | None:
    """The trait that is chosen above, if it is one of these."""
    chosen = st.session_state.get("trait")
    return chosen if chosen in keys else next(iter(keys), None)


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
