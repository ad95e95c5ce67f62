"""The only import of onnxruntime: this module turns its telemetry off first.

On import, onnxruntime writes a device id and an event queue under `~/.cache/Microsoft`; seconds later it connects to
its vendor's telemetry host. It reads `ORT_DISABLE_TELEMETRY` during the import, so calling `disable_telemetry_events()`
afterwards is too late. This module sets the variable, whatever its value was; child processes inherit it.
"""

import os

os.environ["ORT_DISABLE_TELEMETRY"] = "1"

from onnxruntime import InferenceSession, SessionOptions

__all__ = ["InferenceSession", "SessionOptions"]
