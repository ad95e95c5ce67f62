"""What a service sends its worker process at the start, as JSON on standard input."""

from collections.abc import Mapping
from typing import Any

from traitbench.settings import Settings

WORKER = "traitbench.lifecycle.worker"
"""The module that the worker process runs."""


def greeting(settings: Settings) -> Mapping[str, Any]:
    """The settings, for the worker to read with `Settings.from_json`."""
    return {"settings": settings.to_json()}
