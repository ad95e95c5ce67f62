"""The parent of the worker: starts it, restarts it when it dies, ends it.

The child is told what it needs over its standard input, which stays open: when the parent ends, however it ends, the
child reads the end of it and ends too. It has a session of its own, so that a Ctrl-C is the parent's business alone.
"""

import logging
import os
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from threading import Event, Lock, Thread

READY = b"ready\n"

_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 30.0
_PATIENCE = 3.0

# Sums that several threads share round by how they share them, and equal inputs must give equal parameters.
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}

_log = logging.getLogger(__name__)


class Supervisor:
    """One child process, kept alive between `start` and `stop`."""

    def __init__(self, command: Sequence[str], greeting: bytes) -> None:
        self._command = command
        self._greeting = greeting
        self._ready = Event()
        self._stopping = Event()
        self._lock = Lock()
        self._thread: Thread | None = None
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """The process id of the child, while there is one."""
        return self._process.pid if self._process else None

    def ready(self) -> bool:
        """Whether the child lives and has said that it works."""
        return self._ready.is_set()

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
        while (process := self._spawn()) is not None:
            self._listen(process)
            code = process.wait()
            _close(process)
            if self._ready.is_set():
                # It worked; what killed it is no reason to let the runs wait.
                pause = _FIRST_PAUSE
            self._ready.clear()
            if self._stopping.is_set():
                break
            _log.warning("the worker ended with %s; a new one starts in %.1f s", code, pause)
            self._stopping.wait(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)
        self._process = None

    def _spawn(self) -> subprocess.Popen[bytes] | None:
        with self._lock:
            if self._stopping.is_set():
                return None
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,
                env=os.environ | _ONE_THREAD,
            )
            return self._process

    def _listen(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(self._greeting + b"\n")
            process.stdin.flush()
        except (BrokenPipeError, ValueError):
            return
        with process.stdout:
            for line in process.stdout:
                if line == READY:
                    self._ready.set()


def _end(process: subprocess.Popen[bytes]) -> None:
    _close(process)
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()


def _close(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    with suppress(BrokenPipeError):
        process.stdin.close()
