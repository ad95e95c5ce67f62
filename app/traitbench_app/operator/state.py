"""The content of the Operations page: the state of the service in a sentence, and the retry of failed runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from traitbench.client import Traitbench
from traitbench.display.text import count, span
from traitbench.operations.operating import Listed, Overview

_STUCK_SECONDS = 120.0
_TRAININGS = frozenset({"train", "retune", "retrain"})
_DAY = timedelta(hours=24)
_UNITS = ((2**40, "TB"), (2**30, "GB"), (2**20, "MB"), (2**10, "kB"))


@dataclass(frozen=True)
class ServiceState:
    """The state of the service in a sentence; `way_out` says what to do if something is wrong."""

    sentence: str
    way_out: str = ""


def state(seen: Overview, *, failed: int, free_bytes: int | None, trainings: int = 0) -> ServiceState:
    """Return the most serious state of the service; `trainings` are those of the last 24 hours."""
    running, queued, workers = seen.count("running"), seen.count("queued"), len(seen.alive)
    waiting = f"{count(queued, 'run')} {'is' if queued == 1 else 'are'} waiting"
    if not workers:
        last = min((each.age_s for each in seen.workers), default=None)
        ago = "" if last is None else f" The last one was seen {span(last)} ago."
        waits = f" {waiting.capitalize()}." if queued else ""
        return ServiceState(
            f"No worker is running.{waits}{ago}",
            "Scores still work, but nothing is trained without a worker. The service should start one within seconds. "
            "If it does not, read its log and restart the service.",
        )
    if free_bytes is not None and free_bytes < 2**30:
        return ServiceState(
            f"The disk is almost full: {size(free_bytes)} are free.",
            "Free some space now. Nothing can be stored on a full disk.",
        )
    if queued and not running and seen.oldest_wait_s > _STUCK_SECONDS:
        return ServiceState(
            f"{waiting.capitalize()}, the oldest for {span(seen.oldest_wait_s)}, but none is running.",
            f"{count(workers, 'worker').capitalize()} should take the next run within a second. If not, read the "
            "service's log and restart the service.",
        )
    if failed:
        begins = f"{count(failed, 'run')} failed, and nothing has repaired {'it' if failed == 1 else 'them'}."
        return ServiceState(
            f"{begins} {_busy(running, queued, seen.oldest_wait_s)}".strip(), "Read why below, then start again."
        )
    if busy := _busy(running, queued, seen.oldest_wait_s):
        return ServiceState(f"Everything works. {busy}")
    return ServiceState(f"Everything works: {count(trainings, 'training')} in the last 24 hours, nothing waits.")


def _busy(running: int, queued: int, oldest_wait_s: float) -> str:
    if not running and not queued:
        return ""
    begins = f"{count(running, 'run')} in progress" if running else f"{count(queued, 'run')} about to start"
    oldest = f", the oldest for {span(oldest_wait_s)}" if oldest_wait_s >= 1 else ""
    return f"{begins}{f', {queued:,} waiting{oldest}' if running and queued else ''}."


def trainings_of(runs: Sequence[Listed]) -> int:
    """How many of the runs are trainings that were requested in the last 24 hours."""
    since = datetime.now(UTC) - _DAY
    return sum(each.kind in _TRAININGS and each.created_at >= since for each in runs)


def outcome(run: Listed) -> str:
    """The state of a run in words: `running, 25 %`, `waits`, `succeeded`, `failed`, `cancelled`."""
    if run.status == "queued":
        return "waits"
    if run.status == "running":
        fraction = float((run.progress or {}).get("fraction", 0.0))
        return f"running, {100 * min(max(fraction, 0.0), 1.0):.0f} %"
    return "cancelled" if run.error_code == "cancelled" else run.status


def took(run: Listed, now: datetime | None = None) -> str:
    """Return the time from the request of a run to its end, or until now."""
    return span(((run.finished_at or now or datetime.now(UTC)) - run.created_at).total_seconds())


def can_retry(run: Listed) -> bool:
    """Whether the API can start this operation. Nothing but the service can start a retraining from feedback."""
    return run.kind != "retrain"


def retry(client: Traitbench, run: Listed) -> None:
    """Start the operation of a failed run again with the same options."""
    options: Mapping[str, Any] = run.options
    effort: Any = run.effort
    if run.kind in ("train", "retune"):
        labels = options.get("use_labels", True) is not False
        retune, encoder = run.kind == "retune", options.get("encoder")
        client.models.train(run.handle, effort=effort, reoptimize_params=retune, use_labels=labels, encoder=encoder)
    elif run.kind == "discover":
        client.traits.discover(run.handle, effort=effort)
    elif run.kind == "synthesize":
        client.samples.synthesize(run.handle, synth_type=options.get("synth_type", "from_traits"), effort=effort)


def size(number: int) -> str:
    """Format a number of bytes: `640 kB`, `1.2 GB`."""
    for unit, name in _UNITS:
        if number >= unit:
            value = number / unit
            return f"{value:.1f} {name}" if value < 10 else f"{value:.0f} {name}"
    return f"{number} B"
