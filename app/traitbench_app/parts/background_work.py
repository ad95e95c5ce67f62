"""Work of this process that a person can watch, stop and resume: its progress, and how it ended."""

import streamlit as st

from traitbench.display.text import count, span
from traitbench_app.shell.service import explain_end, guarded
from traitbench_app.workspace import background
from traitbench_app.workspace.background import BackgroundWork


def watch_work(work: BackgroundWork, title: str, *, unit: str, key: str) -> None:
    """Draw the progress once a second; rerun the whole page when the work has ended.

    `title` is Markdown, `unit` a noun such as "row".
    """

    @st.fragment(run_every=1.0)
    def look() -> None:
        with guarded():
            # Counts as viewing it, so that work is not discarded while somebody watches.
            background.find(work.id, type(work), owner=work.owner)
            if work.state != "running":
                st.rerun()
            _draw(work, title, unit, key)

    look()


def _draw(work: BackgroundWork, title: str, unit: str, key: str) -> None:
    with st.container(border=True, key=f"{key}.progress"):
        st.header(title, icon=":material/progress_activity:", anchor=False)
        st.progress(min(work.done / max(work.total, 1), 1.0), text=f"{work.done:,} of {work.total:,} {unit}s")
        rate = work.rate
        left = f"about {span((work.total - work.done) / rate)} left" if rate > 0 else "time left unknown"
        speed = f"{rate:,.0f} {unit}s per second, " if rate >= 1 else ""
        failed = f" {count(work.failed, unit)} could not be scored so far." if work.failed else ""
        st.caption(f"{span(work.seconds)} so far, {speed}{left}.{failed}")
        if st.button("Stop", icon=":material/stop:", key=f"{key}.stop", help=f"Finished {unit}s are kept."):
            work.stop()
            st.rerun()


def draw_end_of_work(work: BackgroundWork, name: str, *, unit: str) -> None:
    """Say how far work came that failed or was stopped."""
    of = f"{work.done:,} of {work.total:,} {unit}s"
    if work.state == "failed" and work.error:
        st.error(
            f"**The {name} failed after {of}.** Finished {unit}s are kept.\n\n{explain_end(work.error)}",
            icon=":material/error:",
        )
    elif work.state == "stopped":
        st.info(f"**Stopped after {of}.** Finished {unit}s are kept.", icon=":material/pause_circle:")


def draw_resume(work: BackgroundWork, *, key: str) -> None:
    """Draw the button that goes on with work that is not done."""
    if work.state != "done" and st.button("Resume", icon=":material/play_arrow:", type="primary", key=key):
        work.start()
        st.rerun()
