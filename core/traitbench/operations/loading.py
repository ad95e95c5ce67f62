"""Load once what takes seconds to load, and try again after a failure that may pass."""

import logging
from collections.abc import Callable
from threading import Lock
from time import sleep
from typing import Generic, TypeVar

from traitbench.encoders import EncoderUnavailable
from traitbench.errors import FeatureUnavailable
from traitbench.runs.heartbeat import EncoderState

Made = TypeVar("Made")

_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0

_log = logging.getLogger(__name__)


class Loading(Generic[Made]):
    """The result of `make`, which is called until it succeeds once; `on_state` is called with the state."""

    def __init__(self, make: Callable[[], Made], *, on_state: Callable[[EncoderState], None]) -> None:
        self._make = make
        self._on_state = on_state
        self._made: Made | None = None
        self._lock = Lock()

    def get(self) -> Made:
        """The result, made by the first call; raise the error if that fails, and the next call tries again."""
        with self._lock:
            if self._made is None:
                try:
                    self._made = self._make()
                except Exception:
                    self._on_state("failed")
                    raise
                self._on_state("loaded")
            return self._made

    def try_once(self) -> None:
        """Load before the first call of `get`. A failure is only logged; `get` tries again."""
        try:
            self.get()
        except Exception as error:
            _log.warning("the encoder could not be loaded (%s: %s); the next run will try again", _name(error), error)

    def wait(self, *, waiting: Callable[[], None]) -> Made:
        """The result, with as many attempts as it takes.

        `waiting` is called before each pause and may raise to end the wait. Raises `FeatureUnavailable` if the encoder
        is not installed: waiting does not install it.
        """
        pause = _FIRST_PAUSE
        while True:
            try:
                return self.get()
            except EncoderUnavailable as error:
                raise FeatureUnavailable(str(error)) from None
            except Exception as error:
                _log.warning(
                    "the encoder could not be loaded (%s: %s); trying again in %.1f s", _name(error), error, pause
                )
            waiting()
            sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)


def _name(error: Exception) -> str:
    return type(error).__name__
