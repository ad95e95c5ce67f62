"""What a bundle has to be, before anything of it is brought in: unchanged, in itself consistent, and usable here.

Every check gives the bad fields by their paths; nothing of a text is repeated. What is brought in here is read by lists
and pages ever after, so each value keeps within what all of them, and both databases, can take.
"""

import base64
import binascii
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from pydantic import ValidationError

from traitbench.contract.bundles import Bundle, BundledSample, BundledTrait, BundledVersion, Intrinsic, digest
from traitbench.contract.metrics import Metrics
from traitbench.contract.names import check_tag, parse_handle
from traitbench.contract.samples import text_hash
from traitbench.encoders import Encoder
from traitbench.errors import InvalidHandle, InvalidTag, ValidationFailed
from traitbench.lifecycle import encoders, free_form, models, rules
from traitbench.lifecycle.bench import Bench
from traitbench.scoring.fit import SCORING_METHODS
from traitbench.scoring.snapshot import EncoderMismatch, ModeAxis, Snapshot, SnapshotInvalid, TraitAxis, param_hash

_MOST_ERRORS = 100
_EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
_SKEW = timedelta(days=1)
"""How far the clock of another machine may be ahead of this one."""

_LARGEST = 1e6
"""The size of a number in an axis: those that are learnt stay far below, and sums of such numbers stay finite."""

_LABEL = 200
_HIGHEST = 1_000_000_000
"""Of numbers of versions: those that follow on still fit into any reader's whole numbers."""


Problem = dict[str, Any]
Path = Sequence[str | int]


def check(bench: Bench, bundle: Bundle) -> None:
    """Raise `ValidationFailed` unless the bundle may be brought in."""
    _refuse(list(_of_free_form(bundle)))
    if bundle.sha256 != digest(bundle):
        _refuse([rules.problem(["sha256"], "sha256_mismatch", "the bundle was changed since it was exported")])
    models.check_fields(bundle.model.scoring_method, bundle.model.upstream_sources)
    _refuse(
        [
            *_of_handle(bundle),
            *_of_traits(bench, bundle.traits),
            *_of_retention(bundle),
            *_of_samples(bench, bundle),
            *_of_versions(bundle),
            *(problem for place, each in enumerate(bundle.versions) for problem in _of_version(bench, bundle, place)),
        ]
    )


def _refuse(problems: Sequence[Problem]) -> None:
    if problems:
        place = rules.place(problems[0]["loc"])
        others = len(problems) - 1
        more = f" and {others} other place{'' if others == 1 else 's'} are" if others else " is"
        raise ValidationFailed(
            f"The bundle cannot be imported: {place}{more} not valid. Nothing was changed.",
            details={"errors": [dict(each) for each in problems[:_MOST_ERRORS]]},
        )


def _of_free_form(bundle: Bundle) -> Iterator[Problem]:
    """Free-form JSON; all else is held by its types."""
    told: list[tuple[Path, Any, free_form.Bounds]] = [
        (["model", "upstream_sources"], bundle.model.upstream_sources, free_form.SOURCES)
    ]
    for i, trait in enumerate(bundle.traits):
        if trait.intrinsic:
            told.append((["traits", i, "intrinsic", "discovery"], trait.intrinsic.discovery, free_form.DISCOVERY))
    for i, version in enumerate(bundle.versions):
        told.append((["versions", i, "metrics"], version.metrics, free_form.METRICS))
        told.append((["versions", i, "snapshot"], version.snapshot, free_form.SNAPSHOT))
    for path, value, bounds in told:
        for inner, kind, message in free_form.faults(value, bounds):
            yield rules.problem([*path, *inner], kind, message)


def _of_handle(bundle: Bundle) -> Iterator[Problem]:
    try:
        parse_handle(bundle.handle)
    except InvalidHandle as error:
        yield rules.problem(["handle"], "invalid_handle", error.message)


def _of_traits(bench: Bench, told: Sequence[BundledTrait]) -> Iterator[Problem]:
    if len(told) > bench.settings.max_traits:
        message = f"it has {len(told)} traits; a model may have {bench.settings.max_traits}"
        yield rules.problem(["traits"], "too_many", message)
    for place, trait in enumerate(told):
        if trait.key is None:
            yield rules.problem(["traits", place, "key"], "missing", "a trait of a bundle names its key")
        if trait.intrinsic is not None:
            yield from _of_intrinsic(bench, trait.intrinsic, place)
    yield from _twice("traits", "key", [trait.key for trait in told if trait.key is not None])
    yield from _twice("traits", "name", [trait.name for trait in told])


def _of_intrinsic(bench: Bench, found: Intrinsic, place: int) -> Iterator[Problem]:
    path: list[str | int] = ["traits", place, "intrinsic"]
    if wrong := _of_axis(bench, found):
        yield rules.problem([*path, "axis"], "axis_invalid", wrong)
    for field in ("discrimination", "explained_variance"):
        value = getattr(found, field)
        if value is not None and not 0 <= value <= 1:
            yield rules.problem([*path, field], "out_of_range", "a number from 0 to 1 is allowed")


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
    return bool(np.isfinite(axis).all() and axis.any() and np.abs(axis).max() <= _LARGEST)


def _of_retention(bundle: Bundle) -> Iterator[Problem]:
    policy = bundle.model.version_retention_policy
    if policy is not None and policy.keep_unnamed > _HIGHEST:
        path = ["model", "version_retention_policy", "keep_unnamed"]
        yield rules.problem(path, "out_of_range", f"a whole number from 0 to {_HIGHEST:,} is allowed")
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
        if not anchors:
            continue
        for pole in ("positive", "negative"):
            places = getattr(anchors, pole)
            path: list[str | int] = ["traits", i, "intrinsic", "anchors", pole]
            if max(places, default=-1) >= len(told):
                yield rules.problem(path, "no_such_sample", f"the bundle has {len(told)} samples, counted from 0")
            if len(set(places)) < len(places):
                yield rules.problem(path, "duplicate", "a sample may be named once")


def _wrong_in(sample: BundledSample, place: int, keys: set[str | None]) -> Iterator[tuple[str, str, str]]:
    if sample.trait not in keys:
        yield "trait", "unknown_trait", "the bundle has no trait of this key"
    if sample.content_sha256 not in (None, text_hash(sample.text)):
        yield "content_sha256", "sha256_mismatch", "it is not the SHA-256 of the text's UTF-8"
    if sample.seed is not None and (sample.seed >= place or sample.provenance != "synthesized"):
        yield "seed", "not_a_seed", "a synthesized sample varies one that stands before it"
    if sample.pending and sample.provenance != "score_feedback":
        yield "pending", "not_feedback", "only feedback waits to be learnt from"


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
    yield from _of_metrics(version, ["versions", place, "metrics"])
    if version.version_no > _HIGHEST:
        message = f"a number from 1 to {_HIGHEST:,} is allowed"
        yield rules.problem(["versions", place, "version_no"], "out_of_range", message)
    for field, kind, message in (
        *_wrong_in_time(version),
        *_wrong_in_tags(version),
        *_wrong_in_snapshot(bench, bundle, version),
    ):
        yield rules.problem(["versions", place, field], kind, message)


def _wrong_in_time(version: BundledVersion) -> Iterator[tuple[str, str, str]]:
    """Times need not rise with the numbers: a clock may have been set back."""
    latest = rules.now() + _SKEW
    if not _EARLIEST <= version.created_at <= latest:
        yield "created_at", "out_of_range", f"a time from {_EARLIEST:%Y-%m-%d} to {latest:%Y-%m-%d} (UTC) is allowed"


def _wrong_in_tags(version: BundledVersion) -> Iterator[tuple[str, str, str]]:
    for tag in version.tags:
        try:
            check_tag(tag)
        except InvalidTag as error:
            yield "tags", "invalid_tag", error.message


def _of_metrics(version: BundledVersion, path: Path) -> Iterator[Problem]:
    try:
        Metrics.checked(version.metrics)
    except ValidationError as error:
        for each in error.errors(include_url=False, include_context=False, include_input=False):
            inner = [part if isinstance(part, int) else free_form.shown(part) for part in each["loc"]]
            yield rules.problem([*path, *inner], each["type"], each["msg"])


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
    for place, trait in enumerate(snapshot.traits):
        for kind, message in _wrong_in_axis(trait):
            yield "snapshot", kind, f"traits[{place}]: {message}"


def _wrong_in_axis(trait: TraitAxis) -> Iterator[tuple[str, str]]:
    for name in ("name", "positive_label", "negative_label"):
        text = getattr(trait, name)
        if not text.strip() or len(text) > _LABEL:
            yield "label_invalid", f"{name}: 1 to {_LABEL} characters are allowed, not all of them blank"
    axes: list[tuple[str, TraitAxis | ModeAxis]] = [("", trait), *((f"modes.{m}.", a) for m, a in trait.modes.items())]
    for where, axis in axes:
        if max(abs(axis.offset), float(np.abs(axis.vector).max(initial=0))) > _LARGEST:
            yield "out_of_range", f"{where}vector and offset: no number may be beyond {_LARGEST:,.0f}"


def _of_encoder(bench: Bench, snapshot: Snapshot) -> str | None:
    encoder = encoders.installed(bench, snapshot.encoder.digest)
    if encoder is None:
        return _not_installed(bench, f"{snapshot.encoder.id[:64]} ({snapshot.encoder.digest[:12]})")
    try:
        snapshot.require(encoder)
    except EncoderMismatch as error:
        return str(error)
    return _of_modes(encoder, snapshot)


def _of_modes(encoder: Encoder, snapshot: Snapshot) -> str | None:
    """What is wrong with the widths of a snapshot's modes."""
    widths = {name: len(range(encoder.dimension)[columns]) for name, columns in encoder.modes.items()}
    for name in snapshot.modes:
        if name not in widths:
            return f"the encoder has no mode of a name that is used; it has {', '.join(widths) or 'none'}"
        if (width := len(snapshot.traits[0].modes[name].vector)) != widths[name]:
            return f"the mode {name} has vectors of {width} numbers; the encoder's have {widths[name]}"
    return None


def _not_installed(bench: Bench, wanted: str) -> str:
    installed = f"{bench.encoder.id} ({bench.encoder.digest[:12]})"
    return f"it belongs to an encoder that is not installed here: {wanted}; here it is {installed}"


def _twice(thing: str, field: str, values: Iterable[str]) -> Iterator[Problem]:
    if any(count > 1 for count in Counter(values).values()):
        yield rules.problem([thing], "duplicate", f"a {field} stands twice")
