"""Files of other packages: found without importing the package, read only when they are the known ones."""

import errno
import hashlib
import importlib.util
from pathlib import Path

from traitbench.encoders import EncoderUnavailable

_PASSING = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN, errno.EINTR})
"""Errors of the machine's moment, which say nothing about a file."""


def folder(package: str, *, distribution: str) -> Path:
    """The folder of an installed top-level package; its code is not run."""
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise EncoderUnavailable(f"The package {distribution} is not installed; install it without its dependencies.")
    return Path(next(iter(found.submodule_search_locations)))


def read(path: Path, *, sha256: str) -> bytes:
    """The bytes of a file whose hash is known; any other content is refused."""
    try:
        content = path.read_bytes()
    except OSError as error:
        if error.errno in _PASSING:
            raise
        raise EncoderUnavailable(f"{path.name} cannot be read ({error.strerror}); install its package again.") from None
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise EncoderUnavailable(
            f"{path.name} has SHA-256 {found[:12]}…, expected {sha256[:12]}…; it is not the published file, so it is"
            " not used. Install its package again, or choose another encoder with TRAITBENCH_ENCODER."
        )
    return content
