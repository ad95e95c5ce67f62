"""The progress of a running batch, with its speed and remaining time, and the outcome of a finished one."""

import streamlit as st

from traitbench.contract.traits import Trait
from traitbench.display.text import count, plain, span
from traitbench_app.batch.options import forget
from traitbench_app.batch.results import draw_pictures, frame_so_far
from traitbench_app.parts.background_work import draw_end_of_work, draw_resume
from traitbench_app.shell.service import guarded
from traitbench_app.workspace import background
from traitbench_app.workspace.batches import Batch


def watch_batch(batch: Batch, trait: Trait | None) -> None:
    """Draw how far the batch is and the pictures so far, once a second; rerun the page when the batch has ended."""

    @st.fragment(run_every=1.0)
    def look() -> None:
        with guarded():
            # Counts as viewing it, so that the batch is not discarded while somebody watches.
            background.find(batch.id, Batch, owner=batch.owner)
            if batch.state != "running":
                st.rerun()
            left = f", about {span((batch.total - batch.done) / batch.rate)} left" if batch.rate > 0 else ""
            with st.container(horizontal=True, vertical_alignment="center", key="batch.progress"):
                st.header(f"{batch.done:,} of {batch.total:,} scored{left}", anchor=False, width="stretch")
                if st.button("Stop", icon=":material/stop:", key="batch.stop", help="Finished rows are kept."):
                    batch.stop()
                    st.rerun()
            st.progress(batch.done / max(batch.total, 1))
            failed = f" {count(batch.failed, 'row')} could not be scored so far." if batch.failed else ""
            st.caption(
                f"Scoring {plain(batch.name)}.{failed} The batch continues while you visit other pages. Keep this tab "
                "or its URL to find the results again."
            )
            if trait is not None and batch.done:
                draw_pictures(frame_so_far(batch, at_least=0.95), batch, trait)

    look()


def draw_end(batch: Batch) -> None:
    """Draw how the batch ended, with buttons to resume or discard it."""
    draw_end_of_work(batch, "batch", unit="row")
    took = f"{span(batch.seconds)}, {batch.done / batch.seconds:,.0f} rows per second" if batch.seconds >= 1 else ""
    mode = "" if batch.settings.mode == "full" else f", mode {batch.settings.mode}"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            f"**{plain(batch.name)}**: {count(batch.done, 'row')} scored with {batch.version}{mode}. :gray[{took}]",
            width="stretch",
        )
        if batch.source is not None:
            draw_resume(batch, key="batch.go_on")
        st.button(
            "Discard",
            icon=":material/delete:",
            key="batch.discard",
            type="tertiary",
            help="Delete the texts, scores and audits of this batch.",
            on_click=forget,
            args=(batch.handle,),
        )
