"""Corrections on a page: those that wait, what became of them, and the new version.

An open page shows a version that somebody else put in use within some seconds, too.
"""

from collections.abc import Sequence

import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.display.text import count, plain
from traitbench_app.shell import session
from traitbench_app.shell.navigation import page_link
from traitbench_app.shell.service import client, guarded
from traitbench_app.workspace.waiting import RetrainRule, WaitingFeedback, rule, waiting

_SEEN, _NEW = "learning.seen", "learning.new"
# Seconds between polls while feedback waits, and while nothing is expected to happen.
_OFTEN, _SLOWLY = 3.0, 10.0


def draw_learning(model: Model, traits: Sequence[Trait], versions: Sequence[Version]) -> None:
    """Draw the state of retraining, if there is anything to show; `versions` newest first."""
    _announce(model)
    last, busy = model.last_operation, model.state == "busy"
    waits = waiting(model, traits, versions[0] if versions else None)
    if last and last.kind == "retrain" and last.status == "failed":
        reason = last.error.message if last.error else "The service gave no reason."
        st.warning(
            f"**The corrections could not be learned.** {plain(reason)} v{model.version_no} keeps scoring. The "
            "corrections are kept, and the service tries again in a few minutes.",
            icon=":material/error:",
        )
    if busy:  # the header of the page follows the run
        return
    if not waits.samples:
        _watch_version(model)
        return
    this_rule = rule()

    @st.fragment(run_every=None if waits.stalled else _OFTEN)
    def watch() -> None:
        with guarded():
            now = client().models.get(model.handle)
        if (now.state, now.version_no) != (model.state, model.version_no):
            st.rerun()
        with st.container(border=True, key="learning"):
            _draw_waiting(model, waits, this_rule)

    watch()


def _watch_version(model: Model) -> None:
    """Draw nothing, but show the page again when another version is in use."""

    @st.fragment(run_every=_SLOWLY)
    def watch() -> None:
        with guarded():
            now = client().models.get(model.handle)
        if now.version_no != model.version_no:
            st.rerun()

    watch()


def _announce(model: Model) -> None:
    """Announce a new version that learned corrections."""
    key, last = f"{_SEEN}:{model.handle}", model.last_operation
    before = session.get(key)
    session.store(key, model.version_no)
    retrained = last is not None and (last.kind, last.status) == ("retrain", "succeeded")
    if before is not None and before != model.version_no and retrained:
        session.store(f"{_NEW}:{model.handle}", (before, model.version_no))
        session.flash(f"v{model.version_no} is in use: it has learned the corrections.")
        session.show_flashes()
    earlier, new = session.get(f"{_NEW}:{model.handle}", (None, None))
    if new is not None and new == model.version_no:
        with st.container(border=True, key="learning.new"):
            st.markdown(
                f":material/school: **v{new} is in use.** It has learned the corrections. You can switch back to "
                f"v{earlier} on the Versions page."
            )
            page_link("versions", f"Compare v{earlier} with v{new}", view="Compare", a=f"v{earlier}", b=f"v{new}")


def _draw_waiting(model: Model, waits: WaitingFeedback, this_rule: RetrainRule) -> None:
    share = min(waits.samples / this_rule.samples, 1.0)
    due = waits.due(this_rule)
    st.progress(share, text=f"{count(waits.samples, 'correction')} of {this_rule.samples}")
    if waits.stalled:
        st.caption(
            f"Nothing is learned by itself now: some samples of v{model.version_no} were removed, and a new version "
            "would be without them. To use the remaining samples, train again on the Train page."
        )
        return
    st.caption(f"{this_rule.learned}{f' Due {due}.' if due else ''} v{model.version_no} scores until then.")
