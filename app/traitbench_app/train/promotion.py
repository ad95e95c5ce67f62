"""A draft of a model: whether it would be better and is better than the version in use, and putting it in use."""

from collections.abc import Mapping, Sequence

import streamlit as st

from traitbench.comparison.drafts import compared_ahead
from traitbench.contract.comparisons import VersionsComparison
from traitbench.contract.models import Model
from traitbench.contract.page import LARGEST_SAMPLE_PAGE
from traitbench.contract.traits import Trait
from traitbench.display.text import plain
from traitbench.display.verdicts import title
from traitbench.errors import PromotionConflict
from traitbench.local import preview
from traitbench.local.preview import PreviewUnavailable
from traitbench.names import pin
from traitbench_app.parts.controls import agreed_to, ask, forget, primary_link
from traitbench_app.parts.model_actions import origin_of
from traitbench_app.parts.verdict import compared, draw_changes, draw_picture, draw_verdict
from traitbench_app.parts.version_figures import names_of
from traitbench_app.shell import session
from traitbench_app.shell.navigation import page_link
from traitbench_app.shell.permission import why_read_only
from traitbench_app.shell.service import attempt, client, explain, reader, version

_ASK, _FORCE = "train.promote", "train.promote.force"


def draw_promotion(model: Model, names: Mapping[str, str]) -> None:
    """Draw the comparison with the version in use, and the button that puts the draft in use."""
    origin = origin_of(model)
    if model.forked_from is None:
        return
    handle = plain(model.forked_from.handle)
    if origin is None or origin.version_no is None or origin.state == "archived":
        gone = "has no version" if origin is not None and origin.state != "archived" else "was archived"
        st.caption(f"This model was made from {handle}, which {gone}. There is nothing to compare it with.")
        return
    with st.container(border=True, key="train.promotion"):
        with st.spinner(f"Comparing with {handle}", show_time=True), attempt() as comparing:
            comparison = compared(reader(), pin(origin.handle, f"v{origin.version_no}"), _pinned(model))
        if not comparing.done:
            return
        other = f"{origin.handle} v{origin.version_no}"
        labels, is_known = (other, "the draft"), any(each.n for each in comparison.traits.values())
        draw_verdict(comparison, names, labels)
        pinned = pin(origin.handle, f"v{origin.version_no}")
        if model.forked_from.version_no != origin.version_no:
            st.caption(f"This draft was made from v{model.forked_from.version_no}; {plain(other)} is in use.")
        draw_picture(comparison, names, labels, key="train.promotion_figures")
        draw_changes(comparison, names)
        with st.container(horizontal=True, vertical_alignment="center"):
            if comparison.verdict == "unknown" and not is_known:
                primary_link(
                    "versions", "Set texts aside and train both again", view="Compare", a=pinned,
                    b=f"v{model.version_no}",
                )  # fmt: skip
            is_better, forbidden = comparison.verdict == "better", why_read_only(origin)
            st.button(
                "Put the draft in use" if is_better else "Use it anyway",
                type="primary" if is_better else "tertiary",
                icon=":material/publish:",
                key="train.promote_button",
                on_click=ask,
                args=(_ASK, model.handle),
                disabled=bool(forbidden) or origin.state != "ready",
                help=forbidden or ("Wait until its run has ended." if origin.state == "busy" else None),
            )
            page_link(
                "versions",
                "Compare text by text",
                icon=":material/compare_arrows:",
                view="Compare",
                a=pinned,
                b=f"v{model.version_no}",
            )
    if session.get(_ASK) == model.handle:
        st.dialog(f"Put it in use as {origin.handle} v{_next_version_no(origin)}", width="large", on_dismiss=_close)(
            _confirm
        )(model, origin, comparison, names)


def _pinned(model: Model) -> str:
    return pin(model.handle, f"v{model.version_no}")


def _next_version_no(origin: Model) -> int:
    newest = next(iter(client().versions.list(origin.handle, limit=1)), None)
    return max(newest.version_no if newest else 0, origin.version_no or 0) + 1


def _close() -> None:
    forget(_ASK)
    session.store(_FORCE, None)


def _confirm(model: Model, origin: Model, comparison: VersionsComparison, names: Mapping[str, str]) -> None:
    st.markdown(f"**{title(comparison.verdict)}.** {plain(comparison.reason)}")
    for key, each in comparison.traits.items():
        st.markdown(f"- **{plain(names.get(key, key))}.** {plain(each.reason)}")
    st.markdown(
        f"Programs that score with **{plain(origin.handle)}** get scores of the new version at once. Its traits and "
        "samples are replaced by those of this draft. Earlier versions stay, so you can go back."
    )
    keep = st.toggle(
        f"Keep {plain(model.handle)}",
        key="train.promote_keep",
        help="Otherwise the draft is archived: it is done.",
        persist_state="page",
    )
    refusal = st.container()
    force = session.get(_FORCE) == model.handle
    with st.container(horizontal=True, horizontal_alignment="right"):
        if st.button("Not yet", key="train.promote_no"):
            _close()
            st.rerun()
        version_no = _next_version_no(origin)
        does = "Do it anyway" if force else "Put it in use"
        pressed = st.button(does, type="primary", icon=":material/publish:", key="train.promote_yes")
    with refusal:
        # Another training may have changed what the person agreed to.
        agreed = agreed_to(_ASK, f"{_pinned(model)} {version_no} {comparison.reason}", pressed)
    if not agreed:
        return
    with refusal, attempt() as promoting:
        try:
            version = client().models.promote(origin.handle, from_=model.handle, force=force, keep=keep)
        except PromotionConflict as conflict:
            _draw_conflict(model, conflict)
            return
    if promoting.done:
        _close()
        session.flash(f"{plain(origin.handle)} v{version.version_no} is in use now.")
        session.next_model(origin.handle)
        st.rerun()


def _draw_conflict(model: Model, conflict: PromotionConflict) -> None:
    """Say what happened meanwhile; the next press of the button puts the draft in use all the same."""
    st.warning(explain(conflict), icon=":material/warning:")
    session.store(_FORCE, model.handle)


_KEY = "train.ahead"


def draw_ahead(model: Model, traits: Sequence[Trait]) -> None:
    """Draw the button of the preview and its result; nothing unless the draft was made from a trained model."""
    origin = origin_of(model)
    if origin is None or origin.version_no is None or origin.state == "archived":
        return
    other = f"{plain(origin.handle)} v{origin.version_no}"
    with st.container(border=True, key=_KEY):
        st.markdown(
            f"**Would it be better than {other}?** This trains the draft in memory and checks it on its test samples."
        )
        state = [(each.key, each.sample_count, each.held_out_samples) for each in traits]
        if st.button("Compare before training", icon=":material/preview:", key=f"{_KEY}.preview"):
            with st.spinner("Training the draft in memory", show_time=True):
                try:
                    session.store(_KEY, (model.handle, state, _compared(model, origin, traits)))
                except PreviewUnavailable as reason:
                    session.store(_KEY, None)
                    st.info(plain(str(reason)), icon=":material/info:")
        stored = session.get(_KEY)
        if stored and stored[:2] == (model.handle, state):
            names, labels = names_of(traits), (f"{origin.handle} v{origin.version_no}", "the draft")
            draw_verdict(stored[2], names, labels)
            draw_picture(stored[2], names, labels, key=f"{_KEY}.figures")
            st.caption("Nothing is stored. Training checks it again.")


def _compared(model: Model, origin: Model, traits: Sequence[Trait]) -> VersionsComparison:
    samples, learned = (list(client().samples.list(each.handle, limit=LARGEST_SAMPLE_PAGE)) for each in (model, origin))
    rehearsal = preview.rehearse(model, traits, [each for each in samples if not each.held_out])
    listed = client().versions.get(origin.handle, f"v{origin.version_no}")
    return compared_ahead(origin.handle, version(origin.handle, listed), model, rehearsal, samples, learned)
