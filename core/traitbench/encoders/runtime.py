"""The only import of onnxruntime: this module turns its telemetry off first.

On import, onnxruntime writes a device id and an event queue under `~/.cache/Microsoft`; seconds later it connects to
its vendor's telemetry host. It reads `ORT_DISABLE_TELEMETRY` during the import, so calling `disable_telemetry_events()`
afterwards is too late. This module sets the variable, whatever its value was; child processes inherit it.
"""

import os
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

os.environ["ORT_DISABLE_TELEMETRY"] = "1"

from onnxruntime import InferenceSession, RunOptions, SessionOptions

__all__ = ["InferenceSession", "SessionOptions", "TimedRuns"]


class TimedRuns:
    """Runs of a session, each of which is stopped after `seconds`: a graph may have a loop without end.

    One thread looks at the clock while there are runs, because a timer for each would cost as much as a small model.
    """

    def __init__(self, session: InferenceSession, *, seconds: float) -> None:
        self._session, self._seconds = session, seconds
        self._running: dict[RunOptions, float] = {}
        self._lock = threading.Lock()
        self._is_watched = False

    def run(self, outputs: Sequence[str], inputs: Mapping[str, Any]) -> list[Any]:
        """Return the outputs; raise an error of the package if the graph fails or takes too long."""
        options = RunOptions()
        with self._lock:
            self._running[options] = time.monotonic()
            if not self._is_watched:
                self._is_watched = True
                threading.Thread(target=self._watch, name="graphs", daemon=True).start()
        try:
            made: list[Any] = self._session.run(list(outputs), dict(inputs), options)
            return made
        finally:
            with self._lock:
                del self._running[options]

    def _watch(self) -> None:
        while True:
            time.sleep(min(1.0, self._seconds / 4))
            with self._lock:
                if not self._running:
                    self._is_watched = False
                    return
                for options, began in self._running.items():
                    if time.monotonic() - began > self._seconds:
                        options.terminate = True
