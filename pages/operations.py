"""Operations: the state of the service in a sentence, failed runs with a retry, all runs, and what they run on."""

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from traitbench.display.text import ago, count, plain, span
from traitbench.operations import console, operating
from traitbench.operations.operating import Listed, Overview
from traitbench.settings import read_settings
from traitbench_app.operator.access import operators_only
from traitbench_app.operator.state import can_retry, outcome, retry, size, state, took, trainings_of
from traitbench_app.operator.timeline import timeline
from traitbench_app.parts.controls import draw_title, draw_unreadable, question
from traitbench_app.parts.runs import EFFORTS, KINDS
from traitbench_app.shell import session
from traitbench_app.shell.navigation import model_link
from traitbench_app.shell.service import attempt, client, guarded, namespaces

RETRY = "operations.retry"
BUSY_SECONDS, IDLE_SECONDS = 2.0, 10.0
MOST_FAILED = 5

settings = read_settings()
METRICS = f'curl -H "Authorization: Bearer $KEY" {settings.base_url}/v1/metrics'


def draw_failed(run: Listed, *, is_first: bool) -> None:
    """Draw one failed run with its reason and a button to start it again."""
    owned = run.handle.split(".")[0] in namespaces()
    with st.container(border=True, key=f"card.operations.failed.{run.id}"):
        st.markdown(f"**{KINDS[run.kind]} of {plain(run.handle)} failed.** {plain(run.error_message or 'No reason.')}")
        when = f"{ago(run.finished_at or run.created_at).capitalize()}, after {took(run)}"
        tries = f", in {count(run.attempts, 'attempt')}" if run.attempts > 1 else ""
        way_out = ""
        if not can_retry(run):
            way_out = " The corrections are kept. The service learns them within a few minutes."
        elif not owned:
            way_out = " To start the run again, use an API key that owns the model's namespace."
        st.caption(f"{when}{tries}. Run `{run.id}`, code `{run.error_code}`.{way_out}")
        with st.container(horizontal=True, vertical_alignment="center"):
            if can_retry(run) and owned:
                st.button(
                    "Start again",
                    type="primary" if is_first else "secondary",
                    key=f"operations.retry.{run.id}",
                    on_click=session.store,
                    args=(RETRY, run),
                )
            model_link("model", "Open the model", model=run.handle)


def draw_runs(runs: Sequence[Listed]) -> None:
    """Draw the runs as a picture and as a table, newest first."""
    with question("What ran, and when?", key="operations.runs"):
        if not runs:
            st.caption("No run yet. A training, a discovery or a synthesis appears here.")
            return
        st.html(timeline(runs) or "<p>Nothing ran in the last 30 days.</p>")
        table = [
            {
                "Model": run.handle,
                "Run": KINDS[run.kind],
                "State": outcome(run),
                "Requested": ago(run.created_at),
                "Took": took(run),
                "Attempts": run.attempts,
                "Effort": next((EFFORTS[each] for each in EFFORTS if each == run.effort), run.effort),
                "Reason": run.error_message or "",
            }
            for run in runs
        ]
        st.dataframe(
            pd.DataFrame(table).loc[:, lambda frame: (frame != "").any()],
            hide_index=True,
            width="stretch",
            height=320 if len(table) > 8 else "content",
            key="operations.runs",
        )


def facts(seen: Overview, stored: Mapping[str, int], free: int | None) -> dict[str, str]:
    """What the service runs on, in words."""
    seen_ago = [f"seen {span(each.age_s)} ago" + ("" if each in seen.alive else ", lost") for each in seen.workers]
    build = operating.build()
    kind, _, _ = settings.database_url.partition(":")
    return {
        "Software": f"Traitbench {build['version']} on Python {build['python']}",
        "Database": f"{kind.partition('+')[0]}, {size(seen.database_bytes)}: "
        f"{count(stored['models'], 'model')} (archived ones too), {count(stored['versions'], 'version')}, "
        f"{count(stored['samples'], 'sample')}",
        "Free disk": "unknown" if free is None else size(free),
        "Encoder": console.encoder(),
        "Workers": f"{len(seen.alive):,} running" + (f" ({'; '.join(seen_ago)})" if seen_ago else ""),
        "Backups": "not recorded here; make one while the service runs: traitbench backup all.backup",
    }


@st.dialog("All figures", width="large")
def draw_figures(seen: Overview) -> None:
    """Draw the numbers of runs since the first one, the workers by id, and where programs read them."""
    tally = [
        {
            "Run": KINDS[each.kind],
            "Outcome": each.outcome,
            "Runs": each.count,
            "Mean time": span(each.seconds / each.count) if each.count else "",
        }
        for each in seen.tally
    ]
    if tally:
        st.dataframe(pd.DataFrame(tally), hide_index=True, width="stretch")
    for each in seen.workers:
        st.caption(f"Worker `{each.executor_id}`: last heartbeat {each.age_s:.1f} s ago.")
    st.code(METRICS, language="bash", wrap_lines=True)


operators_only(
    "operations",
    "Only the operator can see operations",
    "To follow the runs of one model, open its Train page.",
    elsewhere=(
        "Operations are shown where the service runs",
        "Open the workbench on that machine, or read its metrics with an authoring key:",
        METRICS,
    ),
)

# ---- start a failed run again ----------------------------------------------------------------------------------------

if run := session.get(RETRY):
    session.store(RETRY, None)
    with attempt() as starting:
        retry(client(), run)
    if starting.done:
        session.flash(f"{KINDS[run.kind]} of {plain(run.handle)} was started again.")
        session.show_flashes()

# ---- the live view ---------------------------------------------------------------------------------------------------

database = console.engine()
busy = bool(operating.overview(database).count("queued", "running"))


@st.fragment(run_every=BUSY_SECONDS if busy else IDLE_SECONDS)
def watch() -> None:
    """Draw the live view. Rerun the page when work starts or ends, to change the polling interval."""
    with guarded():
        seen, runs, free = (
            operating.overview(database),
            operating.recent(database),
            operating.free_bytes(settings),
        )
        stored = operating.rows(database)
    if bool(runs.live) != busy:
        st.rerun()
    every = [*runs.live, *runs.ended]
    failed, trainings = len(runs.failed), trainings_of(every)
    now = state(seen, failed=failed, free_bytes=free, trainings=trainings)
    room = "" if free is None else f", {size(free)} free on the disk"
    draw_title(now.sentence, now.way_out or f"{count(len(seen.alive), 'worker')}{room}.")
    for position, run in enumerate(runs.failed[:MOST_FAILED]):
        draw_failed(run, is_first=position == 0)
    if failed > MOST_FAILED:
        st.caption(f"{count(failed - MOST_FAILED, 'more run')} failed. They follow here as these are repaired.")
    draw_unreadable(runs.unreadable, "run", key="operations.unreadable")
    draw_runs(every)
    with question("What does it run on?", key="operations.facts"):
        st.markdown("\n".join(f"- **{name}**: {plain(said)}" for name, said in facts(seen, stored, free).items()))


watch()
if st.button("All figures", icon=":material/query_stats:", type="tertiary", key="operations.figures"):
    draw_figures(operating.overview(database))
