"""A thing that takes seconds to make and may fail for a moment: made once, and tried again after a failure."""

import logging
from collections.abc import Callable
from threading import Lock
from time import sleep
from typing import Generic, TypeVar

from traitbench.encoders import EncoderUnavailable
from traitbench.errors import FeatureUnavailable
from traitbench.runs.pulse import EncoderState

Made = TypeVar("Made")

_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0

_log = logging.getLogger(__name__)


class Loading(Generic[Made]):
    """What `make` gives; `said` is called with how far it is."""

    def __init__(self, make: Callable[[], Made], *, said: Callable[[EncoderState], None]) -> None:
        self._make = make
        self._said = said
        self._made: Made | None = None
        self._one_at_a_time = Lock()

    def get(self) -> Made:
        """Make it, unless it was made; raise whatever stops it, which the next call tries again."""
        with self._one_at_a_time:
            if self._made is None:
                try:
                    self._made = self._make()
                except Exception:
                    self._said("failed")
                    raise
                self._said("loaded")
            return self._made

    def try_once(self) -> None:
        """Make it ahead of the first call; a failure is left to that call."""
        try:
            self.get()
        except Exception as error:
            _log.warning("the encoder could not be loaded (%s: %s); the next run tries again", _name(error), error)

    def wait(self, *, waiting: Callable[[], None]) -> Made:
        """Make it, however often that takes; `waiting` is called before each pause and may raise to end the wait.

        Raise `FeatureUnavailable` for an encoder that is not there: waiting does not install it.
        """
        pause = _FIRST_PAUSE
        while True:
            try:
                return self.get()
            except EncoderUnavailable as error:
                raise FeatureUnavailable(str(error)) from None
            except Exception as error:
                _log.warning(
                    "the encoder could not be loaded (%s: %s); the next try is in %.1f s", _name(error), error, pause
                )
            waiting()
            sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)


def _name(error: Exception) -> str:
    return type(error).__name__
