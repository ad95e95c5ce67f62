"""Cache results that take seconds to compute in files.

A file begins with the SHA-256 of its content. A file that is missing, truncated or altered is made again. It is written
atomically, so processes may race. A folder that is not writable costs time, but never changes the result.
"""

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

_HASH_SIZE = 32


def cached_bytes(path: Path, make: Callable[[], bytes], *, most: int | None = None) -> bytes:
    """The content of `path` if its hash matches, else the result of `make`, written to `path` if possible.

    Of the files in the folder, at most the newest `most` are kept.
    """
    content = read(path)
    if content is None:
        content = make()
        with contextlib.suppress(OSError):
            write(path, content)
            if most is not None:
                for old in sorted(path.parent.iterdir(), key=lambda file: -file.stat().st_mtime_ns)[most:]:
                    old.unlink()
    return content


def read(path: Path) -> bytes | None:
    """The content of a file that `write` wrote; None if it is missing or its hash does not match."""
    try:
        with path.open("rb") as file:
            digest, content = file.read(_HASH_SIZE), file.read()
    except OSError:
        return None
    return content if hashlib.sha256(content).digest() == digest else None


def write(path: Path, content: bytes) -> None:
    """Write the content with its hash; raise `OSError` if that is impossible."""
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
