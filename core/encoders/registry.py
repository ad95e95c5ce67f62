"""Which encoder serves: the one asked for, or the best that is installed. Loaded once in a process."""

import importlib
import logging
from functools import cache
from pathlib import Path
from threading import Lock

from core.encoders import Encoder, EncoderUnavailable

__all__ = ["NAMES", "EncoderUnavailable", "load_encoder"]

NAMES = ("minilm", "static", "ngrams")
"""The best first."""

_log = logging.getLogger(__name__)
_one_at_a_time = Lock()


def load_encoder(name: str | None, *, cache: Path) -> Encoder:
    """The encoder of that name, the best installed when None; for the same arguments the same object."""
    with _one_at_a_time:
        return _named(name, cache.absolute()) if name else _best(cache.absolute())


@cache
def _best(folder: Path) -> Encoder:
    for name in NAMES[:-1]:
        try:
            return _named(name, folder)
        except EncoderUnavailable as error:
            _log.warning("The encoder %s is not used: %s", name, error)
    return _named(NAMES[-1], folder)


@cache
def _named(name: str, folder: Path) -> Encoder:
    if name not in NAMES:
        raise EncoderUnavailable(f"There is no encoder {name!r}; TRAITBENCH_ENCODER takes one of {', '.join(NAMES)}.")
    try:
        module = importlib.import_module(f"core.encoders.{name}")
    except ImportError as error:
        raise EncoderUnavailable(f"The encoder {name} needs the package {error.name}; install it.") from None
    encoder: Encoder = module.load(cache=folder)
    return encoder
