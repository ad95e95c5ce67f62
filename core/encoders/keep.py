"""A thing that takes seconds to make, made once and kept in a file.

The file begins with the SHA-256 of what follows. A file that is missing, cut short or altered is made again; it appears
whole or not at all, so processes may race; a folder that cannot be written costs time, never the result.
"""

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

_MARK = 32


def kept(path: Path, make: Callable[[], bytes]) -> bytes:
    """The content of `path` when it is sound, else what `make` gives, written to `path` if that can be done."""
    content = read(path)
    if content is None:
        content = make()
        with contextlib.suppress(OSError):
            write(path, content)
    return content


def read(path: Path) -> bytes | None:
    """The content of a file that `write` wrote; None when there is none, or it is not sound."""
    try:
        with path.open("rb") as file:
            mark, content = file.read(_MARK), file.read()
    except OSError:
        return None
    return content if hashlib.sha256(content).digest() == mark else None


def write(path: Path, content: bytes) -> None:
    """Write the content with its hash; `OSError` when that cannot be done."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(content).digest())
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
