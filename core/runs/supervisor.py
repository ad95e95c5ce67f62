"""The parent of the worker: starts it, restarts it when it dies or hangs, ends it.

The child is told what it needs over its standard input, which stays open: when the parent ends, however it ends, the
child reads the end of it and ends too. It has a session of its own, so that a Ctrl-C is the parent's business alone.
Over its standard output it says that it lives and what it works on (`pulse`); one that is silent too long is killed.

The parent tells bad luck from a worker's own doing. A worker that hangs, crashes, exceeds the time for a piece or is
killed by the kernel for its memory was brought down by what it held, and the next worker is told so. A worker that was
killed or stopped from outside, or ended with its parent, was not.
"""

import json
import logging
import os
import select
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Event, Lock, Thread
from time import monotonic
from typing import Any

from traitbench.runs.pulse import SLOW_EXIT, Cause, Death, EncoderState, Listener
from traitbench.settings import child_environment

SILENCE_SECONDS = 60.0
"""A worker that has said nothing for so long hangs; a slow machine gets a word in."""

_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 30.0
_PATIENCE = 3.0
_LOOK_SECONDS = 1.0
_MOST_BYTES = 65_536

_CRASHES = frozenset({-signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS, -signal.SIGILL, -signal.SIGFPE})

# Sums that several threads share round by how they share them, and equal inputs must give equal parameters.
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}

_log = logging.getLogger(__name__)


class Supervisor:
    """One child process, kept alive between `start` and `stop`."""

    def __init__(
        self, command: Sequence[str], greeting: Mapping[str, Any], *, silence_s: float = SILENCE_SECONDS
    ) -> None:
        self._command = command
        self._greeting = greeting
        self._silence_s = silence_s
        self._ready = Event()
        self._stopping = Event()
        self._lock = Lock()
        self._thread: Thread | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._heard: float | None = None
        self._listener = Listener()
        self._deaths: list[Death] = []
        self._kernel_kills, self._counted = 0, 0.0

    @property
    def pid(self) -> int | None:
        """The process id of the child, or of the last one until the next one is there."""
        return self._process.pid if self._process else None

    @property
    def encoder(self) -> EncoderState:
        """How far the child's encoder is."""
        return self._listener.encoder

    def ready(self) -> bool:
        """Whether the child lives and has said that it works."""
        return self._ready.is_set()

    def silent_s(self) -> float | None:
        """Seconds since the child said anything; None while there is none."""
        heard = self._heard
        return None if heard is None else monotonic() - heard

    def start(self) -> None:
        """Start the child; once is enough."""
        with self._lock:
            if self._thread is None:
                self._stopping.clear()
                # The child asks to be killed when the thread that made it ends, so this one lives as long as it must.
                self._thread = Thread(target=self._keep_alive, name="worker-supervisor", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        """End the child, within seconds."""
        with self._lock:
            thread, self._thread = self._thread, None
            self._stopping.set()
            process = self._process
        if thread is None:
            return
        if process is not None:
            _end(process)
        thread.join(_PATIENCE)

    def _keep_alive(self) -> None:
        pause = _FIRST_PAUSE
        while not self._stopping.is_set():
            worked = False
            try:
                ended = f"ended with {self._one_life()}"
                worked = self._ready.is_set()
            except Exception as error:
                # No descriptors, no memory, no interpreter for a moment: whatever it is, it may pass.
                ended = f"could not be started ({type(error).__name__}: {error})"
            self._ready.clear()
            self._heard = None
            if self._stopping.is_set():
                break
            # It worked; what killed it is no reason to let the runs wait.
            pause = _FIRST_PAUSE if worked else pause
            _log.warning("the worker %s; a new one starts in %.1f s", ended, pause)
            self._stopping.wait(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)
        self._process = None

    def _one_life(self) -> int | None:
        """Start a child, listen to it until it ends, and keep what it died of; its exit code."""
        self._listener = Listener()
        process = self._spawn()
        if process is None:
            return None
        try:
            self._greet(process)
            silent = self._listen(process)
            code = process.wait()
        finally:
            # Whatever happened here, no child goes on without a parent that listens.
            if process.poll() is None:
                process.kill()
                process.wait()
            _close(process)
            assert process.stdout is not None
            process.stdout.close()
        if not self._stopping.is_set() and (cause := self._cause(code, silent)) and self._listener.places:
            self._deaths.append(Death(cause, dict(self._listener.places)))
        return code

    def _spawn(self) -> subprocess.Popen[bytes] | None:
        with self._lock:
            if self._stopping.is_set():
                return None
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,
                env=child_environment() | _ONE_THREAD,
            )
            return self._process

    def _greet(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        deaths = {"deaths": [death.to_json() for death in self._deaths]} if self._deaths else {}
        with suppress(BrokenPipeError, ValueError):
            process.stdin.write(json.dumps({**self._greeting, **deaths}, default=str).encode() + b"\n")
            process.stdin.flush()

    def _listen(self, process: subprocess.Popen[bytes]) -> bool:
        """Take in what the child says until it ends; whether it had to be killed because it hung."""
        assert process.stdout is not None
        pipe = process.stdout.fileno()
        poll = select.poll()
        poll.register(pipe, select.POLLIN)
        self._heard, silent_s = monotonic(), 0.0
        while True:
            look_s = min(_LOOK_SECONDS, self._silence_s)
            if poll.poll(look_s * 1_000):
                content = os.read(pipe, _MOST_BYTES)
                if not content:
                    return False
                self._take_in(content)
                silent_s = 0.0
            elif process.poll() is not None:
                return False
            else:
                # Counted in looks, not by the clock: while this process was stopped too, nobody was silent.
                silent_s += look_s
            if silent_s >= self._silence_s:
                stopped = _is_stopped(process.pid)
                _log.warning("the worker was silent for %.0f s and is killed", silent_s)
                process.kill()
                return not stopped

    def _take_in(self, content: bytes) -> None:
        self._listener.hear(content)
        self._heard = monotonic()
        if self._heard - self._counted >= _LOOK_SECONDS:
            self._kernel_kills, self._counted = _kernel_kills(), self._heard
        if self._listener.judged:
            self._deaths.clear()
        if self._listener.ready:
            self._ready.set()

    def _cause(self, code: int, silent: bool) -> Cause | None:
        """What the child died of, as far as it was its own doing."""
        if silent:
            return "silent"
        if code == SLOW_EXIT:
            return "slow"
        if code in _CRASHES:
            return "crashed"
        if code == -signal.SIGKILL and _kernel_kills() > self._kernel_kills:
            return "memory"
        return None


def _is_stopped(pid: int) -> bool:
    """Whether somebody stopped a process with a signal; False where that cannot be known."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "Tt"
    except (OSError, IndexError):
        return False


def _kernel_kills() -> int:
    """How many processes of this machine the kernel has killed for want of memory; 0 where it does not say."""
    try:
        lines = Path("/proc/vmstat").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), 0)


def _end(process: subprocess.Popen[bytes]) -> None:
    _close(process)
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()


def _close(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    with suppress(BrokenPipeError, OSError):
        process.stdin.close()
