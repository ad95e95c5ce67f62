"""Operations: whether the service works, what failed and how to go on, what runs, and what is stored."""

import pandas as pd
import streamlit as st

from traitbench.app import console, operations, session
from traitbench.app.console import Listed
from traitbench.app.navigation import model_link
from traitbench.app.operations import KINDS, can_retry, size, took
from traitbench.app.service import attempt, client, guarded, namespaces
from traitbench.app.text import ago, count, plain, span
from traitbench.app.widgets.heading import heading
from traitbench.app.widgets.operators_only import operators_only
from traitbench.app.widgets.unreadable import draw_unreadable
from traitbench.settings import read_settings

AGAIN = "operations.again"
BUSY_SECONDS, IDLE_SECONDS = 2.0, 10.0
SIGNS = {"good": st.success, "busy": st.info, "failed": st.warning, "bad": st.error}
ICONS = {
    "good": ":material/check_circle:",
    "busy": ":material/progress_activity:",
    "failed": ":material/warning:",
    "bad": ":material/error:",
}

settings = read_settings()


def start_again(run: Listed) -> None:
    """Ask for a failed run again; a button's callback, so a refusal is kept for the page to show."""
    session.keep(AGAIN, run)


def draw_failed(run: Listed) -> None:
    """One failed run: what, why, and the button that starts it again."""
    with st.container(border=True, key=f"operations.failed.{run.id}"):
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            st.markdown(f"**{KINDS[run.kind]}** of **{plain(run.handle)}** failed", width="content")
            if can_retry(run) and run.handle.split(".")[0] in namespaces():
                st.button(
                    "Start again",
                    icon=":material/replay:",
                    key=f"operations.retry.{run.id}",
                    on_click=start_again,
                    args=(run,),
                )
        st.markdown(plain(run.error_message or "The service does not say why."))
        when = f"Failed {ago(run.finished_at or run.created_at)}, after {took(run)}"
        tries = f", in {count(run.attempts, 'attempt')}" if run.attempts > 1 else ""
        st.caption(f"{when}{tries}. Run `{run.id}`, code `{run.error_code}`.")
        if not can_retry(run):
            st.caption("The feedback is kept. The service learns from it by itself in some minutes.")
        elif run.handle.split(".")[0] not in namespaces():
            st.caption("This workbench's API key does not own the namespace, so it cannot start the run again.")
        model_link("model", "Open the model", model=run.handle)


def draw_live(run: Listed) -> None:
    """One run that goes on, or waits."""
    with st.container(border=True, key=f"operations.live.{run.id}"):
        st.markdown(f"**{KINDS[run.kind]}** of **{plain(run.handle)}**")
        progress = run.progress
        if run.status == "queued":
            st.progress(0.0, text=f"Waiting in the queue for {took(run)}")
        elif not progress:
            st.progress(0.0, text="Starting")
        else:
            share = min(max(float(progress["fraction"]), 0.0), 1.0)
            st.progress(share, text=f"{plain(str(progress['phase']).capitalize())}, {share:.0%}")
        tries = f" Attempt {run.attempts}." if run.attempts > 1 else ""
        st.caption(f"Effort {run.effort}. Asked for {ago(run.created_at)}.{tries}")


def draw_ended(runs: list[Listed]) -> None:
    """The runs that ended last, as a table."""
    table = [
        {
            "Model": run.handle,
            "Operation": KINDS[run.kind],
            "Outcome": "cancelled" if run.error_code == "cancelled" else run.status,
            "Requested": ago(run.created_at),
            "Took": took(run),
            "Attempts": run.attempts,
            "Reason": run.error_message or "",
        }
        for run in runs
    ]
    st.dataframe(pd.DataFrame(table), hide_index=True, width="stretch", key="operations.ended")


heading("operations")
operators_only(
    "Only the operator sees what the service does",
    "The Train page of a model shows how far its own runs are.",
    key="operations.closed",
)

if not console.available():
    with st.container(border=True, key="operations.remote"):
        st.subheader("Operations are shown where the service runs", icon=":material/cloud:", anchor=False)
        st.markdown(
            f"This workbench uses the service at `{settings.base_url}`. Open the workbench on that machine, or read "
            "its numbers with an authoring key:"
        )
        st.code(f'curl -H "Authorization: Bearer $KEY" {settings.base_url}/v1/metrics', language="bash")
    st.stop()

# ---- a failed run that is to start again -----------------------------------------------------------------------------

if again := session.kept(AGAIN):
    session.keep(AGAIN, None)
    with attempt() as starting:
        operations.retry(client(), again)
    if starting.done:
        session.flash(f"{KINDS[again.kind]} of {plain(again.handle)} has started again.")
        session.show_flashes()

# ---- what changes by itself ------------------------------------------------------------------------------------------

busy = bool(console.overview().count("queued", "running"))


@st.fragment(run_every=BUSY_SECONDS if busy else IDLE_SECONDS)
def watch() -> None:
    """Draw all of it; the page runs again when work begins or ends, to look more or less often."""
    with guarded():
        seen, runs, free = console.overview(), console.recent(), console.free_bytes()
        stored = console.rows()
    if bool(runs.live) != busy:
        st.rerun()
    now = operations.state(seen, failed=len(runs.failed), free_bytes=free)
    SIGNS[now.level](f"**{now.sentence}** {now.way_out}".strip(), icon=ICONS[now.level])

    if runs.failed:
        st.subheader("Failed", anchor=False)
        for run in runs.failed:
            draw_failed(run)
    if runs.live:
        st.subheader("In progress", anchor=False)
        for run in runs.live:
            draw_live(run)

    draw_unreadable(runs.unreadable, "run", key="operations.unreadable")

    st.subheader("At a glance", anchor=False)
    numbers = {
        "Workers": f"{len(seen.alive)}",
        "Waiting": f"{seen.count('queued')}",
        "Models": f"{stored['models']:,}",
        "Samples": f"{stored['samples']:,}",
        "Database": size(seen.database_bytes),
        "Free disk": size(free) if free is not None else "unknown",
    }
    with st.container(horizontal=True, key="operations.numbers"):
        for label, value in numbers.items():
            st.metric(label, value, border=True, width=150)
    for worker in seen.workers:
        gone = "" if worker in seen.alive else ". Another worker takes over its runs"
        st.caption(f"Worker `{worker.executor_id}` was seen {span(worker.age_s)} ago{gone}.")

    st.subheader("Recent runs", anchor=False)
    if runs.ended:
        draw_ended(list(runs.ended))
    else:
        st.caption("No run has ended yet. Train a model to see it here.")


watch()
