"""Checks of a bundle before it is imported: unchanged, consistent in itself, and usable with the encoders here.

Every check yields the invalid fields by path and repeats no text. Lists and pages will read the imported values, so
each value must be within the limits of all of them and of both databases.
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
from traitbench.contract.samples import text_hash
from traitbench.encoders import Encoder
from traitbench.errors import InvalidHandle, InvalidTag, ValidationFailed
from traitbench.fitting.fit import SCORING_METHODS
from traitbench.names import check_tag, is_key, parse_handle
from traitbench.operations import models, rules, serving
from traitbench.operations.context import Context
from traitbench.scoring.snapshot import EncoderMismatch, ModeAxis, Snapshot, SnapshotInvalid, TraitAxis, param_hash
from traitbench.store import version_positions, version_samples

_MOST_ERRORS = 100
_EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
_SKEW = timedelta(days=1)
"""How far the clock of another machine may be ahead of this one."""

_MAX_NUMBER = 1e6
"""Limit for numbers in an axis. Trained axes stay far below it, and sums of such numbers stay finite."""

_MAX_LABEL = 200
_MAX_VERSION_NO = 1_000_000_000
"""Limit for version numbers: the numbers that follow still fit into any client's integers."""


Problem = dict[str, Any]
Path = Sequence[str | int]


def check(context: Context, bundle: Bundle) -> None:
    """Raise `ValidationFailed` unless the bundle can be imported."""
    _refuse(list(_check_free_form(bundle)))
    if bundle.sha256 != digest(bundle):
        _refuse([rules.problem(["sha256"], "sha256_mismatch", "the bundle has been changed since it was exported")])
    models.check_fields(bundle.model.scoring_method, bundle.model.upstream_sources)
    _refuse(
        [
            *_check_handle(bundle),
            *_check_origin(bundle),
            *_check_traits(context, bundle.traits),
            *_check_presentation(bundle),
            *_check_retention(bundle),
            *_check_samples(context, bundle),
            *_check_replaced(bundle),
            *_check_versions(bundle),
            *_check_hold(bundle),
            *_check_activations(bundle),
            *(
                problem
                for position, each in enumerate(bundle.versions)
                for problem in _check_version(context, bundle, position)
            ),
        ]
    )


def _refuse(problems: Sequence[Problem]) -> None:
    if problems:
        position = rules.location(problems[0]["loc"])
        others = len(problems) - 1
        more = f" and {others} other place{'' if others == 1 else 's'} are" if others else " is"
        raise ValidationFailed(
            f"The bundle cannot be imported: {position}{more} not valid. Nothing was changed.",
            details={"errors": [dict(each) for each in problems[:_MOST_ERRORS]]},
        )


def _check_free_form(bundle: Bundle) -> Iterator[Problem]:
    """Problems in free-form JSON; the types check everything else."""
    values: list[tuple[Path, Any, rules.Bounds]] = [
        (["model", "upstream_sources"], bundle.model.upstream_sources, rules.SOURCES)
    ]
    for i, trait in enumerate(bundle.traits):
        if trait.intrinsic:
            values.append((["traits", i, "intrinsic", "discovery"], trait.intrinsic.discovery, rules.DISCOVERY))
    for i, version in enumerate(bundle.versions):
        values.append((["versions", i, "metrics"], version.metrics, rules.METRICS))
        values.append((["versions", i, "snapshot"], version.snapshot, rules.SNAPSHOT))
    for path, value, bounds in values:
        for inner, kind, message in rules.faults(value, bounds):
            yield rules.problem([*path, *inner], kind, message)


def _check_handle(bundle: Bundle) -> Iterator[Problem]:
    try:
        parse_handle(bundle.handle)
    except InvalidHandle as error:
        yield rules.problem(["handle"], "invalid_handle", error.message)


def _check_origin(bundle: Bundle) -> Iterator[Problem]:
    origin = bundle.forked_from
    if origin is None:
        return
    try:
        parse_handle(origin.handle)
    except InvalidHandle as error:
        yield rules.problem(["forked_from", "handle"], "invalid_handle", error.message)
    if (origin.version_no or 0) > _MAX_VERSION_NO:
        message = f"a number from 1 to {_MAX_VERSION_NO:,} is allowed"
        yield rules.problem(["forked_from", "version_no"], "out_of_range", message)


def _check_traits(context: Context, traits: Sequence[BundledTrait]) -> Iterator[Problem]:
    if len(traits) > context.settings.max_traits:
        message = f"it has {len(traits)} traits; at most {context.settings.max_traits} are allowed"
        yield rules.problem(["traits"], "too_many", message)
    for position, trait in enumerate(traits):
        if trait.key is None:
            yield rules.problem(["traits", position, "key"], "missing", "every trait of a bundle needs a key")
        if trait.intrinsic is not None:
            yield from _check_intrinsic(context, trait.intrinsic, position)
    yield from _duplicates("traits", "key", [trait.key for trait in traits if trait.key is not None])
    yield from _duplicates("traits", "name", [trait.name for trait in traits])


def _check_presentation(bundle: Bundle) -> Iterator[Problem]:
    main_trait = bundle.model.main_trait
    if main_trait is not None and main_trait not in {trait.key for trait in bundle.traits}:
        yield rules.problem(["model", "main_trait"], "unknown_trait", "the bundle has no trait with this key")
    if bundle.model.demo_texts and bundle.model.zero_data_retention:
        yield rules.problem(["model", "demo_texts"], "retention", "there are no demo texts under zero data retention")


def _check_intrinsic(context: Context, intrinsic: Intrinsic, position: int) -> Iterator[Problem]:
    path: list[str | int] = ["traits", position, "intrinsic"]
    if wrong := _axis_error(context, intrinsic):
        yield rules.problem([*path, "axis"], "axis_invalid", wrong)
    for field in ("discrimination", "explained_variance"):
        value = getattr(intrinsic, field)
        if value is not None and not 0 <= value <= 1:
            yield rules.problem([*path, field], "out_of_range", "a number from 0 to 1 is allowed")


def _axis_error(context: Context, intrinsic: Intrinsic) -> str | None:
    """What is wrong with an intrinsic trait's axis; None if nothing is."""
    encoder = serving.installed(context, intrinsic.encoder_digest)
    if encoder is None:
        return _not_installed(context, f"digest {intrinsic.encoder_digest[:12]}")
    try:
        packed = base64.b64decode(intrinsic.axis, validate=True)
    except (binascii.Error, ValueError):
        return "it is not base64"
    return None if _is_direction(packed, encoder) else f"it must be {encoder.dimension} finite numbers, not all zero"


def _is_direction(packed: bytes, encoder: Encoder) -> bool:
    if len(packed) != 4 * encoder.dimension:
        return False
    axis = np.frombuffer(packed, "<f4")
    return bool(np.isfinite(axis).all() and axis.any() and np.abs(axis).max() <= _MAX_NUMBER)


def _check_retention(bundle: Bundle) -> Iterator[Problem]:
    policy = bundle.model.version_retention_policy
    if policy is not None and policy.keep_unnamed > _MAX_VERSION_NO:
        path = ["model", "version_retention_policy", "keep_unnamed"]
        yield rules.problem(path, "out_of_range", f"a whole number from 0 to {_MAX_VERSION_NO:,} is allowed")
    if (bundle.samples is None) != bool(bundle.model.zero_data_retention):
        yield rules.problem(["samples"], "retention", "samples must be null under zero data retention, and only then")


def _check_samples(context: Context, bundle: Bundle) -> Iterator[Problem]:
    samples = bundle.samples or []
    if len(samples) > context.settings.max_samples:
        message = f"it has {len(samples)} samples; at most {context.settings.max_samples} are allowed"
        yield rules.problem(["samples"], "too_many", message)
    keys = {trait.key for trait in bundle.traits}
    for position, sample in enumerate(samples):
        for field, kind, message in _check_sample(sample, position, keys):
            yield rules.problem(["samples", position, field], kind, message)
    for i, trait in enumerate(bundle.traits):
        anchors = trait.intrinsic and trait.intrinsic.anchors
        if not anchors:
            continue
        for pole in ("positive", "negative"):
            positions = getattr(anchors, pole)
            path: list[str | int] = ["traits", i, "intrinsic", "anchors", pole]
            if max(positions, default=-1) >= len(samples):
                yield rules.problem(path, "no_such_sample", f"the bundle has {len(samples)} samples, counted from 0")
            if len(set(positions)) < len(positions):
                yield rules.problem(path, "duplicate", "each sample may appear only once")


def _check_sample(sample: BundledSample, position: int, keys: set[str | None]) -> Iterator[tuple[str, str, str]]:
    if sample.trait not in keys:
        yield "trait", "unknown_trait", "the bundle has no trait with this key"
    if sample.content_sha256 not in (None, text_hash(sample.text)):
        yield "content_sha256", "sha256_mismatch", "it is not the SHA-256 of the text in UTF-8"
    if sample.seed is not None and (sample.seed >= position or sample.provenance != "synthesized"):
        yield "seed", "not_a_seed", "only a synthesized sample has a seed, and the seed comes before it"
    if sample.pending and sample.provenance != "score_feedback":
        yield "pending", "not_feedback", "only feedback can be pending"
    if sample.score_then is not None and sample.provenance != "score_feedback":
        yield "score_then", "not_feedback", "only feedback has a score from the time when it was given"


def _check_replaced(bundle: Bundle) -> Iterator[Problem]:
    """Check samples that only earlier versions had: each must belong to one that is there."""
    numbers = {each.version_no for each in bundle.versions}
    if bundle.replaced and bundle.model.zero_data_retention:
        yield rules.problem(["replaced"], "retention", "there are no samples under zero data retention")
    for position, sample in enumerate(bundle.replaced):
        own = {number for number in numbers if sample.first_version_no <= number <= sample.last_version_no}
        path: list[str | int] = ["replaced", position]
        if not own:
            message = "no version of the bundle has a number from its first to its last"
            yield rules.problem([*path, "first_version_no"], "no_such_version", message)
        if sample.seed is not None:
            position_there = sample.seed - len(bundle.samples or [])
            if not 0 <= position_there < position or sample.provenance != "synthesized":
                message = "only a synthesized sample has a seed, which comes before it"
                yield rules.problem([*path, "seed"], "not_a_seed", message)
        if not is_key(sample.trait):
            yield rules.problem([*path, "trait"], "not_a_key", "it is not the key of a trait")
        for field, kind, message in _check_sample(sample, 0, {sample.trait}):
            if field != "seed":
                yield rules.problem([*path, field], kind, message)


def _check_versions(bundle: Bundle) -> Iterator[Problem]:
    """Problems that concern several versions: their order, the active one, their tags."""
    numbers = [each.version_no for each in bundle.versions]
    if numbers != sorted(set(numbers)):
        yield rules.problem(["versions"], "not_ascending", "version_no must increase from one version to the next")
    if sum(each.active for each in bundle.versions) != min(1, len(numbers)):
        yield rules.problem(["versions"], "active", "exactly one version must be active")
    yield from _duplicates("versions", "tags", [tag for each in bundle.versions for tag in each.tags])


def _check_hold(bundle: Bundle) -> Iterator[Problem]:
    held = [(position, each) for position, each in enumerate(bundle.versions) if each.held_up_to is not None]
    if len(held) > 1:
        yield rules.problem(["versions"], "held", "at most one version can be on hold")
    for position, version in held:
        path: list[str | int] = ["versions", position, "held_up_to"]
        if version.active:
            yield rules.problem(path, "held", "the active version cannot be on hold")
        if (version.held_up_to or 0) >= (count := len(bundle.samples or [])):
            yield rules.problem(path, "no_such_sample", f"the bundle has {count} samples, counted from 0")


def _check_activations(bundle: Bundle) -> Iterator[Problem]:
    """Problems of activations. Their versions may have been pruned, and a clock may have been set back."""
    latest = rules.now() + _SKEW
    for position, each in enumerate(bundle.activations):
        if not _EARLIEST <= each.activated_at <= latest:
            message = f"a time from {_EARLIEST:%Y-%m-%d} to {latest:%Y-%m-%d} (UTC) is allowed"
            yield rules.problem(["activations", position, "activated_at"], "out_of_range", message)
        for field in ("version_no", "previous_version_no"):
            if (getattr(each, field) or 1) > _MAX_VERSION_NO:
                message = f"a number from 1 to {_MAX_VERSION_NO:,} is allowed"
                yield rules.problem(["activations", position, field], "out_of_range", message)


def _check_version(context: Context, bundle: Bundle, position: int) -> Iterator[Problem]:
    version = bundle.versions[position]
    yield from _check_metrics(version, ["versions", position, "metrics"])
    if version.version_no > _MAX_VERSION_NO:
        message = f"a number from 1 to {_MAX_VERSION_NO:,} is allowed"
        yield rules.problem(["versions", position, "version_no"], "out_of_range", message)
    for field, kind, message in (
        *_check_time(version),
        *_check_tags(version),
        *_check_record(bundle, version),
        *_check_positions(bundle, version),
        *_check_snapshot(context, bundle, version),
    ):
        yield rules.problem(["versions", position, field], kind, message)


def _check_time(version: BundledVersion) -> Iterator[tuple[str, str, str]]:
    """Check the time of a version. Times need not ascend with the numbers: a clock may have been set back."""
    latest = rules.now() + _SKEW
    if not _EARLIEST <= version.created_at <= latest:
        yield "created_at", "out_of_range", f"a time from {_EARLIEST:%Y-%m-%d} to {latest:%Y-%m-%d} (UTC) is allowed"


def _check_tags(version: BundledVersion) -> Iterator[tuple[str, str, str]]:
    for tag in version.tags:
        try:
            check_tag(tag)
        except InvalidTag as error:
            yield "tags", "invalid_tag", error.message
    if not version.tag_notes.keys() <= set(version.tags):
        yield "tag_notes", "unknown_tag", "a note belongs to one of the version's tags"


def _check_record(bundle: Bundle, version: BundledVersion) -> Iterator[tuple[str, str, str]]:
    """Check what a version says it was trained with: it must be what training would have recorded."""
    if version.samples is None:
        return
    if bundle.model.zero_data_retention:
        yield "samples", "retention", "samples of a version must be null under zero data retention"
        return
    try:
        records = version_samples.unpacked(base64.b64decode(version.samples, validate=True))
    except (binascii.Error, ValueError):
        yield "samples", "record_invalid", "it is not base64 of sorted records of samples"
        return
    trained = int((~records["held_out"]).sum())
    if trained != version.sample_count:
        message = f"it records {trained} samples of the training; sample_count is {version.sample_count}"
        yield "samples", "record_invalid", message


def _check_positions(bundle: Bundle, version: BundledVersion) -> Iterator[tuple[str, str, str]]:
    """Check the positions of a version: they must be of samples of the bundle and of traits of its snapshot."""
    if version.positions is None:
        return
    if bundle.model.zero_data_retention:
        yield "positions", "retention", "there are no positions of samples under zero data retention"
        return
    traits = version.snapshot.get("traits")
    count = len(bundle.samples or []) + len(bundle.replaced)
    try:
        packed = base64.b64decode(version.positions, validate=True)
        version_positions.unpacked(packed, samples=count, traits=len(traits) if isinstance(traits, list) else 0)
    except (binascii.Error, ValueError):
        yield "positions", "positions_invalid", f"it is not base64 of sorted positions of the bundle's {count} samples"


def _check_metrics(version: BundledVersion, path: Path) -> Iterator[Problem]:
    try:
        Metrics.checked(version.metrics)
    except ValidationError as error:
        for each in error.errors(include_url=False, include_context=False, include_input=False):
            inner = [part if isinstance(part, int) else rules.shown(part) for part in each["loc"]]
            yield rules.problem([*path, *inner], each["type"], each["msg"])


def _check_snapshot(context: Context, bundle: Bundle, version: BundledVersion) -> Iterator[tuple[str, str, str]]:
    try:
        snapshot = Snapshot.from_json(version.snapshot)
    except SnapshotInvalid as error:
        yield "snapshot", "snapshot_invalid", str(error)
        return
    # Fields that `Snapshot` does not know would be imported without being covered by the hash.
    if snapshot.to_json() != version.snapshot or param_hash(snapshot) != version.param_hash:
        yield "param_hash", "param_hash_mismatch", "it is not the hash of the snapshot's canonical bytes"
    if snapshot.scoring_method not in SCORING_METHODS:
        yield (
            "snapshot",
            "unsupported_scoring_method",
            f"its scoring method must be one of {', '.join(SCORING_METHODS)}",
        )
    # An earlier version may have other traits: a promotion replaces those of the model.
    is_newest = version is bundle.versions[-1]
    has_same_traits = {trait.key for trait in snapshot.traits} == {trait.key for trait in bundle.traits}
    if not snapshot.traits or (is_newest and not has_same_traits):
        yield "snapshot", "other_traits", "its traits are not those of the model"
    if wrong := _encoder_error(context, snapshot):
        yield "snapshot", "encoder_mismatch", wrong
    for position, trait in enumerate(snapshot.traits):
        for kind, message in _check_trait_axis(trait):
            yield "snapshot", kind, f"traits[{position}]: {message}"


def _check_trait_axis(trait: TraitAxis) -> Iterator[tuple[str, str]]:
    for name in ("name", "positive_label", "negative_label"):
        text = getattr(trait, name)
        if not text.strip() or len(text) > _MAX_LABEL:
            yield "label_invalid", f"{name}: use 1 to {_MAX_LABEL} characters, not all of them blank"
    axes: list[tuple[str, TraitAxis | ModeAxis]] = [("", trait), *((f"modes.{m}.", a) for m, a in trait.modes.items())]
    for where, axis in axes:
        lines = (axis,) if axis.labels is None else (axis, axis.labels)
        if any(max(abs(line.offset), float(np.abs(line.vector).max(initial=0))) > _MAX_NUMBER for line in lines):
            yield (
                "out_of_range",
                f"{where}vector and offset: numbers from -{_MAX_NUMBER:,.0f} to {_MAX_NUMBER:,.0f} are allowed",
            )


def _encoder_error(context: Context, snapshot: Snapshot) -> str | None:
    encoder = serving.installed(context, snapshot.encoder.digest)
    if encoder is None:
        return _not_installed(context, f"{snapshot.encoder.id[:64]} ({snapshot.encoder.digest[:12]})")
    try:
        snapshot.require(encoder)
    except EncoderMismatch as error:
        return str(error)
    return _modes_error(encoder, snapshot)


def _modes_error(encoder: Encoder, snapshot: Snapshot) -> str | None:
    """What is wrong with the modes of a snapshot; None if nothing is."""
    widths = {name: len(range(encoder.dimension)[columns]) for name, columns in encoder.modes.items()}
    for name in snapshot.modes:
        if name not in widths:
            return f"it has a mode that the encoder does not have; the encoder's modes: {', '.join(widths) or 'none'}"
        if (width := len(snapshot.traits[0].modes[name].vector)) != widths[name]:
            return f"the mode {name} has vectors of {width} numbers; the encoder's have {widths[name]}"
    return None


def _not_installed(context: Context, wanted: str) -> str:
    installed = f"{context.encoder.id} ({context.encoder.digest[:12]})"
    return f"it needs an encoder that is not installed: {wanted}; this service uses {installed}"


def _duplicates(thing: str, field: str, values: Iterable[str]) -> Iterator[Problem]:
    if any(count > 1 for count in Counter(values).values()):
        yield rules.problem([thing], "duplicate", f"{field}: a value appears twice")
