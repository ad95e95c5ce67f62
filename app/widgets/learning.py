"""The automatic retraining, as one sees it happen: what waits for it, the run while it goes, and the new version.

It looks again by itself while something waits or runs, and not otherwise.
"""

from collections.abc import Sequence

import streamlit as st

from traitbench.app import session
from traitbench.app.navigation import page_link
from traitbench.app.service import client, guarded
from traitbench.app.text import count, plain
from traitbench.app.waiting import Rule, Waiting, rule, waiting
from traitbench.app.widgets.training import draw_run
from traitbench.contract.models import Model
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version

_SEEN, _NEW = "learning.seen", "learning.new"


def draw_learning(model: Model, traits: Sequence[Trait], versions: Sequence[Version]) -> None:
    """Draw what there is to say of a model that has versions, newest first; often nothing."""
    _announce(model)
    last = model.last_operation
    runs = model.state == "busy" and last is not None and last.kind == "retrain"
    waits = waiting(model, traits, versions[0] if versions else None)
    if last and last.kind == "retrain" and last.status == "failed":
        reason = last.error.message if last.error else "The service does not say why."
        st.warning(
            f"**Learning from feedback failed.** {plain(reason)} v{model.version_no} goes on scoring. The feedback is "
            "kept, and it is tried again in some minutes.",
            icon=":material/error:",
        )
    if not runs and not waits.samples:
        return
    this_rule = rule()

    @st.fragment(run_every=_pause(waits, runs=runs))
    def watch() -> None:
        with guarded():
            now = client().models.get(model.handle)
        if (now.state, now.version_no) != (model.state, model.version_no):
            st.rerun()
        with st.container(border=True, key="learning"):
            if runs:
                draw_run(now)
            else:
                _draw_waiting(model, waits, this_rule)

    watch()


def _pause(waits: Waiting, *, runs: bool) -> float | None:
    """Seconds until the next look; None when nothing happens by itself."""
    return 1.0 if runs else None if waits.stalled else 3.0


def _announce(model: Model) -> None:
    """Say it when the version that scores has become another one by learning from feedback."""
    key, last = f"{_SEEN}:{model.handle}", model.last_operation
    before = session.kept(key)
    session.keep(key, model.version_no)
    learnt = last is not None and (last.kind, last.status) == ("retrain", "succeeded")
    if before is not None and before != model.version_no and learnt:
        session.keep(f"{_NEW}:{model.handle}", (before, model.version_no))
        session.flash(f"v{model.version_no} scores now: it has learnt from the feedback.")
        session.show_flashes()
    earlier, new = session.kept(f"{_NEW}:{model.handle}", (None, None))
    if new is not None and new == model.version_no:
        with st.container(border=True, key="learning.new"):
            st.markdown(
                f":material/school: **v{new} scores now.** It has learnt from the feedback; v{earlier} stays among the "
                "versions and can be made to score again."
            )
            page_link(
                "versions", f"See v{earlier} and v{new} side by side", view="Compare", a=f"v{earlier}", b=f"v{new}"
            )


def _draw_waiting(model: Model, waits: Waiting, this_rule: Rule) -> None:
    share = min(waits.samples / this_rule.samples, 1.0)
    due = waits.due(this_rule)
    st.progress(share, text=f"{count(waits.samples, 'sample')} of feedback, {this_rule.samples} start a retraining")
    if waits.stalled:
        st.caption(
            f"The model does not retrain by itself: samples that v{model.version_no} learnt from were removed, and it "
            "would forget what they taught. A fresh search on the Train page learns from what is there."
        )
        return
    st.caption(
        f"The model retrains by itself when {this_rule.in_words}"
        + (f": that is {due}" if due else "")
        + f". v{model.version_no} scores until then."
    )
