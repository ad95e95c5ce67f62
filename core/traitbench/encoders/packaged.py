"""Read files of other packages without importing the package, and only if their hash is known."""

import errno
import hashlib
import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from traitbench.encoders import EncoderUnavailable

SHIPPED = Path(__file__).with_name("shipped")
"""What `shipping` puts into a wheel; a checkout has no such folder."""

_TEMPORARY = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN, errno.EINTR})
"""Temporary errors of the machine, which say nothing about the file."""


@dataclass(frozen=True)
class Published:
    """A file of a package, at `path` in its folder. A wheel carries it under the name `carried_as`.

    `also` has the hashes of releases that differ only in bytes that do not matter.
    """

    distribution: str
    path: str
    carried_as: str
    sha256: str
    also: tuple[str, ...] = ()

    def read(self) -> bytes:
        """The content, from the wheel or else from the package; raise `EncoderUnavailable` if it is not this file."""
        return read(self._file(), sha256=self.sha256, also=self.also)

    @property
    def size(self) -> int:
        """The number of bytes of the file."""
        return self._file().stat().st_size

    def _file(self) -> Path:
        carried = SHIPPED / self.carried_as
        return carried if carried.is_file() else self._in_package()

    def _in_package(self) -> Path:
        return folder(self.distribution.replace("-", "_"), distribution=self.distribution) / self.path


def folder(package: str, *, distribution: str) -> Path:
    """The folder of an installed top-level package. The package is not imported."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise EncoderUnavailable(f"The package {distribution} is not installed. Install it without its dependencies.")
    return Path(next(iter(spec.submodule_search_locations)))


def read(path: Path, *, sha256: str, also: Sequence[str] = ()) -> bytes:
    """The bytes of a file with one of these hashes; raise `EncoderUnavailable` for any other content."""
    try:
        content = path.read_bytes()
    except OSError as error:
        if error.errno in _TEMPORARY:
            raise
        raise EncoderUnavailable(f"{path.name} cannot be read ({error.strerror}). Install its package again.") from None
    digest = hashlib.sha256(content).hexdigest()
    if digest not in (sha256, *also):
        raise EncoderUnavailable(
            f"{path.name} has SHA-256 {digest[:12]}…, expected {sha256[:12]}…. It is not the published file, so it is"
            " not used. Install its package again, or choose another encoder with TRAITBENCH_ENCODER."
        )
    return content
