"""The only import of onnxruntime: this module turns its telemetry off first.

On import, onnxruntime writes a device id and an event queue under `~/.cache/Microsoft`; seconds later it connects to
its vendor's telemetry host. It reads the variable during the import, so `disable_telemetry_events()` is too late. The
variable is set whatever its value was, and child processes inherit it.
"""

import os

os.environ["ORT_DISABLE_TELEMETRY"] = "1"

from onnxruntime import InferenceSession, SessionOptions

__all__ = ["InferenceSession", "SessionOptions"]
