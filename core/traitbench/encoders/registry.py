"""Load the encoder with a name or in a folder, or the best one that is installed; once per process."""

import importlib
import logging
from functools import cache
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING

from traitbench.encoders import Encoder, EncoderUnavailable

if TYPE_CHECKING:
    from traitbench.encoders.folder_kinds import Opened
    from traitbench.scoring.snapshot import NamedEncoder

__all__ = ["LEGACY", "NAMES", "EncoderUnavailable", "load_encoder", "load_encoder_of", "load_legacy", "open_folder"]

NAMES = ("full", "minilm", "static", "ngrams")
"""The names of the built-in encoders, the best first."""

LEGACY = ("legacy",)
"""Encoders that are loaded only for versions that were trained with them."""

_MADE_OF_OTHERS = ("full", *LEGACY)

_log = logging.getLogger(__name__)
_one_at_a_time = RLock()  # reentrant, because an encoder may load others


def load_encoder(name: str | None, *, cache: Path) -> Encoder:
    """The encoder with this name or absolute path, or the best installed when None.

    The same folders give the same object, however they are spelled.
    """
    with _one_at_a_time:
        return _named(name, cache.resolve()) if name else _best(cache.resolve())


def load_legacy(name: str | None, *, digest: str, cache: Path) -> Encoder | None:
    """The configured folder as earlier releases read it, if that encoder has this digest; None otherwise.

    They did not ask for what a folder leaves open. Versions from then still need their vectors.
    """
    if not name or not Path(name).is_absolute():
        return None
    with _one_at_a_time:
        try:
            known = _legacy_digest(name, cache.resolve()) == digest
            return _legacy(name, cache.resolve()) if known else None
        except EncoderUnavailable:
            return None


def load_encoder_of(wanted: "NamedEncoder", *, configured: str | None, cache: Path) -> Encoder:
    """Load the encoder that a snapshot was made with: the configured one, a built-in one or an earlier recipe.

    Raise `EncoderUnavailable` if none of them is that encoder.
    """
    for name in filter(None, (configured, *NAMES, *LEGACY)):
        try:
            encoder = load_encoder(name, cache=cache)
        except EncoderUnavailable:
            continue
        if encoder.digest == wanted.digest:
            return encoder
    legacy = load_legacy(configured, digest=wanted.digest, cache=cache)
    if legacy is None:
        raise EncoderUnavailable(
            f"A version was trained with the encoder {wanted.id} ({wanted.digest[:12]}), which is not installed here."
            " Set TRAITBENCH_ENCODER to it."
        )
    return legacy


def open_folder(path: Path, *, cache: Path) -> "Opened":
    """The encoder of a folder with the reasons for how it is read; not kept."""
    from traitbench.encoders import folder_kinds

    with _one_at_a_time:
        return folder_kinds.open_folder(path, lambda other: _named(other, cache.resolve()))


@cache
def _legacy_digest(name: str, folder: Path) -> str:
    """Computed once: any digest may be asked for, and files of gigabytes are read for it."""
    from traitbench.encoders import folder_kinds

    return folder_kinds.legacy_digest(Path(name), lambda other: _named(other, folder))


@cache
def _legacy(name: str, folder: Path) -> Encoder | None:
    from traitbench.encoders import folder_kinds

    return folder_kinds.load_legacy(Path(name), lambda other: _named(other, folder))


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
    if name not in (*NAMES, *LEGACY):
        raise EncoderUnavailable(
            f"There is no encoder {name!r}; TRAITBENCH_ENCODER takes one of {', '.join(NAMES)}, or the path of a folder"
            " (./name for one in the current folder)."
        )
    try:
        module = importlib.import_module(f"traitbench.encoders.{name}")
    except ImportError as error:
        raise EncoderUnavailable(f"The encoder {name} needs the package {error.name}; install it.") from None
    encoder: Encoder = module.load(part) if name in _MADE_OF_OTHERS else module.load(cache=folder)
    return encoder
