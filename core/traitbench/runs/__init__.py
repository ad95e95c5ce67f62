"""Long operations: the narrow interface between the service and the run engine.

Behind it: `queue` (queueing), `supervisor` and `engine` (start the worker process and keep it alive), `worker` (that
process), `heartbeat` (its messages to the parent), `execution` (one run being executed), `recovery` (what the engine
does not have: takeover, reconciliation, runs that bring their worker down), `schedules` (periodic tasks and priority).
"""

from typing import Protocol

from sqlalchemy import Connection

from traitbench.runs.heartbeat import EncoderState


class Queue(Protocol):
    """The queue of runs."""

    def enqueue(
        self, connection: Connection, run_id: str, kind: str, model_id: int, *, automatic: bool = False
    ) -> None:
        """Queue a run inside the caller's transaction: it is queued only if that commits.

        A run that nobody requested is `automatic`. It never keeps a requested one waiting.
        """

    def cancel(self, run_id: str) -> None:
        """Keep a queued run from starting; a running one notices at its next report of progress."""


class RunEngine(Queue, Protocol):
    """Executes runs, each at least once, one at a time per model, whichever process dies meanwhile."""

    def start(self) -> None:
        """Start to execute runs."""

    def stop(self) -> None:
        """Stop within seconds; interrupted runs continue after the next start."""

    def close(self) -> None:
        """Stop, and close the connection to the database."""

    def healthy(self) -> bool:
        """Whether runs are being executed."""

    def silent_s(self) -> float | None:
        """Seconds since the worker's last sign of life; None if there is no worker."""

    def encoder(self) -> EncoderState:
        """Whether the worker's encoder is loading, loaded or has failed to load."""
