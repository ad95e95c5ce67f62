"""The progress of a running batch, with its speed and remaining time, and the outcome of a finished one."""

import streamlit as st

from traitbench.display.text import count, plain, span
from traitbench_app.batch.options import forget
from traitbench_app.parts.progress import watch_work
from traitbench_app.shell.service import explain_end
from traitbench_app.workspace.batches import Batch


def watch_batch(job: Batch) -> None:
    """Draw the progress once a second; rerun the whole page when the batch has ended."""

    watch_work(job, f"Scoring {plain(job.name)}", unit="row", key="batch")
    st.caption("The batch continues while you visit other pages. Keep this tab or its URL to find the results again.")


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
    mode = "" if job.asked.mode == "full" else f", mode {job.asked.mode}"
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
