"""The snapshot of a version: everything that scoring needs as one immutable value, without any sample text.

As JSON a snapshot is self-contained: its format, the identity of its encoder, and the traits in order with poles,
vector (base64 of little-endian float32), offset, quartiles and breaks. `param_hash` is the SHA-256 of the canonical
bytes of that JSON: sorted keys, no white space, numbers rounded to float32.
"""

import base64
import binascii
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

FORMAT = 1
FULL = "full"
AGGREGATIONS = ("mean", "max", "min", "none")


class SnapshotInvalid(ValueError):
    """The snapshot is damaged, or has a format that this release cannot read."""


class EncoderMismatch(ValueError):
    """The snapshot was made with another encoder, whose vectors cannot be compared with those here."""


class ModeNotLearnt(ValueError):
    """The snapshot has no axes for this mode of its encoder."""

    def __init__(self, mode: str) -> None:
        super().__init__(f"The version was not trained for the mode {mode!r}. Train again, or score without a mode.")
        self.mode = mode


class NamedEncoder(Protocol):
    """The properties of an encoder that a snapshot records."""

    @property
    def id(self) -> str:
        """The name of the recipe."""
        ...

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        ...

    @property
    def digest(self) -> str:
        """The hash of everything that decides the vectors."""
        ...


@dataclass(frozen=True)
class EncoderIdentity:
    """The encoder whose vectors an axis applies to."""

    id: str
    dimension: int
    digest: str

    @staticmethod
    def of(encoder: NamedEncoder) -> "EncoderIdentity":
        """Return the identity of an encoder."""
        return EncoderIdentity(encoder.id, encoder.dimension, encoder.digest)


@dataclass(frozen=True)
class Breaks:
    """The scores, 0-100, at which the tiers begin."""

    developing: int
    solid: int
    strong: int


@dataclass(frozen=True)
class Quartiles:
    """Quartiles of one pole's calibration scores, 0-100."""

    p25: int
    p50: int
    p75: int


@dataclass(frozen=True, eq=False)
class ModeAxis:
    """A trait's axis, quartiles and breaks in one mode of the encoder."""

    vector: NDArray[np.float32]
    offset: float
    positive: Quartiles | None
    negative: Quartiles | None
    breaks: Breaks


@dataclass(frozen=True, eq=False)
class TraitAxis:
    """A trained trait; `positive` and `negative` are None if a pole has fewer than two samples.

    `modes` holds the same trait in the encoder's modes, by name; older snapshots have none.
    """

    key: str
    name: str
    positive_label: str
    negative_label: str
    aggregation: str
    vector: NDArray[np.float32]
    offset: float
    positive: Quartiles | None
    negative: Quartiles | None
    breaks: Breaks
    modes: Mapping[str, ModeAxis] = field(default_factory=dict)

    def in_mode(self, mode: str) -> "TraitAxis":
        """The trait in a mode; raise `ModeNotLearnt` if it was not trained for that mode."""
        if mode not in self.modes:
            raise ModeNotLearnt(mode)
        return replace(self, **vars(self.modes[mode]), modes={})


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The trained parameters of a model."""

    encoder: EncoderIdentity
    scoring_method: str
    max_depth: int
    traits: tuple[TraitAxis, ...]

    @cached_property
    def matrix(self) -> NDArray[np.float64]:
        """(n_traits, d): the axes of all traits."""
        return np.array([trait.vector for trait in self.traits], np.float64).reshape(-1, self.encoder.dimension)

    @cached_property
    def offsets(self) -> NDArray[np.float64]:
        """(n_traits,): the offsets of all traits."""
        return np.array([trait.offset for trait in self.traits], np.float64)

    @cached_property
    def modes(self) -> tuple[str, ...]:
        """The modes of the encoder that its traits were trained for, besides "full"."""
        return tuple(self.traits[0].modes) if self.traits else ()

    def in_mode(self, mode: str) -> "Snapshot":
        """The snapshot in a mode of its encoder; itself for "full". Raise `ModeNotLearnt` if it lacks the mode.

        The result is for scoring only: call `require` on the full snapshot.
        """
        if mode == FULL:
            return self
        traits = tuple(trait.in_mode(mode) for trait in self.traits)
        if not traits:
            raise ModeNotLearnt(mode)
        return replace(self, encoder=replace(self.encoder, dimension=len(traits[0].vector)), traits=traits)

    def require(self, encoder: NamedEncoder) -> None:
        """Raise `EncoderMismatch` unless the snapshot was made with this encoder."""
        given = EncoderIdentity.of(encoder)
        if given != self.encoder:
            raise EncoderMismatch(
                f"The version was trained with the encoder {self.encoder.id} ({self.encoder.digest[:12]}), but"
                f" this process uses {given.id} ({given.digest[:12]}). Set TRAITBENCH_ENCODER to that encoder, or train"
                " again."
            )

    def to_json(self) -> dict[str, Any]:
        """The snapshot as JSON values."""
        return {
            "format": FORMAT,
            "scoring_method": self.scoring_method,
            "max_depth": self.max_depth,
            "encoder": vars(self.encoder).copy(),
            "traits": [_trait_to_json(trait) for trait in self.traits],
        }

    @staticmethod
    def from_json(values: Mapping[str, Any]) -> "Snapshot":
        """The snapshot with these JSON values; raise `SnapshotInvalid` if they are not one."""
        try:
            return _from_json(values)
        except KeyError as error:
            raise SnapshotInvalid(f"The snapshot is damaged: {str(error)[:64]} is missing.") from None
        except (TypeError, AttributeError, IndexError, ValueError, OverflowError) as error:
            if isinstance(error, SnapshotInvalid):
                raise
            raise SnapshotInvalid("The snapshot is damaged: a part of it is missing or of the wrong type.") from None


def canonical_bytes(snapshot: Snapshot) -> bytes:
    """The canonical JSON of the snapshot, the same for equal snapshots."""
    return json.dumps(
        snapshot.to_json(), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    ).encode()


def param_hash(snapshot: Snapshot) -> str:
    """`sha256:` and the hash of the canonical bytes."""
    return "sha256:" + hashlib.sha256(canonical_bytes(snapshot)).hexdigest()


def float32(value: float) -> float:
    """The value rounded to single precision."""
    return float(np.float32(value))


def _trait_to_json(trait: TraitAxis) -> dict[str, Any]:
    values = {
        "key": trait.key,
        "name": trait.name,
        "positive_label": trait.positive_label,
        "negative_label": trait.negative_label,
        "aggregation": trait.aggregation,
        **_axis_to_json(trait),
    }
    # Omit empty modes, so that versions from before modes existed keep their hashes.
    return (
        values | {"modes": {name: _axis_to_json(mode) for name, mode in trait.modes.items()}} if trait.modes else values
    )


def _axis_to_json(axis: TraitAxis | ModeAxis) -> dict[str, Any]:
    return {
        "vector": base64.b64encode(axis.vector.astype("<f4").tobytes()).decode(),
        "offset": float32(axis.offset),
        "quartiles": {side: _quartiles_to_json(getattr(axis, side)) for side in ("positive", "negative")},
        "breaks": vars(axis.breaks).copy(),
    }


def _quartiles_to_json(quartiles: Quartiles | None) -> list[int] | None:
    return None if quartiles is None else [quartiles.p25, quartiles.p50, quartiles.p75]


def _from_json(values: Mapping[str, Any]) -> Snapshot:
    if isinstance(values["format"], bool) or values["format"] != FORMAT:
        raise SnapshotInvalid(
            f"The snapshot has format {values['format']!r}, but this release reads {FORMAT}. Train again, or use the"
            " release that wrote it."
        )
    encoder = EncoderIdentity(
        _string(values["encoder"], "id"),
        _integer(values["encoder"], "dimension", 1),
        _string(values["encoder"], "digest"),
    )
    traits = tuple(_trait_from_json(each, encoder.dimension) for each in values["traits"])
    if len({trait.key for trait in traits}) != len(traits):
        raise SnapshotInvalid("The snapshot is damaged: two traits have the same key.")
    widths = [{name: len(mode.vector) for name, mode in trait.modes.items()} for trait in traits]
    if any(width != widths[0] for width in widths):
        raise SnapshotInvalid("The snapshot is damaged: its traits have different modes.")
    return Snapshot(encoder, _string(values, "scoring_method"), _integer(values, "max_depth", 1, 3), traits)


def _trait_from_json(values: Mapping[str, Any], dimension: int) -> TraitAxis:
    aggregation = _string(values, "aggregation")
    if aggregation not in AGGREGATIONS:
        raise SnapshotInvalid(f"The snapshot is damaged: unknown aggregation {aggregation!r}.")
    return TraitAxis(
        key=_string(values, "key"),
        name=_string(values, "name"),
        positive_label=_string(values, "positive_label"),
        negative_label=_string(values, "negative_label"),
        aggregation=aggregation,
        **vars(_axis_from_json(values, dimension)),
        modes={str(name): _axis_from_json(mode, None) for name, mode in values.get("modes", {}).items()},
    )


def _axis_from_json(values: Mapping[str, Any], dimension: int | None) -> ModeAxis:
    names = ("developing", "solid", "strong")
    return ModeAxis(
        vector=_vector(values, dimension),
        offset=_number(values, "offset"),
        positive=_quartiles(values["quartiles"]["positive"]),
        negative=_quartiles(values["quartiles"]["negative"]),
        breaks=Breaks(*_ascending([_integer(values["breaks"], name, 0, 100) for name in names], "breaks")),
    )


def _ascending(numbers: list[int], what: str) -> list[int]:
    if numbers != sorted(numbers):
        raise SnapshotInvalid(f"The snapshot is damaged: {what} must be in ascending order.")
    return numbers


def _vector(values: Mapping[str, Any], dimension: int | None) -> NDArray[np.float32]:
    """The vector, checked to have this dimension unless it is None."""
    try:
        content = base64.b64decode(_string(values, "vector"), validate=True)
    except binascii.Error:
        raise SnapshotInvalid("The snapshot is damaged: a vector is not base64.") from None
    if dimension is None:
        dimension = len(content) // 4
    if len(content) != 4 * dimension:
        raise SnapshotInvalid(f"The snapshot is damaged: a vector has {len(content)} bytes, not {4 * dimension}.")
    vector = np.frombuffer(content, "<f4").astype(np.float32)
    if not np.isfinite(vector).all():
        raise SnapshotInvalid("The snapshot is damaged: a vector has a value that is not a finite number.")
    return vector


def _quartiles(values: Sequence[Any] | None) -> Quartiles | None:
    if values is None:
        return None
    if len(values) != 3:
        raise SnapshotInvalid(f"The snapshot is damaged: there must be 3 quartiles, not {len(values)}.")
    return Quartiles(*_ascending([_integer({"quartile": value}, "quartile", 0, 100) for value in values], "quartiles"))


def _string(values: Mapping[str, Any], name: str) -> str:
    value = values[name]
    if not isinstance(value, str):
        raise SnapshotInvalid(f"The snapshot is damaged: {name} is not a string.")
    return value


def _number(values: Mapping[str, Any], name: str) -> float:
    value = values[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise SnapshotInvalid(f"The snapshot is damaged: {name} is not a number.")
    return float(value)


def _integer(values: Mapping[str, Any], name: str, least: int, most: int = 1_000_000) -> int:
    value = values[name]
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise SnapshotInvalid(f"The snapshot is damaged: {name} is not an integer from {least} to {most}.")
    return value
