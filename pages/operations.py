"""Operations: service health, failed runs with a retry, running work, and stored data."""

import pandas as pd
import streamlit as st

from traitbench.display.text import ago, count, plain, span
from traitbench.operations import console
from traitbench.operations.console import Listed
from traitbench.settings import read_settings
from traitbench_app.operator import state as operations
from traitbench_app.operator.state import KINDS, can_retry, size, took
from traitbench_app.parts.heading import heading
from traitbench_app.parts.operators_only import operators_only
from traitbench_app.parts.unreadable import draw_unreadable
from traitbench_app.shell import session
from traitbench_app.shell.navigation import model_link
from traitbench_app.shell.service import attempt, client, guarded, namespaces

RETRY = "operations.retry"
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
    """Mark a failed run to be started again. A button callback: the page starts the run, so it can show a refusal."""
    session.store(RETRY, run)


def seen_ago(seconds: float) -> str:
    """Return how long ago a worker was seen, in words."""
    return "just now" if seconds < 5 else f"{span(seconds)} ago"


def draw_failed(run: Listed) -> None:
    """Draw one failed run with its reason and a button to start it again."""
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
        st.markdown(plain(run.error_message or "The service gave no reason."))
        when = f"Failed {ago(run.finished_at or run.created_at)}, after {took(run)}"
        tries = f", in {count(run.attempts, 'attempt')}" if run.attempts > 1 else ""
        st.caption(f"{when}{tries}. Run `{run.id}`, code `{run.error_code}`.")
        if not can_retry(run):
            st.caption("The corrections are kept. The service learns them within a few minutes.")
        elif run.handle.split(".")[0] not in namespaces():
            st.caption("To start the run again, use an API key that owns the model's namespace.")
        model_link("model", "Open the model", model=run.handle)


def draw_live(run: Listed) -> None:
    """Draw one run that is running or queued."""
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
        st.caption(f"Effort {run.effort}. Requested {ago(run.created_at)}.{tries}")


def draw_ended(runs: list[Listed]) -> None:
    """Draw the most recent finished runs as a table."""
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
    "Only the operator can see operations",
    "To follow the runs of one model, open its Train page.",
    key="operations.closed",
)

if not console.available():
    with st.container(border=True, key="operations.remote"):
        st.subheader("Operations are shown where the service runs", icon=":material/cloud:", anchor=False)
        st.markdown(
            f"This workbench uses the service at `{settings.base_url}`. Open the workbench on that machine, or read "
            "its metrics with an authoring key:"
        )
        st.code(
            f'curl -H "Authorization: Bearer $KEY" {settings.base_url}/v1/metrics', language="bash", wrap_lines=True
        )
    st.stop()

# ---- start a failed run again ----------------------------------------------------------------------------------------

if run := session.get(RETRY):
    session.store(RETRY, None)
    with attempt() as starting:
        operations.retry(client(), run)
    if starting.done:
        session.flash(f"{KINDS[run.kind]} of {plain(run.handle)} was started again.")
        session.show_flashes()

# ---- the live view ---------------------------------------------------------------------------------------------------

busy = bool(console.overview().count("queued", "running"))


@st.fragment(run_every=BUSY_SECONDS if busy else IDLE_SECONDS)
def watch() -> None:
    """Draw the live view. Rerun the page when work starts or ends, to change the polling interval."""
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
        "Queued runs": f"{seen.count('queued')}",
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
        st.caption(f"Worker `{worker.executor_id}` was seen {seen_ago(worker.age_s)}{gone}.")

    st.subheader("Recent runs", anchor=False)
    if runs.ended:
        draw_ended(list(runs.ended))
    else:
        st.caption("No runs have finished yet.")


watch()
