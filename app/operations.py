"""What the operations page says: one sentence on the state of the service, and how a failed run is started again."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from traitbench.app.console import Listed, Overview
from traitbench.app.text import count, span
from traitbench.client import Traitbench
from traitbench.contract.models import OperationKind

Level = Literal["good", "busy", "failed", "bad"]

KINDS: Mapping[OperationKind, str] = {
    "train": "Training",
    "retune": "New search",
    "retrain": "Learning from feedback",
    "discover": "Discovery",
    "synthesize": "Synthesis",
}

_STUCK_SECONDS = 120.0
_UNITS = ((2**40, "TB"), (2**30, "GB"), (2**20, "MB"), (2**10, "kB"))


@dataclass(frozen=True)
class State:
    """The state of the service in a sentence; `way_out` says what to do where something is wrong."""

    level: Level
    sentence: str
    way_out: str = ""


def state(seen: Overview, *, failed: int, free_bytes: int | None) -> State:
    """What to say first: the worst comes before the rest."""
    running, queued, workers = seen.count("running"), seen.count("queued"), len(seen.alive)
    waiting = f"{count(queued, 'run')} {'waits' if queued == 1 else 'wait'}"
    if not workers:
        last = min((each.age_s for each in seen.workers), default=None)
        ago = "" if last is None else f" The last one was seen {span(last)} ago."
        waits = f" {waiting.capitalize()} for it." if queued else ""
        return State(
            "bad",
            f"No worker is running.{waits}{ago}",
            "Scores still work; nothing is trained until a worker runs. The service starts one by itself within "
            "seconds. If none comes, its log says why: read it and start the service again.",
        )
    if free_bytes is not None and free_bytes < 2**30:
        return State(
            "bad",
            f"The disk is almost full: {size(free_bytes)} are free.",
            "Free some space now. When the disk is full, nothing new can be stored.",
        )
    alive = count(workers, "worker")
    if queued and not running and seen.oldest_wait_s > _STUCK_SECONDS:
        return State(
            "bad",
            f"{waiting.capitalize()}, the oldest for {span(seen.oldest_wait_s)}, and nothing runs.",
            f"{alive.capitalize()} should take the next run within a second. Read the log of the service, and start "
            "the service again if it does not go on.",
        )
    if running or queued:
        begins = f"{count(running, 'run')} in progress" if running else "A run is about to start"
        waits = f", {waiting}" + (f", the oldest for {span(seen.oldest_wait_s)}" if seen.oldest_wait_s >= 1 else "")
        return State("busy", f"{begins}{waits if queued else ''}; {alive}.")
    if failed:
        verb = "is" if workers == 1 else "are"
        return State("failed", f"{count(failed, 'operation')} failed. {alive.capitalize()} {verb} running.")
    return State("good", f"Everything is running: {alive}, nothing waits.")


def took(run: Listed, now: datetime | None = None) -> str:
    """How long a run took from its request to its end, or has taken so far."""
    return span(((run.finished_at or now or datetime.now(UTC)) - run.created_at).total_seconds())


def can_retry(run: Listed) -> bool:
    """Whether the API has a verb for it: learning from feedback starts by itself."""
    return run.kind != "retrain"


def retry(client: Traitbench, run: Listed) -> None:
    """Start the operation of a failed run again, as it was asked for."""
    options: Mapping[str, Any] = run.options
    effort: Any = run.effort
    if run.kind in ("train", "retune"):
        labels = options.get("use_labels", True) is not False
        client.models.train(run.handle, effort=effort, reoptimize_params=run.kind == "retune", use_labels=labels)
    elif run.kind == "discover":
        client.traits.discover(run.handle, effort=effort)
    elif run.kind == "synthesize":
        client.samples.synthesize(run.handle, synth_type=options.get("synth_type", "from_traits"), effort=effort)


def size(number: int) -> str:
    """`640 kB`, `1.2 GB`."""
    for unit, name in _UNITS:
        if number >= unit:
            value = number / unit
            return f"{value:.1f} {name}" if value < 10 else f"{value:.0f} {name}"
    return f"{number} B"
