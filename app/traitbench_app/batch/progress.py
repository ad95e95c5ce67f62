"""The progress of a running batch, with its speed and remaining time, and the outcome of a finished one."""

import streamlit as st

from traitbench.contract.traits import Trait
from traitbench.display.text import count, plain, span
from traitbench_app.batch.options import forget
from traitbench_app.batch.results import draw_pictures, frame_so_far
from traitbench_app.shell.service import explain_end, guarded
from traitbench_app.workspace import background
from traitbench_app.workspace.batches import Batch


def watch_batch(job: Batch, trait: Trait | None) -> None:
    """Draw how far the batch is and the pictures so far, once a second; rerun the page when the batch has ended."""

    @st.fragment(run_every=1.0)
    def look() -> None:
        with guarded():
            # Counts as viewing it, so that the batch is not discarded while somebody watches.
            background.find(job.id, Batch, owner=job.owner)
            if job.state != "running":
                st.rerun()
            left = f", about {span((job.total - job.done) / job.rate)} left" if job.rate > 0 else ""
            with st.container(horizontal=True, vertical_alignment="center", key="batch.progress"):
                st.header(f"{job.done:,} of {job.total:,} scored{left}", anchor=False, width="stretch")
                if st.button("Stop", icon=":material/stop:", key="batch.stop", help="Finished rows are kept."):
                    job.stop()
                    st.rerun()
            st.progress(job.done / max(job.total, 1))
            failed = f" {count(job.failed, 'row')} could not be scored so far." if job.failed else ""
            st.caption(
                f"Scoring {plain(job.name)}.{failed} The batch continues while you visit other pages. Keep this tab or "
                "its URL to find the results again."
            )
            if trait is not None and job.done:
                draw_pictures(frame_so_far(job, at_least=0.95), job, trait)

    look()


def draw_end(job: Batch) -> None:
    """Draw how the batch ended, with buttons to resume or discard it."""
    of = f"{job.done:,} of {job.total:,} rows"
    if job.state == "failed" and job.error:
        st.error(
            f"**The batch failed after {of}.** Finished rows are kept.\n\n{explain_end(job.error)}",
            icon=":material/error:",
        )
    elif job.state == "stopped":
        st.info(f"**Stopped after {of}.** Finished rows are kept.", icon=":material/pause_circle:")
    took = f"{span(job.seconds)}, {job.done / job.seconds:,.0f} rows per second" if job.seconds >= 1 else ""
    mode = "" if job.settings.mode == "full" else f", mode {job.settings.mode}"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            f"**{plain(job.name)}**: {count(job.done, 'row')} scored with {job.version}{mode}. :gray[{took}]",
            width="stretch",
        )
        if (
            job.state != "done"
            and job.source is not None
            and st.button("Resume", icon=":material/play_arrow:", type="primary", key="batch.go_on")
        ):
            job.start()
            st.rerun()
        st.button(
            "Discard",
            icon=":material/delete:",
            key="batch.discard",
            type="tertiary",
            help="Delete the texts, scores and audits of this batch.",
            on_click=forget,
            args=(job.handle,),
        )
