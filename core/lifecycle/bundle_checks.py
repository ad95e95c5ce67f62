"""What a bundle has to be, before anything of it is brought in: unchanged, in itself consistent, and usable here.

Every check gives the bad fields by their paths; nothing of a text is repeated.
"""

import base64
import binascii
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from core.contract.bundles import Bundle, BundledSample, BundledTrait, BundledVersion, Intrinsic, digest
from core.contract.names import check_tag
from core.encoders import Encoder
from core.errors import InvalidTag
from core.lifecycle import encoders, models, rules
from core.lifecycle.bench import Bench
from core.scoring.fit import SCORING_METHODS
from core.scoring.snapshot import EncoderMismatch, Snapshot, SnapshotInvalid, param_hash

_MOST_ERRORS = 100

Problem = dict[str, Any]
Path = Sequence[str | int]


def check(bench: Bench, bundle: Bundle) -> None:
    """Raise `ValidationFailed` unless the bundle may be brought in."""
    _refuse(_unstorable(bundle))
    if bundle.sha256 != digest(bundle):
        _refuse([rules.problem(["sha256"], "sha256_mismatch", "the bundle was changed since it was exported")])
    models.check_fields(bundle.model.scoring_method, bundle.model.upstream_sources)
    _refuse(
        [
            *_of_traits(bench, bundle.traits),
            *_of_retention(bundle),
            *_of_samples(bench, bundle),
            *_of_versions(bundle),
            *(problem for place, each in enumerate(bundle.versions) for problem in _of_version(bench, bundle, place)),
        ]
    )


def _refuse(problems: Sequence[Problem]) -> None:
    if problems:
        raise rules.invalid(problems[:_MOST_ERRORS], thing="The bundle")


def _unstorable(bundle: Bundle) -> list[Problem]:
    """Free-form JSON; all else is held by its types."""
    told: list[tuple[Path, Any]] = [(["model", "upstream_sources"], bundle.model.upstream_sources)]
    told += [
        (["traits", i, "intrinsic"], each.intrinsic.discovery) for i, each in enumerate(bundle.traits) if each.intrinsic
    ]
    told += [(["versions", i, "metrics"], each.metrics) for i, each in enumerate(bundle.versions)]
    told += [(["versions", i, "snapshot"], each.snapshot) for i, each in enumerate(bundle.versions)]
    message = "U+0000, a lone surrogate or a number out of range"
    return [rules.problem(path, "not_storable", message) for path, value in told if not models.storable(value)]


def _of_traits(bench: Bench, told: Sequence[BundledTrait]) -> Iterator[Problem]:
    if len(told) > bench.settings.max_traits:
        message = f"it has {len(told)} traits; a model may have {bench.settings.max_traits}"
        yield rules.problem(["traits"], "too_many", message)
    for place, trait in enumerate(told):
        if trait.key is None:
            yield rules.problem(["traits", place, "key"], "missing", "a trait of a bundle names its key")
        if trait.intrinsic is not None and (wrong := _of_axis(bench, trait.intrinsic)):
            yield rules.problem(["traits", place, "intrinsic", "axis"], "axis_invalid", wrong)
    yield from _twice("traits", "key", [trait.key for trait in told if trait.key is not None])
    yield from _twice("traits", "name", [trait.name for trait in told])


def _of_axis(bench: Bench, found: Intrinsic) -> str | None:
    """What is wrong with an intrinsic trait's axis."""
    encoder = encoders.installed(bench, found.encoder_digest)
    if encoder is None:
        return _not_installed(bench, f"digest {found.encoder_digest[:12]}")
    try:
        packed = base64.b64decode(found.axis, validate=True)
    except (binascii.Error, ValueError):
        return "it is not base64"
    return None if _is_direction(packed, encoder) else f"it is not a direction of {encoder.dimension} numbers"


def _is_direction(packed: bytes, encoder: Encoder) -> bool:
    if len(packed) != 4 * encoder.dimension:
        return False
    axis = np.frombuffer(packed, "<f4")
    return bool(np.isfinite(axis).all() and axis.any())


def _of_retention(bundle: Bundle) -> Iterator[Problem]:
    if (bundle.samples is None) != bool(bundle.model.zero_data_retention):
        yield rules.problem(["samples"], "retention", "samples are null under zero data retention, and only then")


def _of_samples(bench: Bench, bundle: Bundle) -> Iterator[Problem]:
    told = bundle.samples or []
    if len(told) > bench.settings.max_samples:
        message = f"it has {len(told)} samples; a model may have {bench.settings.max_samples}"
        yield rules.problem(["samples"], "too_many", message)
    keys = {trait.key for trait in bundle.traits}
    for place, sample in enumerate(told):
        for field, kind, message in _wrong_in(sample, place, keys):
            yield rules.problem(["samples", place, field], kind, message)
    for i, trait in enumerate(bundle.traits):
        anchors = trait.intrinsic and trait.intrinsic.anchors
        if anchors and max((*anchors.positive, *anchors.negative), default=-1) >= len(told):
            yield rules.problem(["traits", i, "intrinsic", "anchors"], "no_such_sample", "an anchor is no sample of it")


def _wrong_in(sample: BundledSample, place: int, keys: set[str | None]) -> Iterator[tuple[str, str, str]]:
    if sample.trait not in keys:
        yield "trait", "unknown_trait", "the bundle has no trait of this key"
    if sample.content_sha256 not in (None, _sha256(sample.text)):
        yield "content_sha256", "sha256_mismatch", "it is not the SHA-256 of the text's UTF-8"
    if sample.seed is not None and (sample.seed >= place or sample.provenance != "synthesized"):
        yield "seed", "not_a_seed", "a synthesized sample varies one that stands before it"
    if sample.pending and sample.provenance != "score_feedback":
        yield "pending", "not_feedback", "only feedback waits to be learnt from"


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _of_versions(bundle: Bundle) -> Iterator[Problem]:
    """What versions have to be beside each other."""
    numbers = [each.version_no for each in bundle.versions]
    if numbers != sorted(set(numbers)):
        yield rules.problem(["versions"], "not_ascending", "version_no has to rise from one version to the next")
    if sum(each.active for each in bundle.versions) != min(1, len(numbers)):
        yield rules.problem(["versions"], "active", "of several versions exactly one is active")
    yield from _twice("versions", "tags", [tag for each in bundle.versions for tag in each.tags])


def _of_version(bench: Bench, bundle: Bundle, place: int) -> Iterator[Problem]:
    version = bundle.versions[place]
    for field, kind, message in (
        *_wrong_in_tags(version),
        *_wrong_in_metrics(version),
        *_wrong_in_snapshot(bench, bundle, version),
    ):
        yield rules.problem(["versions", place, field], kind, message)


def _wrong_in_tags(version: BundledVersion) -> Iterator[tuple[str, str, str]]:
    for tag in version.tags:
        try:
            check_tag(tag)
        except InvalidTag as error:
            yield "tags", "invalid_tag", error.message


class _Figures(BaseModel):
    """What readers of metrics rely on, of a trait; whatever else is there is kept."""

    model_config = ConfigDict(strict=True)

    auroc: float | None = None
    auroc_interval: list[float] | None = Field(default=None, min_length=2, max_length=2)
    brier: float | None = None
    calibration_error: float | None = None
    cross_entropy: float | None = None
    measured_on: str | None = None
    folds: int | None = None
    counts: dict[str, int] = {}
    parameters: dict[str, float] = {}


class _Encoder(BaseModel):
    model_config = ConfigDict(strict=True)

    id: str | None = None


class _Metrics(BaseModel):
    """The same, of a version."""

    model_config = ConfigDict(strict=True)

    auroc: float | None = None
    elapsed_s: float | None = None
    effort: str | None = None
    encoder: _Encoder | None = None
    traits: dict[str, _Figures] = {}


def _wrong_in_metrics(version: BundledVersion) -> Iterator[tuple[str, str, str]]:
    try:
        _Metrics.model_validate(version.metrics)
    except ValidationError as error:
        for each in error.errors(include_url=False, include_context=False, include_input=False):
            yield "metrics", each["type"], f"{'.'.join(map(str, each['loc']))}: {each['msg']}"


def _wrong_in_snapshot(bench: Bench, bundle: Bundle, version: BundledVersion) -> Iterator[tuple[str, str, str]]:
    try:
        snapshot = Snapshot.from_json(version.snapshot)
    except SnapshotInvalid as error:
        yield "snapshot", "snapshot_invalid", str(error)
        return
    # What a snapshot does not know would come in with it, under no hash.
    if snapshot.to_json() != version.snapshot or param_hash(snapshot) != version.param_hash:
        yield "param_hash", "param_hash_mismatch", "it is not the hash of the snapshot's canonical bytes"
    if snapshot.scoring_method not in SCORING_METHODS:
        yield "snapshot", "unsupported_scoring_method", f"its scoring method is none of {', '.join(SCORING_METHODS)}"
    if not snapshot.traits or {trait.key for trait in snapshot.traits} != {trait.key for trait in bundle.traits}:
        yield "snapshot", "other_traits", "its traits are not those of the model"
    if wrong := _of_encoder(bench, snapshot):
        yield "snapshot", "encoder_mismatch", wrong


def _of_encoder(bench: Bench, snapshot: Snapshot) -> str | None:
    encoder = encoders.installed(bench, snapshot.encoder.digest)
    if encoder is None:
        return _not_installed(bench, f"{snapshot.encoder.id[:64]} ({snapshot.encoder.digest[:12]})")
    try:
        snapshot.require(encoder)
    except EncoderMismatch as error:
        return str(error)
    return None


def _not_installed(bench: Bench, wanted: str) -> str:
    installed = f"{bench.encoder.id} ({bench.encoder.digest[:12]})"
    return f"it belongs to an encoder that is not installed here: {wanted}; here it is {installed}"


def _twice(thing: str, field: str, values: Iterable[str]) -> Iterator[Problem]:
    if any(count > 1 for count in Counter(values).values()):
        yield rules.problem([thing], "duplicate", f"a {field} stands twice")
