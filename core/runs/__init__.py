"""Long operations: the narrow port that the rest of the service sees of the run engine.

Behind it: `queue` (queueing), `supervisor` and `engine` (who keeps the child process that executes), `worker` (that
child), `pulse` (what the child tells its parent), `execution` (one run being executed), `blame` (a run that brings its
worker down), `room` (who runs beside whom), `guard` (heartbeat, takeover, reconciling: what the engine lacks),
`schedules` (what is done beside).
"""

from typing import Protocol

from sqlalchemy import Connection

from traitbench.runs.pulse import EncoderState


class Queue(Protocol):
    """Where runs wait for their execution."""

    def enqueue(self, connection: Connection, run_id: str, kind: str, model_id: int) -> None:
        """Queue a run inside the caller's transaction: it exists when that commits, and not otherwise."""

    def cancel(self, run_id: str) -> None:
        """Keep a queued run from starting; one that runs notices at its next sign of progress."""


class RunEngine(Queue, Protocol):
    """Executes runs, each at least once, one at a time per model, whatever dies meanwhile."""

    def start(self) -> None:
        """Begin to execute runs."""

    def stop(self) -> None:
        """End within seconds; what was running goes on when somebody starts again."""

    def close(self) -> None:
        """Stop, and let go of the database."""

    def healthy(self) -> bool:
        """Whether runs are being executed."""

    def silent_s(self) -> float | None:
        """Seconds since the worker last said that it lives; None while there is none."""

    def encoder(self) -> EncoderState:
        """How far the worker's encoder is."""
