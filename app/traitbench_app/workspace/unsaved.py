"""Unsaved edits that an earlier release left in the home folder. An edit is saved as it is made now.

No page reads the files. They stay for some days, so that a text can be copied from them, and go with zero retention.
"""

import hashlib
import logging
import time
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

STORED_DAYS = 30
"""Days after which a file of unsaved edits is deleted."""

FOLDER = "unsaved"
"""The folder in the home folder."""

_DAY = 86_400.0

_log = logging.getLogger(__name__)


def remove_old(folder: Path) -> None:
    """Remove the files that are older than `STORED_DAYS`, and log how many remain."""
    remaining = 0
    for file in folder.glob("*"):
        with suppress(OSError):
            age = time.time() - file.stat().st_mtime
            if age > STORED_DAYS * _DAY:
                file.unlink(missing_ok=True)
            else:
                remaining += 1
    if remaining:
        _log.warning(
            "%d files in %s have edits that were not saved with an earlier release; each goes %d days after its edit",
            *(remaining, folder, STORED_DAYS),
        )


def remove_of(folder: Path, handles: Collection[str], *, service: str, owners: Collection[str] = ()) -> None:
    """Remove the unsaved edits of models of a service, those of all people.

    Files of an earlier release do not say whose model they are about. If `owners` names all people, theirs are found;
    else all of these files are removed.
    """
    names = {_digest(service, handle) for handle in handles}
    old = {_digest(owner, service, handle) for owner in owners for handle in handles}
    for file in folder.glob("*"):
        model, _, rest = file.name.partition(".")
        is_old = "." not in rest
        if model in (old if is_old else names) or (is_old and not owners):
            with suppress(OSError):
                file.unlink(missing_ok=True)


def file_of(folder: Path, handle: str, *, service: str, owner: str) -> Path:
    """Return the file of a person's unsaved edits of a model. Its name begins with that of the model's files."""
    return folder / f"{_digest(service, handle)}.{_digest(owner, service, handle)}.json"


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]
