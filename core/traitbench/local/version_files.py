"""A fitted estimator as a file: the bundle that the service exports and imports. It is JSON, never a pickle.

Reading it runs no code of it. A file that was changed, or whose parameters do not have the recorded hash, is refused.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
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
from traitbench.local.training import LocalTraining, LocalTrait
from traitbench.names import parse_handle
from traitbench.scoring.snapshot import Snapshot, SnapshotInvalid, TraitAxis, param_hash

_CLASSES = "classes"
_NOT_IN_NAME = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, eq=False)
class Saved:
    """What a file holds of an estimator; `classes` are by trait key, without those that the file does not name."""

    training: LocalTraining
    classes: Mapping[str, NDArray[Any]]


def write(path: str | Path, saved: Saved, *, handle: str | None) -> None:
    """Write a bundle with one version and without samples; `handle` is by default made from the first trait's key."""
    training, snapshot = saved.training, saved.training.snapshot
    handle = str(parse_handle(handle)) if handle else f"local.{_name(training.traits[0].key)}"
    classes = {_CLASSES: {key: values.tolist() for key, values in saved.classes.items()}}
    bundle = Bundle(
        format=FORMAT,
        sha256="",
        handle=handle,
        model=ModelUpdate(scoring_method=snapshot.scoring_method, max_depth=snapshot.max_depth),
        traits=[BundledTrait.model_validate({**vars(trait), "intrinsic": None}) for trait in training.traits],
        samples=[],
        versions=[
            BundledVersion(
                version_no=1,
                triggered_by="train",
                param_hash=param_hash(snapshot),
                sample_count=training.samples,
                created_at=training.finished_at,
                metrics=training.metrics | classes,
                tags=[],
                active=True,
                snapshot=snapshot.to_json(),
            )
        ],
    )
    signed = bundle.model_copy(update={"sha256": digest(bundle)})
    Path(path).write_text("".join(document(signed)), encoding="utf-8")


def read(path: str | Path, *, version: str | None = None) -> Saved:
    """Return what a bundle holds; raise `BundleInvalid` if it is none, was changed, or lacks the version."""
    bundle = parse(Path(path).read_bytes(), name=str(path))
    chosen = choose_version(bundle, version)
    try:
        snapshot = Snapshot.from_json(chosen.snapshot)
    except SnapshotInvalid as error:
        raise BundleInvalid(f"{path} cannot be read: {error} Export it again.") from error
    if param_hash(snapshot) != chosen.param_hash:
        raise BundleInvalid(f"{path} was changed: its parameters do not have their recorded hash. Export it again.")
    described = {trait.key: trait.description for trait in bundle.traits}
    traits = [_trait(axis, described.get(axis.key, "")) for axis in snapshot.traits]
    metrics = {name: value for name, value in chosen.metrics.items() if name != _CLASSES}
    return Saved(
        LocalTraining(traits, snapshot, metrics, chosen.sample_count, chosen.created_at),
        _classes(chosen.metrics.get(_CLASSES)),
    )


def _trait(axis: TraitAxis, description: str) -> LocalTrait:
    return LocalTrait(axis.key, axis.name, description, axis.positive_label, axis.negative_label, axis.aggregation)


def _classes(values: Any) -> dict[str, NDArray[Any]]:
    """The classes by trait key; without those that no estimator could have written."""
    known = values.items() if isinstance(values, Mapping) else ()
    return {key: np.array(pair) for key, pair in known if _is_pair(pair)}


def _is_pair(values: Any) -> bool:
    return isinstance(values, list) and len(values) == 2 and all(isinstance(each, str | int | float) for each in values)


def _name(key: str) -> str:
    """A name for a model: the key in the letters that handles allow."""
    return _NOT_IN_NAME.sub("-", key.lower()).strip("-")[:64] or "model"
