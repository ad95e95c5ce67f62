"""The parameters of one version, from a file or from its own bytes; anything that was changed is refused."""

import json
from pathlib import Path

from traitbench.contract.bundles import BundleInvalid, choose_version, parse
from traitbench.scoring.snapshot import Snapshot, SnapshotInvalid, param_hash


def read_file(path: Path) -> bytes:
    """Return the content of a file; raise `BundleInvalid` if it cannot be read here."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise BundleInvalid(
            f"{path} cannot be read on this machine: {error.strerror}. Put the file there, or create the UDF with"
            " portable=True, so that workers need no file."
        ) from error


def from_file(content: bytes, *, name: str, version: str | None) -> Snapshot:
    """Return the parameters of a version of a bundle; raise `BundleInvalid` if it is damaged or lacks the version."""
    chosen = choose_version(parse(content, name=name), version)
    try:
        snapshot = Snapshot.from_json(chosen.snapshot)
    except SnapshotInvalid as error:
        raise BundleInvalid(f"{name} cannot be read: {error} Export it again.") from error
    if param_hash(snapshot) != chosen.param_hash:
        raise BundleInvalid(f"{name} was changed: its parameters do not have their recorded hash. Export it again.")
    return snapshot


def from_bytes(content: bytes, *, expected: str) -> Snapshot:
    """Return the parameters in canonical bytes; raise `BundleInvalid` if they do not have the expected hash."""
    try:
        snapshot = Snapshot.from_json(json.loads(content))
    except ValueError as error:
        raise BundleInvalid("The parameters in this UDF are damaged. Create it again.") from error
    if param_hash(snapshot) != expected:
        raise BundleInvalid("The parameters in this UDF were changed. Create it again.")
    return snapshot
