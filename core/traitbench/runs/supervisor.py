"""The parent of the worker: starts it, restarts it when it dies or hangs, and stops it.

The child reads its configuration from standard input, which stays open: when the parent ends for any reason, the child
reads the end of the input and exits too. It has a session of its own, so that Ctrl-C reaches only the parent. On
standard output it reports that it is alive and what it works on (`heartbeat`); a child that is silent for too long is
killed.

The parent distinguishes bad luck from a worker's own fault. A worker that hangs, crashes, exceeds the time limit of a
piece or is killed by the kernel for its memory was brought down by the runs that it held. The supervisor tells the next
worker. No run is blamed for a worker that was killed or stopped from outside, or that ended with its parent.
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

from traitbench.runs.heartbeat import SLOW_EXIT, Cause, EncoderState, Listener, WorkerExit
from traitbench.settings import child_environment

SILENCE_SECONDS = 60.0
"""A worker that is silent for this long counts as hung; even a slow machine sends a heartbeat in that time."""

_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 30.0
_PATIENCE = 3.0
_POLL_SECONDS = 1.0
_MOST_BYTES = 65_536

_CRASHES = frozenset({-signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS, -signal.SIGILL, -signal.SIGFPE})

# How a sum is rounded depends on the number of threads, and equal inputs must give equal parameters.
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}

_log = logging.getLogger(__name__)


class Supervisor:
    """One child process, kept alive between `start` and `stop`."""

    def __init__(
        self, command: Sequence[str], greeting: Mapping[str, Any], *, silence_s: float = SILENCE_SECONDS
    ) -> None:
        self._command = command
        self._greeting = greeting
        self._max_silence_s = silence_s
        self._ready = Event()
        self._stopping = Event()
        self._lock = Lock()
        self._thread: Thread | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._last_message: float | None = None
        self._listener = Listener()
        self._deaths: list[WorkerExit] = []
        self._kernel_kills, self._counted = 0, 0.0

    @property
    def pid(self) -> int | None:
        """The process id of the child; between two children, that of the previous one."""
        return self._process.pid if self._process else None

    @property
    def encoder(self) -> EncoderState:
        """Whether the child's encoder is loading, loaded or has failed to load."""
        return self._listener.encoder

    def ready(self) -> bool:
        """Whether the child is alive and has reported that it executes runs."""
        return self._ready.is_set()

    def silent_s(self) -> float | None:
        """Seconds since the child's last message; None if there is no child."""
        last = self._last_message
        return None if last is None else monotonic() - last

    def start(self) -> None:
        """Start the child, unless it is started already."""
        with self._lock:
            if self._thread is None:
                self._stopping.clear()
                # The kernel kills the child when the thread that created it ends, so this thread must live as long as
                # the child.
                self._thread = Thread(target=self._keep_alive, name="worker-supervisor", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        """End the child within seconds."""
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
                ended = f"ended with {self._run_child()}"
                worked = self._ready.is_set()
            except Exception as error:
                # Out of file descriptors or memory, for example, which may pass.
                ended = f"could not be started ({type(error).__name__}: {error})"
            self._ready.clear()
            self._last_message = None
            if self._stopping.is_set():
                break
            # The child had worked, so the runs should not wait longer for the next one.
            pause = _FIRST_PAUSE if worked else pause
            _log.warning("the worker %s; a new one starts in %.1f s", ended, pause)
            self._stopping.wait(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)
        self._process = None

    def _run_child(self) -> int | None:
        """Start a child, listen to it until it ends and record why it died; return its exit code."""
        self._listener = Listener()
        process = self._spawn()
        if process is None:
            return None
        try:
            self._configure(process)
            silent = self._listen(process)
            code = process.wait()
        finally:
            # Whatever went wrong, the child must not continue without a parent that listens.
            if process.poll() is None:
                process.kill()
                process.wait()
            _close(process)
            assert process.stdout is not None
            process.stdout.close()
        if not self._stopping.is_set() and (cause := self._cause(code, silent)) and self._listener.work:
            self._deaths.append(WorkerExit(cause, dict(self._listener.work)))
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

    def _configure(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        deaths = {"deaths": [death.to_json() for death in self._deaths]} if self._deaths else {}
        with suppress(BrokenPipeError, ValueError):
            process.stdin.write(json.dumps({**self._greeting, **deaths}, default=str).encode() + b"\n")
            process.stdin.flush()

    def _listen(self, process: subprocess.Popen[bytes]) -> bool:
        """Read the child's messages until it ends; return whether it had to be killed because it hung."""
        assert process.stdout is not None
        pipe = process.stdout.fileno()
        poll = select.poll()
        poll.register(pipe, select.POLLIN)
        self._last_message, silent_s = monotonic(), 0.0
        while True:
            poll_s = min(_POLL_SECONDS, self._max_silence_s)
            if poll.poll(poll_s * 1_000):
                content = os.read(pipe, _MOST_BYTES)
                if not content:
                    return False
                self._receive(content)
                silent_s = 0.0
            elif process.poll() is not None:
                return False
            else:
                # Counted in polls, not by the clock: while this process is stopped too, the child is not silent.
                silent_s += poll_s
            if silent_s >= self._max_silence_s:
                stopped = _is_stopped(process.pid)
                _log.warning("the worker was silent for %.0f s and will be killed", silent_s)
                process.kill()
                return not stopped

    def _receive(self, content: bytes) -> None:
        self._listener.hear(content)
        self._last_message = monotonic()
        if self._last_message - self._counted >= _POLL_SECONDS:
            self._kernel_kills, self._counted = _kernel_kills(), self._last_message
        if self._listener.judged:
            self._deaths.clear()
        if self._listener.ready:
            self._ready.set()

    def _cause(self, code: int, silent: bool) -> Cause | None:
        """Why the child died, if it was its own fault; None otherwise."""
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
    """Whether a process was stopped by a signal; False if that cannot be known."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "Tt"
    except (OSError, IndexError):
        return False


def _kernel_kills() -> int:
    """How many processes the kernel of this machine has killed for lack of memory; 0 if it does not report that."""
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
