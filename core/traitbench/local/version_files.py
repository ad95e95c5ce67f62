"""A version as a file: the bundle that the service exports and imports. It is JSON, never a pickle.

Reading it runs no code of it. A file that was changed, or whose parameters do not have the recorded hash, is refused.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from traitbench.contract.bundles import (
    FORMAT,
    Bundle,
    BundledTrait,
    BundledVersion,
    BundleInvalid,
    choose_version,
    digest,
    document,
    parse,
)
from traitbench.contract.models import ModelUpdate
from traitbench.local.samples import LocalTrait
from traitbench.local.version import LocalVersion
from traitbench.names import parse_handle
from traitbench.scoring.snapshot import Snapshot, SnapshotInvalid, param_hash

_CLASSES = "classes"
_NOT_IN_NAME = re.compile(r"[^a-z0-9]+")


Classes = Mapping[str, NDArray[Any]]
"""The classes of an estimator by trait key."""


def write(path: str | Path, version: LocalVersion, classes: Classes, *, handle: str | None) -> None:
    """Write a bundle with one version and without samples; `handle` is by default made from the first trait's key."""
    snapshot = version.snapshot
    handle = str(parse_handle(handle)) if handle else f"local.{_name(version.traits[0].key)}"
    by_key = {_CLASSES: {key: values.tolist() for key, values in classes.items()}}
    bundle = Bundle(
        format=FORMAT,
        sha256="",
        handle=handle,
        model=ModelUpdate(scoring_method=snapshot.scoring_method, max_depth=snapshot.max_depth),
        traits=[BundledTrait.model_validate({**vars(trait), "intrinsic": None}) for trait in version.traits],
        samples=[],
        versions=[
            BundledVersion(
                version_no=1,
                triggered_by="train",
                param_hash=version.param_hash,
                sample_count=version.samples,
                created_at=version.finished_at,
                metrics=version.metrics | by_key,
                tags=[],
                active=True,
                snapshot=snapshot.to_json(),
            )
        ],
    )
    signed = bundle.model_copy(update={"sha256": digest(bundle)})
    Path(path).write_text("".join(document(signed)), encoding="utf-8")


def read(path: str | Path, *, version: str | None = None) -> tuple[LocalVersion, Classes]:
    """Return the version in a bundle, with the classes that it names.

    Raise `BundleInvalid` if it is none, was changed, or lacks the version.
    """
    bundle = parse(Path(path).read_bytes(), name=str(path))
    chosen = choose_version(bundle, version)
    snapshot = snapshot_of(chosen, name=str(path))
    described = {trait.key: trait.description for trait in bundle.traits}
    traits = [LocalTrait.of(axis, described.get(axis.key, "")) for axis in snapshot.traits]
    metrics = {name: value for name, value in chosen.metrics.items() if name != _CLASSES}
    own = LocalVersion(snapshot, traits, metrics, chosen.sample_count, chosen.created_at, number=chosen.version_no)
    return own, _classes(chosen.metrics.get(_CLASSES))


def snapshot_of(version: BundledVersion, *, name: str) -> Snapshot:
    """Return the parameters of a version in a file; raise `BundleInvalid` if they are damaged or were changed."""
    try:
        snapshot = Snapshot.from_json(version.snapshot)
    except SnapshotInvalid as error:
        raise BundleInvalid(f"{name} cannot be read: {error} Export it again.") from error
    if param_hash(snapshot) != version.param_hash:
        raise BundleInvalid(f"{name} was changed: its parameters do not have their recorded hash. Export it again.")
    return snapshot


def read_file(path: Path) -> bytes:
    """Return the content of a file; raise `BundleInvalid` if it cannot be read here."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise BundleInvalid(
            f"{path} cannot be read on this machine: {error.strerror}. Put the file there, or create the UDF with"
            " portable=True, so that workers need no file."
        ) from error


def from_file(content: bytes, *, name: str, version: str | None) -> tuple[Snapshot, int]:
    """Return the parameters of a version of a bundle, and its number.

    Raise `BundleInvalid` if it is damaged or lacks the version.
    """
    chosen = choose_version(parse(content, name=name), version)
    return snapshot_of(chosen, name=name), chosen.version_no


def from_bytes(content: bytes, *, expected: str) -> Snapshot:
    """Return the parameters in canonical bytes; raise `BundleInvalid` if they do not have the expected hash."""
    try:
        snapshot = Snapshot.from_json(json.loads(content))
    except ValueError as error:
        raise BundleInvalid("The parameters in this UDF are damaged. Create it again.") from error
    if param_hash(snapshot) != expected:
        raise BundleInvalid("The parameters in this UDF were changed. Create it again.")
    return snapshot


def _classes(values: Any) -> dict[str, NDArray[Any]]:
    """The classes by trait key; without those that no estimator could have written."""
    known = values.items() if isinstance(values, Mapping) else ()
    return {key: np.array(pair) for key, pair in known if _is_pair(pair)}


def _is_pair(values: Any) -> bool:
    return isinstance(values, list) and len(values) == 2 and all(isinstance(each, str | int | float) for each in values)


def _name(key: str) -> str:
    """A name for a model: the key in the letters that handles allow."""
    return _NOT_IN_NAME.sub("-", key.lower()).strip("-")[:64] or "model"
