"""Read files of other packages without importing the package, and only if their hash is known."""

import errno
import hashlib
import importlib.util
import mmap
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import BinaryIO

from traitbench.encoders import EncoderUnavailable, file_cache
from traitbench.encoders.file_cache import cached_bytes
from traitbench.install import advice

SHIPPED = Path(__file__).with_name("shipped")
"""What `shipping` puts into the wheel; a checkout has no such folder."""

MINILM = "traitbench_minilm"
"""The package of the second wheel, which carries the files of `minilm-full`. It is not imported."""

_TEMPORARY = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN, errno.EINTR})
"""Temporary errors of the machine, which say nothing about the file."""


@dataclass(frozen=True)
class Published:
    """A file of a package, at `path` in its folder. A wheel carries it as `carried_as`.

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

    def mapped(self, *, verified: Path | None = None) -> mmap.mmap:
        """The content as `read` gives it, but mapped into memory, which processes share.

        The hash tells another release of the package and a damaged file from the published one. Whoever can write there
        can also change this code, so that is all that it can tell. With `verified`, a folder, it is computed once for a
        file: again if its place, size or time of change is another one.
        """
        path = self._file()
        with _opened(path) as file:
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            state = os.fstat(file.fileno())
        # The time of the last change of status, unlike that of the content, cannot be set.
        identity = (self.sha256, state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns)
        record = verified and verified / f"{self.carried_as}.verified"
        if record is None or file_cache.read(record) != repr(identity).encode():
            _check(path, hashlib.sha256(content).hexdigest(), (self.sha256, *self.also))
            if record is not None:
                with suppress(OSError):
                    file_cache.write(record, repr(identity).encode())
        return content

    @property
    def size(self) -> int:
        """The number of bytes of the file."""
        return self._file().stat().st_size

    def _file(self) -> Path:
        return _shipped(self.carried_as) or self._in_package()

    def _in_package(self) -> Path:
        return folder(self.distribution.replace("-", "_"), distribution=self.distribution) / self.path


def folder(package: str, *, distribution: str) -> Path:
    """The folder of an installed top-level package. The package is not imported."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise EncoderUnavailable(f"The package {distribution} is not installed. Install it without its dependencies.")
    return Path(next(iter(spec.submodule_search_locations)))


def recipe(name: str, suffix: str, *parts: ModuleType | str) -> str:
    """A file name with a hash of everything that decides the content, so that no other release uses the file."""
    sources = [each if isinstance(each, str) else Path(str(each.__file__)).read_text("utf-8") for each in parts]
    return f"{name}-{hashlib.sha256(''.join(sources).encode()).hexdigest()[:16]}{suffix}"


def carried(name: str, cache: Path, make: Callable[[], bytes]) -> bytes:
    """A file that is made of published ones: from the wheel, or else made once and cached in `cache`.

    Raise `EncoderUnavailable` if a package is missing that makes it.
    """
    file = _shipped(name)
    try:
        return (file and file_cache.read(file)) or cached_bytes(cache / name, make)
    except ModuleNotFoundError as error:
        raise EncoderUnavailable(advice(error) or str(error)) from None


def prepared(name: str, cache: Path, content: Callable[[], bytes]) -> Callable[[], bytes]:
    """`content`, which gives a carried file. The file is made now if it is missing, so that an error is raised now."""
    if _shipped(name) is None and not (cache / name).is_file():
        content()
    return content


def read(path: Path, *, sha256: str, also: Sequence[str] = ()) -> bytes:
    """The bytes of a file with one of these hashes; raise `EncoderUnavailable` for any other content."""
    with _opened(path) as file:
        content = file.read()
    _check(path, hashlib.sha256(content).hexdigest(), (sha256, *also))
    return content


def _shipped(name: str) -> Path | None:
    """The file with this name in one of our wheels."""
    spec = importlib.util.find_spec(MINILM)
    folders = [SHIPPED, *map(Path, (spec and spec.submodule_search_locations) or ())]
    return next((folder / name for folder in folders if (folder / name).is_file()), None)


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        if error.errno in _TEMPORARY:
            raise
        raise EncoderUnavailable(f"{path.name} cannot be read ({error.strerror}). Install its package again.") from None


def _check(path: Path, digest: str, known: Sequence[str]) -> None:
    if digest not in known:
        raise EncoderUnavailable(
            f"{path.name} has SHA-256 {digest[:12]}…, expected {known[0][:12]}…. It is not the published file, so it is"
            " not used. Install its package again, or choose another encoder with TRAITBENCH_ENCODER."
        )
