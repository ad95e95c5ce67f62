"""Read files of other packages without importing the package, and only if their hash is known."""

import errno
import hashlib
import importlib.util
from pathlib import Path

from traitbench.encoders import EncoderUnavailable

_TEMPORARY = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN, errno.EINTR})
"""Temporary errors of the machine, which say nothing about the file."""


def folder(package: str, *, distribution: str) -> Path:
    """The folder of an installed top-level package. The package is not imported."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise EncoderUnavailable(f"The package {distribution} is not installed. Install it without its dependencies.")
    return Path(next(iter(spec.submodule_search_locations)))


def read(path: Path, *, sha256: str) -> bytes:
    """The bytes of a file with this hash; raise `EncoderUnavailable` for any other content."""
    try:
        content = path.read_bytes()
    except OSError as error:
        if error.errno in _TEMPORARY:
            raise
        raise EncoderUnavailable(f"{path.name} cannot be read ({error.strerror}). Install its package again.") from None
    digest = hashlib.sha256(content).hexdigest()
    if digest != sha256:
        raise EncoderUnavailable(
            f"{path.name} has SHA-256 {digest[:12]}…, expected {sha256[:12]}…. It is not the published file, so it is"
            " not used. Install its package again, or choose another encoder with TRAITBENCH_ENCODER."
        )
    return content
