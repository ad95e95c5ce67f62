"""Load the encoder with a name or in a folder, or the best one that is installed; once per process."""

import importlib
import logging
from contextlib import suppress
from functools import cache
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING

from traitbench.encoders import Encoder, EncoderUnavailable

if TYPE_CHECKING:
    from traitbench.encoders.folder_kinds import Opened
    from traitbench.scoring.snapshot import NamedEncoder

__all__ = ["NAMES", "EncoderUnavailable", "built_in", "load_encoder", "load_encoder_of", "name_of", "open_folder"]

NAMES = ("multilingual", "minilm-full", "minilm", "static", "ngrams")
"""The names of the built-in encoders, the best first."""

_FORMER_NAMES = {"full": "minilm-full"}
"""Names of earlier releases, which settings, versions and runs may still have."""
_MADE_OF_PARTS = "minilm-full"

_log = logging.getLogger(__name__)
_one_at_a_time = RLock()  # reentrant, because an encoder may load others


def built_in(name: object) -> str | None:
    """The name of the built-in encoder that this name stands for, now or in an earlier release; None for another."""
    name = _FORMER_NAMES.get(name, name) if isinstance(name, str) else None
    return name if name in NAMES else None


def load_encoder(name: str | None, *, cache: Path) -> Encoder:
    """The encoder with this name or absolute path, or the best installed when None.

    The same folders give the same object, however they are spelled, and so does a name of an earlier release.
    """
    with _one_at_a_time:
        return _named(built_in(name) or name, cache.resolve()) if name else _best(cache.resolve())


def name_of(id: str | None, *, cache: Path) -> str | None:
    """The name of the built-in encoder with this id; None if there is none or it cannot be loaded."""
    name = _likely(id)
    with suppress(EncoderUnavailable, OSError, MemoryError):
        return name if name and load_encoder(name, cache=cache).id == id else None
    return None


def _likely(id: str | None) -> str | None:
    """The name that the id of a built-in encoder begins with: so only that one has to be loaded."""
    return built_in(id.partition("-")[0]) if id else None


def load_encoder_of(wanted: "NamedEncoder", *, configured: str | None, cache: Path) -> Encoder:
    """Load the encoder that a snapshot was made with: the configured one or a built-in one.

    Raise `EncoderUnavailable` if none of them is that encoder.
    """
    likely, way_out = _likely(wanted.id), "Set TRAITBENCH_ENCODER to it."
    for name in filter(None, (configured, likely, *NAMES)):
        try:
            encoder = load_encoder(name, cache=cache)
        except EncoderUnavailable as error:
            way_out = str(error) if name == likely else way_out
            continue
        if encoder.digest == wanted.digest:
            return encoder
    raise EncoderUnavailable(
        f"A version was trained with the encoder {wanted.id} ({wanted.digest[:12]}), which is not installed here."
        f" {way_out}"
    )


def open_folder(path: Path, *, cache: Path) -> "Opened":
    """The encoder of a folder with the reasons for how it is read; not kept."""
    from traitbench.encoders import folder_kinds

    with _one_at_a_time:
        return folder_kinds.open_folder(path, lambda other: _named(other, cache.resolve()))


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
    def part(other: str) -> Encoder:
        return _named(other, folder)

    if Path(name).is_absolute():
        # Imported here, because the import is slow and few services use a custom encoder.
        from traitbench.encoders import folder_kinds

        return folder_kinds.load(Path(name), part)
    if name not in NAMES:
        raise EncoderUnavailable(
            f"There is no encoder {name!r}; TRAITBENCH_ENCODER takes one of {', '.join(NAMES)}, or the path of a folder"
            " (./name for one in the current folder)."
        )
    try:
        module = importlib.import_module(f"traitbench.encoders.{name.replace('-', '_')}")
    except ImportError as error:
        raise EncoderUnavailable(f"The encoder {name} needs the package {error.name}; install it.") from None
    encoder: Encoder = module.load(part) if name == _MADE_OF_PARTS else module.load(cache=folder)
    return encoder
