"""What a worker tells its parent, a line each over a pipe: that it lives, that it works, and what it works on.

The pulse comes from a thread that needs the interpreter's lock: when the worker hangs, it stops. The parent then knows
which piece of which run the worker held, because every piece is announced before it is begun. Lines are short enough
for the kernel to write them whole, and a parent that does not read them never holds the worker up.

Native code that releases the lock may hang while the pulse goes on, so every piece has a time limit too: a short one
while texts are encoded, a long one for any other step.
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
"""How a worker exits when one piece takes too long."""

Cause = Literal["silent", "slow", "crashed", "memory"]
EncoderState = Literal["loading", "loaded", "failed"]

_BEAT_SECONDS = 1.0
_LONGEST_PIECE_SECONDS = 120.0
# The slowest real steps: 1 s to fit a trait with 20,000 samples at effort max (3 s with 64,000), 5 s for a discovery,
# minutes for the vocabulary of a large encoder on a slow machine. A step of half an hour hangs.
_LONGEST_STEP_SECONDS = 1_800.0
_LONGEST_LINE = 4_096  # what a pipe takes whole
_STDOUT = 1


@dataclass(frozen=True)
class Place:
    """Where a run is: its phase, how many steps of it are done, and the samples being encoded."""

    phase: str
    done: int = 0
    samples: tuple[int, ...] = ()

    def within(self, other: "Place") -> bool:
        """Whether this is the same place, or a part of it: then nothing was gained between the two."""
        if self.phase != other.phase:
            return False
        if self.samples and other.samples:
            return set(self.samples) <= set(other.samples)
        return (self.done, bool(self.samples)) == (other.done, bool(other.samples))

    def to_json(self) -> dict[str, Any]:
        """As it crosses the pipe, and as it is stored."""
        return {"phase": self.phase, "done": self.done, "samples": list(self.samples)}

    @classmethod
    def from_json(cls, read: Mapping[str, Any]) -> "Place":
        """The place that `to_json` wrote."""
        return cls(str(read["phase"]), int(read["done"]), tuple(int(each) for each in read["samples"]))


@dataclass(frozen=True)
class Death:
    """How a worker ended by its own doing, and where each run was that it held."""

    cause: Cause
    places: Mapping[str, Place]

    def to_json(self) -> dict[str, Any]:
        """As the next worker reads it."""
        return {"cause": self.cause, "places": {run: place.to_json() for run, place in self.places.items()}}

    @classmethod
    def from_json(cls, read: Mapping[str, Any]) -> "Death":
        """The death that `to_json` wrote."""
        return cls(read["cause"], {run: Place.from_json(place) for run, place in read["places"].items()})


class Pulse:
    """The worker's side.

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
        self._left: dict[str, float] = {}
        self._lock = Lock()
        os.set_blocking(descriptor, False)

    def start(self) -> None:
        """Begin to beat; it ends with the process."""
        Thread(target=self._beat, name="pulse", daemon=True).start()

    def ready(self) -> None:
        """Say that runs are executed."""
        self._say(READY)

    def judged(self) -> None:
        """Say that the deaths of earlier workers are on record."""
        self._say(JUDGED)

    def encoder(self, state: EncoderState) -> None:
        """Say how far the encoder is."""
        self._say(f"{ENCODER} {state}")

    def at(self, run_id: str, place: Place | None) -> None:
        """Say which piece of a run is begun; None when the run is out of the worker's hands."""
        with self._lock:
            if place is None:
                self._left.pop(run_id, None)
            else:
                self._left[run_id] = self._longest_piece_s if place.samples else self._longest_step_s
        self._say(f"{AT} {run_id} {json.dumps(place.to_json() if place else None, separators=(',', ':'))}")

    def _beat(self) -> None:
        never = Event()
        while not never.wait(self._every_s):
            self._say(BEAT)
            with self._lock:
                # Counted in beats, not by the clock: while this process was stopped, no time was lost.
                self._left = {run_id: left - self._every_s for run_id, left in self._left.items()}
                over = any(left < 0 for left in self._left.values())
            if over:
                # The thread that hangs cannot be ended, the process can.
                os._exit(SLOW_EXIT)

    def _say(self, line: str) -> None:
        content = f"{line}\n".encode()
        if len(content) <= _LONGEST_LINE:
            try:
                os.write(self._descriptor, content)
            except (BlockingIOError, BrokenPipeError):
                return  # the parent does not read, or has ended, which another thread notices


class Listener:
    """The parent's side: what the present worker has said so far."""

    def __init__(self) -> None:
        self.ready = self.judged = False
        self.encoder: EncoderState = "loading"
        self.places: dict[str, Place] = {}
        self._rest = b""

    def hear(self, content: bytes) -> None:
        """Take in what came, whole lines or not; what is not a worker's line is passed over."""
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
            case ["at", run_id, told]:
                with suppress(ValueError, KeyError, TypeError):
                    place = json.loads(told)
                    self.places.pop(run_id, None)
                    if place is not None:
                        self.places[run_id] = Place.from_json(place)
