"""The progress of work that runs behind the page: how much is done, how fast, how long it takes, and a stop button."""

import streamlit as st

from traitbench.display.text import count, span
from traitbench_app.shell.service import guarded
from traitbench_app.workspace import background
from traitbench_app.workspace.background import BackgroundWork


def watch_work(job: BackgroundWork, title: str, *, unit: str, key: str) -> None:
    """Draw the progress once a second; rerun the whole page when the work has ended.

    `title` is Markdown, `unit` a noun such as "row".
    """

    @st.fragment(run_every=1.0)
    def look() -> None:
        with guarded():
            background.find(job.id, type(job), owner=job.owner)
            if job.state != "running":
                st.rerun()
            _draw(job, title, unit, key)

    look()


def _draw(job: BackgroundWork, title: str, unit: str, key: str) -> None:
    with st.container(border=True, key=f"{key}.progress"):
        st.subheader(title, icon=":material/progress_activity:", anchor=False)
        st.progress(min(job.done / max(job.total, 1), 1.0), text=f"{job.done:,} of {job.total:,} {unit}s")
        rate = job.rate
        left = f"about {span((job.total - job.done) / rate)} left" if rate > 0 else "time left unknown"
        speed = f"{rate:,.0f} {unit}s per second, " if rate >= 1 else ""
        failed = f" {count(job.failed, unit)} could not be scored so far." if job.failed else ""
        st.caption(f"{span(job.seconds)} so far, {speed}{left}.{failed}")
        if st.button("Stop", icon=":material/stop:", key=f"{key}.stop", help=f"Finished {unit}s are kept."):
            job.stop()
            st.rerun()
