"""Messages from a worker to its parent, one line each over a pipe: that it is alive, is ready, and what it works on.

The heartbeat comes from a thread that needs the interpreter's lock, so it stops if the worker hangs. The parent then
knows which piece of which run the worker held, because every piece is announced before it starts. Lines are so short
that the kernel writes each as a whole. A parent that does not read them never blocks the worker.

Native code that releases the lock may hang while the heartbeat goes on. So every piece has a time limit too: a short
one while texts are encoded, a long one for any other step.
"""

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from threading import Event, Lock, Thread
from typing import Any, Literal, get_args

READY, BEAT, JUDGED, AT, ENCODER = "ready", "beat", "judged", "at", "encoder"

SLOW_EXIT = 75
"""Exit code of a worker when one piece takes too long."""

Cause = Literal["silent", "slow", "crashed", "memory"]
EncoderState = Literal["loading", "loaded", "failed"]

_BEAT_SECONDS = 1.0
_LONGEST_PIECE_SECONDS = 120.0
# The slowest real steps: 1 s to fit a trait with 20,000 samples at effort max (3 s with 64,000), 20 s for a discovery,
# minutes for the vocabulary of a large encoder on a slow machine. A step that takes half an hour is considered hung. A
# limit for whole runs would stop long ones that make progress.
_LONGEST_STEP_SECONDS = 1_800.0
_MAX_LINE = 4_096  # a pipe takes a line of this length as a whole
_STDOUT = 1


@dataclass(frozen=True)
class WorkItem:
    """Where a run is: its phase, how many steps of it are done, and the samples being encoded."""

    phase: str
    done: int = 0
    samples: tuple[int, ...] = ()

    def within(self, other: "WorkItem") -> bool:
        """Whether this is the same item as `other` or a part of it, so that there was no progress between the two."""
        if self.phase != other.phase:
            return False
        if self.samples and other.samples:
            return set(self.samples) <= set(other.samples)
        return (self.done, bool(self.samples)) == (other.done, bool(other.samples))

    def to_json(self) -> dict[str, Any]:
        """The item in the form that is sent over the pipe and stored."""
        return {"phase": self.phase, "done": self.done, "samples": list(self.samples)}

    @classmethod
    def from_json(cls, read: Mapping[str, Any]) -> "WorkItem":
        """Read what `to_json` wrote."""
        return cls(str(read["phase"]), int(read["done"]), tuple(int(each) for each in read["samples"]))


@dataclass(frozen=True)
class WorkerExit:
    """The crash or hang of a worker: its cause, and the item of each run that the worker held."""

    cause: Cause
    work: Mapping[str, WorkItem]

    def to_json(self) -> dict[str, Any]:
        """The exit in the form that is sent to the next worker."""
        return {"cause": self.cause, "places": {run: item.to_json() for run, item in self.work.items()}}

    @classmethod
    def from_json(cls, read: Mapping[str, Any]) -> "WorkerExit":
        """Read what `to_json` wrote."""
        return cls(read["cause"], {run: WorkItem.from_json(item) for run, item in read["places"].items()})


class Heartbeat:
    """The worker's side: sends heartbeats and messages.

    `longest_piece_s` is the time that one piece of samples may take, `longest_step_s` the time from one step of a run
    to the next.
    """

    def __init__(
        self,
        descriptor: int = _STDOUT,
        *,
        every_s: float = _BEAT_SECONDS,
        longest_piece_s: float = _LONGEST_PIECE_SECONDS,
        longest_step_s: float = _LONGEST_STEP_SECONDS,
    ) -> None:
        self._descriptor = descriptor
        self._every_s = every_s
        self._longest_piece_s, self._longest_step_s = longest_piece_s, longest_step_s
        self._seconds_left: dict[str, float] = {}
        self._lock = Lock()
        os.set_blocking(descriptor, False)

    def start(self) -> None:
        """Start the thread that sends heartbeats; it ends with the process."""
        Thread(target=self._beat, name="pulse", daemon=True).start()

    def ready(self) -> None:
        """Report that the worker executes runs."""
        self._send(READY)

    def judged(self) -> None:
        """Report that the crashes of earlier workers are recorded."""
        self._send(JUDGED)

    def encoder(self, state: EncoderState) -> None:
        """Report the state of the encoder."""
        self._send(f"{ENCODER} {state}")

    def at(self, run_id: str, item: WorkItem | None) -> None:
        """Report which piece of a run starts; `item` is None if the worker no longer holds the run."""
        with self._lock:
            if item is None:
                self._seconds_left.pop(run_id, None)
            else:
                self._seconds_left[run_id] = self._longest_piece_s if item.samples else self._longest_step_s
        self._send(f"{AT} {run_id} {json.dumps(item.to_json() if item else None, separators=(',', ':'))}")

    def _beat(self) -> None:
        never = Event()
        while not never.wait(self._every_s):
            self._send(BEAT)
            with self._lock:
                # Counted in beats, not by the clock: the time while this process is stopped does not count.
                self._seconds_left = {run_id: left - self._every_s for run_id, left in self._seconds_left.items()}
                over = any(left < 0 for left in self._seconds_left.values())
            if over:
                # A thread that hangs cannot be ended, but the process can.
                os._exit(SLOW_EXIT)

    def _send(self, line: str) -> None:
        content = f"{line}\n".encode()
        if len(content) <= _MAX_LINE:
            try:
                os.write(self._descriptor, content)
            except (BlockingIOError, BrokenPipeError):
                return  # the parent does not read, or has ended, which another thread notices


class Listener:
    """The parent's side: what the current worker has reported so far."""

    def __init__(self) -> None:
        self.ready = self.judged = False
        self.encoder: EncoderState = "loading"
        self.work: dict[str, WorkItem] = {}
        self._rest = b""

    def hear(self, content: bytes) -> None:
        """Read what arrived, whole lines or not; lines that are not a worker's messages are ignored."""
        *lines, self._rest = (self._rest + content).split(b"\n")
        for line in lines:
            self._line(line.decode(errors="replace").split(" ", 2))

    def _line(self, words: Sequence[str]) -> None:
        match words:
            case ["ready"]:
                self.ready = True
            case ["judged"]:
                self.judged = True
            case ["encoder", state] if state in get_args(EncoderState):
                self.encoder = state  # type: ignore[assignment]
            case ["at", run_id, encoded]:
                with suppress(ValueError, KeyError, TypeError):
                    item = json.loads(encoded)
                    self.work.pop(run_id, None)
                    if item is not None:
                        self.work[run_id] = WorkItem.from_json(item)
