"""A whole model as one document, for export and import (an addition to the specification).

`sha256` is the hash of the canonical bytes of everything else in the document, so that a changed document is refused.
Samples have no ids here, because ids belong to one service. References use the position in `samples`, from 0.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, Field, ValidationError

from traitbench.contract.fields import Integral, NotBlank, Received, Text, Time
from traitbench.contract.models import ModelUpdate
from traitbench.contract.samples import LONGEST_NOTE, Provenance, SampleInput
from traitbench.contract.traits import TraitInput
from traitbench.contract.versions import ActivationCause, TagNote, TriggeredBy
from traitbench.names import ACTIVE, parse_version

FORMAT: Final = "traitbench-bundle-1"


Position = Annotated[int, Field(ge=0), Integral]
VersionNo = Annotated[int, Field(ge=1, lt=2**53), Integral]
LONGEST_KEY_NAME = 200
"""Characters of a key's name that a bundle keeps."""


class BundleInvalid(ValueError):
    """A file is not a bundle, or was changed; the message names the file and says what to do."""


class Anchors(Received):
    """Positions of the samples that typify each pole."""

    positive: list[Position]
    negative: list[Position]


class Intrinsic(Received):
    """The result of discovery. `axis` is base64 of little-endian float32: a direction among an encoder's vectors."""

    axis: Text
    encoder_digest: Text
    discrimination: float | None
    explained_variance: float | None
    anchors: Anchors | None
    discovery: dict[str, Any]


class BundledTrait(TraitInput):
    """A trait; `intrinsic` is null if a person defined it."""

    intrinsic: Intrinsic | None


class BundledSample(SampleInput):
    """A sample; `seed` is the position of the sample it varies, `pending` means that no version used it yet."""

    provenance: Provenance
    seed: Position | None = None
    generator: Annotated[Text, Field(max_length=200)] | None = None
    pending: bool = False
    score_then: Annotated[int, Field(ge=0, le=100), Integral] | None = None
    # An earlier release refuses a field that it does not know.
    note: Annotated[NotBlank, Field(max_length=LONGEST_NOTE)] | None = Field(
        default=None, exclude_if=lambda value: value is None
    )


class BundledReplaced(BundledSample):
    """A sample that a promotion replaced; `trait` is the key that its trait had.

    The versions that it belongs to are those from `first_version_no` to `last_version_no` that are left.
    """

    first_version_no: VersionNo
    last_version_no: VersionNo


class BundledOrigin(Received):
    """What a fork was made from."""

    handle: Text
    version_no: Annotated[int, Field(ge=1, lt=2**53), Integral] | None


class BundledVersion(Received):
    """A version with its snapshot.

    `samples` is base64 of what it was trained with and measured on, without texts (`store.version_samples`). It is null
    if that is not recorded, or if the records of newer versions are very large.

    `positions` is base64 of the positions of its samples when they were held out (`store.version_positions`). A sample
    is numbered by its position in `samples`, followed by `replaced`, of the bundle. It is absent if there are none.

    `tag_notes` has the notes of its tags, without tags that have none.

    `held_up_to` is null unless the version is on hold; then it is the position of the newest sample that it learned.
    """

    version_no: VersionNo
    triggered_by: TriggeredBy
    param_hash: Text
    sample_count: Annotated[int, Field(ge=0, lt=2**31), Integral]
    created_at: Annotated[Time, Field(strict=False)]
    metrics: dict[str, Any]
    tags: list[Text]
    tag_notes: dict[Text, TagNote] = Field(default={})
    active: bool
    snapshot: dict[str, Any]
    samples: Text | None = None
    held_up_to: Position | None = None
    # An earlier release refuses a field that it does not know.
    positions: Text | None = Field(default=None, exclude_if=lambda value: value is None)


class BundledActivation(Received):
    """An activation, see `Activation`."""

    version_no: VersionNo
    previous_version_no: VersionNo | None = None
    activated_at: Annotated[Time, Field(strict=False)]
    cause: ActivationCause
    by: Annotated[Text, Field(max_length=LONGEST_KEY_NAME)] | None = None


class Bundle(Received):
    """Answer of `GET /models/{handle}/export` and body of `POST /models/import`.

    `samples` is null when the model is under zero data retention. `activations` are oldest first. `replaced` are
    samples that only earlier versions were trained with, absent if there are none.
    """

    format: Literal["traitbench-bundle-1"]
    sha256: Text
    handle: Text
    model: ModelUpdate
    traits: list[BundledTrait]
    samples: list[BundledSample] | None
    versions: list[BundledVersion]
    forked_from: BundledOrigin | None = None
    activations: list[BundledActivation] = Field(default=[])
    replaced: list[BundledReplaced] = Field(default=[], exclude_if=lambda value: not value)


def parse(content: bytes, *, name: str) -> Bundle:
    """Return the bundle in a file; raise `BundleInvalid` if it is none, or was changed since it was exported."""
    try:
        bundle = Bundle.model_validate_json(content)
    except ValidationError as error:
        raise BundleInvalid(f"{name} is not a model exported from Traitbench. Export it again.") from error
    if bundle.sha256 != digest(bundle):
        raise BundleInvalid(f"{name} was changed since it was exported. Export it again.")
    return bundle


def choose_version(bundle: Bundle, version: str | None = None) -> BundledVersion:
    """Return the version `vN`, or the one with this tag, by default the active one.

    Raise `BundleInvalid` if the bundle does not have it.
    """
    name = version or ACTIVE
    number = parse_version(name)
    for each in bundle.versions:
        if each.version_no == number or name in each.tags or (name == ACTIVE and each.active):
            return each
    known = ", ".join(f"v{each.version_no}" for each in bundle.versions) or "none"
    wanted = "no active version" if version is None else f"no version {version}"
    raise BundleInvalid(f"The export of {bundle.handle} has {wanted}. It has: {known}.")


Streamed = Mapping[str, Iterable[BundledSample]]
"""Values of `samples` and `replaced` that replace those of a bundle, so that they are never in memory as a whole."""


def digest(bundle: Bundle, streamed: Streamed = MappingProxyType({})) -> str:
    """Return the value that `sha256` must have.

    Fields with their default value are left out, so that a new field does not change the hash of older documents.
    """
    sha256 = hashlib.sha256()
    values = _values(bundle, streamed)
    covered = [
        name for name, field in Bundle.model_fields.items() if name != "sha256" and values[name] != field.default
    ]
    for piece in _object(sorted(covered), values, _dumped):
        sha256.update(piece.encode())
    return sha256.hexdigest()


def document(bundle: Bundle, streamed: Streamed = MappingProxyType({})) -> Iterator[str]:
    """Yield the bundle as pieces of JSON, so that it is never in memory as a whole."""
    values = _values(bundle, streamed)
    fields = Bundle.model_fields.items()
    names = [name for name, field in fields if field.exclude_if is None or not field.exclude_if(values[name])]
    return _object(names, values, _as_json)


def _as_json(value: Any) -> str:
    return value.model_dump_json() if isinstance(value, BaseModel) else json.dumps(value)


def _values(bundle: Bundle, streamed: Streamed) -> Mapping[str, Any]:
    return {**{name: getattr(bundle, name) for name in Bundle.model_fields}, **streamed}


def _object(names: Iterable[str], values: Mapping[str, Any], dump: Callable[[Any], str]) -> Iterator[str]:
    begin = "{"
    for name in names:
        yield f'{begin}"{name}":'
        value = values[name]
        if value is None or isinstance(value, str | BaseModel):
            yield dump(value)
        else:
            yield "["
            for position, each in enumerate(value):
                yield ("," if position else "") + dump(each)
            yield "]"
        begin = ","
    yield "}"


def _dumped(value: Any) -> str:
    plain = value.model_dump(mode="json", exclude_defaults=True) if isinstance(value, BaseModel) else value
    return json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
