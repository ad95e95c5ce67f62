"""Bytes that only this process and its children see, and that are gone with the last reference to them."""

import os
import tempfile
import weakref
from contextlib import suppress
from shutil import copyfileobj
from typing import IO

IN_MEMORY = 32 * 2**20
"""Content of at most so many bytes is kept in memory; more is in a temporary file without a name."""

_AT_ONCE = 2**20


class Scratch:
    """An empty file for about `size` bytes. It needs no `close`."""

    def __init__(self, size: int) -> None:
        self._in_memory = size <= IN_MEMORY and hasattr(os, "memfd_create")
        if self._in_memory:
            self._descriptor = os.memfd_create("traitbench")
        else:
            with tempfile.TemporaryFile() as file:
                # The duplicate outlives the object, which closes its own descriptor.
                self._descriptor = os.dup(file.fileno())
        weakref.finalize(self, os.close, self._descriptor)

    def fileno(self) -> int:
        """Return the file descriptor."""
        return self._descriptor

    def open(self, mode: str = "rb") -> IO[bytes]:
        """Open the file at its start; the caller closes it."""
        # Duplicates share one position, so nobody reads while another one does.
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        return os.fdopen(os.dup(self._descriptor), mode)

    def settle(self) -> None:
        """Move content that outgrew memory to a temporary file; it stays in memory if the disk is full.

        The descriptor keeps its number. Nobody may use the file meanwhile.
        """
        if not self._in_memory or len(self) <= IN_MEMORY:
            return
        with suppress(OSError), tempfile.TemporaryFile() as file:
            with self.open() as content:
                copyfileobj(content, file, _AT_ONCE)
            file.flush()
            os.dup2(file.fileno(), self._descriptor, inheritable=False)
            self._in_memory = False

    def __len__(self) -> int:
        return os.fstat(self._descriptor).st_size
