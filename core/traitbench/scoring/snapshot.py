"""The snapshot of a version: everything that scoring needs as one immutable value, without any sample text.

As JSON a snapshot is self-contained. It has its format, the identity of its encoder, what the samples have in common
(`resemblance`, left out if they were too few to measure it), and the traits in order. A trait has poles, vector (base64
of little-endian float32), offset, quartiles, breaks and certainty, and its label axis (`labels`) if it has one.
`reading` says how it reads texts (`traitbench.as_read`); versions from before there were several have none.
`param_hash` is the SHA-256 of the canonical bytes of that JSON: sorted keys, no white space, numbers rounded to
float32.
"""

import base64
import binascii
import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from traitbench.as_read import FIRST, READING
from traitbench.scoring.certainty import Certainty, Chance, Levels, PoleRegression, Reason, Row
from traitbench.scoring.resemblance import Direction, Resemblance

FORMAT = 1
FULL = "full"
AGGREGATIONS = ("mean", "max", "min", "none")
_MOST_SHOWN = 64
_MOST_WEIGHT = 1e6  # sums of products with such weights stay finite


class SnapshotInvalid(ValueError):
    """The snapshot is damaged, or has a format that this release cannot read."""


class SnapshotOutdated(SnapshotInvalid):
    """The snapshot was made before 0.2.0, which was the first release to measure where scores are sure."""

    def __init__(self) -> None:
        super().__init__("The version was trained before release 0.2.0, so it cannot be scored here. Train it again.")


class EncoderMismatch(ValueError):
    """The snapshot was made with another encoder, whose vectors cannot be compared with those here."""


class ModeNotTrained(ValueError):
    """The snapshot has no axes for this mode of its encoder."""

    def __init__(self, mode: str, known: Iterable[str]) -> None:
        super().__init__(f"The version was not trained for the mode {mode!r}. Use {', '.join((FULL, *known))}.")
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
class TierBreaks:
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
class LabelValues:
    """The label axis of a trait: a text has the value vector . x + offset. Over the samples, its mean is 0 and its
    standard deviation is 1.
    """

    vector: NDArray[np.float32]
    offset: float


# Fitted for the mode, because an axis over all features means nothing over some of them. The price: a snapshot is two
# thirds larger. One model for each mode would have to be trained and promoted apart.
@dataclass(frozen=True, eq=False)
class ModeAxis:
    """A trait's axis, quartiles, breaks and certainty in one mode of the encoder."""

    vector: NDArray[np.float32]
    offset: float
    positive: Quartiles | None
    negative: Quartiles | None
    breaks: TierBreaks
    certainty: Certainty
    labels: LabelValues | None = None


@dataclass(frozen=True, eq=False)
class TraitAxis:
    """A trained trait; `positive` and `negative` are None if a pole has fewer than two samples.

    `modes` holds the same trait in the encoder's modes, by name.
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
    breaks: TierBreaks
    certainty: Certainty
    labels: LabelValues | None = None
    modes: Mapping[str, ModeAxis] = field(default_factory=dict)

    def in_mode(self, mode: str) -> "TraitAxis":
        """The trait in a mode; raise `ModeNotTrained` if it was not trained for that mode."""
        if mode not in self.modes:
            raise ModeNotTrained(mode, self.modes)
        return replace(self, **vars(self.modes[mode]), modes={})


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The trained parameters of a model; `resemblance` is None if it was not measured.

    `reading` is how texts are read (`traitbench.as_read`).
    """

    encoder: EncoderIdentity
    scoring_method: str
    max_depth: int
    traits: tuple[TraitAxis, ...]
    resemblance: Resemblance | None = None
    reading: int = FIRST

    @cached_property
    def matrix(self) -> NDArray[np.float64]:
        """(n_traits, d): the axes of all traits."""
        return np.array([trait.vector for trait in self.traits], np.float64).reshape(-1, self.encoder.dimension)

    @cached_property
    def offsets(self) -> NDArray[np.float64]:
        """(n_traits,): the offsets of all traits."""
        return np.array([trait.offset for trait in self.traits], np.float64)

    @cached_property
    def projection(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(2 * n_traits, d) and (2 * n_traits,): axes and offsets of all traits, then of their label axes; zeros if a
        trait has none. Without any, those of the traits alone.
        """
        labels = [trait.labels for trait in self.traits]
        if not any(labels):
            return self.matrix, self.offsets
        vectors = np.array([np.zeros(self.encoder.dimension) if each is None else each.vector for each in labels])
        offsets = np.array([0.0 if each is None else each.offset for each in labels])
        return np.concatenate([self.matrix, vectors]), np.concatenate([self.offsets, offsets])

    @cached_property
    def modes(self) -> tuple[str, ...]:
        """The modes of the encoder that its traits were trained for, besides "full"."""
        return tuple(self.traits[0].modes) if self.traits else ()

    def in_mode(self, mode: str) -> "Snapshot":
        """The snapshot in a mode of its encoder; itself for "full". Raise `ModeNotTrained` if it lacks the mode.

        The result is for scoring only: call `require` on the full snapshot.
        """
        if mode == FULL:
            return self
        traits = tuple(trait.in_mode(mode) for trait in self.traits)
        if not traits:
            raise ModeNotTrained(mode, ())
        resemblance = None if self.resemblance is None else self.resemblance.in_mode(mode)
        encoder = replace(self.encoder, dimension=len(traits[0].vector))
        return replace(self, encoder=encoder, traits=traits, resemblance=resemblance)

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
        values = {
            "format": FORMAT,
            "scoring_method": self.scoring_method,
            "max_depth": self.max_depth,
            "encoder": vars(self.encoder).copy(),
            "traits": [_trait_to_json(trait) for trait in self.traits],
        }
        # What versions from before do not have is omitted, because their hashes are without it.
        if self.reading != FIRST:
            values["reading"] = self.reading
        return values if self.resemblance is None else values | {"resemblance": _resemblance_to_json(self.resemblance)}

    @staticmethod
    def from_json(values: Mapping[str, Any]) -> "Snapshot":
        """The snapshot with these JSON values; raise `SnapshotInvalid` if they are not one."""
        try:
            return _from_json(values)
        except KeyError as error:
            raise SnapshotInvalid(f"The snapshot is damaged: {str(error)[:_MOST_SHOWN]} is missing.") from None
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
    # Empty modes are omitted, because the hashes of existing versions are without them.
    return (
        values | {"modes": {name: _axis_to_json(mode) for name, mode in trait.modes.items()}} if trait.modes else values
    )


def _axis_to_json(axis: TraitAxis | ModeAxis) -> dict[str, Any]:
    return {
        "vector": _vector_to_json(axis.vector),
        "offset": float32(axis.offset),
        "quartiles": {side: _quartiles_to_json(getattr(axis, side)) for side in ("positive", "negative")},
        "breaks": vars(axis.breaks).copy(),
        "certainty": _certainty_to_json(axis.certainty),
        **({} if axis.labels is None else {"labels": _labels_to_json(axis.labels)}),
    }


def _labels_to_json(labels: LabelValues) -> dict[str, Any]:
    return {"vector": _vector_to_json(labels.vector), "offset": float32(labels.offset)}


def _certainty_to_json(certainty: Certainty) -> dict[str, Any]:
    if certainty.chance is not None:
        return {"limit": None, "difference": certainty.difference, "chance": _chance_to_json(certainty.chance)}
    # Lists, as JSON has no tuples: a stored snapshot equals the one that was written.
    levels = {
        name: {level: list(bounds) for level, bounds in vars(getattr(certainty, name)).items()}
        for name in ("proven", "likely")
    }
    return {"limit": certainty.limit, "difference": certainty.difference, **levels}


def _chance_to_json(chance: Chance) -> dict[str, Any]:
    regressions = {
        name: {"weights": list(each.weights), "covariance": [list(row) for row in each.covariance]}
        for name, each in (("near", chance.near), ("names", chance.names))
    }
    return {**regressions, "evidence": chance.evidence, "names_evidence": chance.names_evidence}


def _resemblance_to_json(resemblance: Resemblance) -> dict[str, Any]:
    return {
        **_direction_to_json(resemblance.direction),
        "surprise": _bounds_to_json(resemblance.surprise),
        "letters": _bounds_to_json(resemblance.letters),
        "modes": {name: _direction_to_json(direction) for name, direction in resemblance.modes.items()},
        **({"other_languages": True} if resemblance.other_languages else {}),
        **({} if resemblance.segments is None else {"segments": resemblance.segments}),
    }


def _bounds_to_json(bounds: tuple[float, float] | None) -> list[float] | None:
    return None if bounds is None else list(bounds)


def _direction_to_json(direction: Direction) -> dict[str, Any]:
    values = {"mean": _vector_to_json(direction.mean), "least": direction.least}
    if direction.same is not None:
        values["same"] = list(direction.same)
    return values if direction.text is None else values | {"text": _direction_to_json(direction.text)}


def _vector_to_json(vector: NDArray[np.float32]) -> str:
    return base64.b64encode(vector.astype("<f4").tobytes()).decode()


def _quartiles_to_json(quartiles: Quartiles | None) -> list[int] | None:
    return None if quartiles is None else [quartiles.p25, quartiles.p50, quartiles.p75]


def _from_json(values: Mapping[str, Any]) -> Snapshot:
    if isinstance(values["format"], bool) or values["format"] != FORMAT:
        raise SnapshotInvalid(
            f"The snapshot has format {_shown(values['format'])}, but this release reads {FORMAT}. Train again, or use"
            " the release that wrote it."
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
    resemblance = None if "resemblance" not in values else _resemblance(values["resemblance"], encoder.dimension)
    if resemblance is not None and any(
        {name: len(direction.mean) for name, direction in resemblance.modes.items()} != width for width in widths
    ):
        raise SnapshotInvalid("The snapshot is damaged: its traits and its resemblance have different modes.")
    method, depth = _string(values, "scoring_method"), _integer(values, "max_depth", 1, 3)
    reading = _integer(values, "reading", FIRST) if "reading" in values else FIRST
    if reading > READING:
        raise SnapshotInvalid(
            f"The snapshot reads texts in the way {reading}, but this release knows {READING}. Use the release that"
            " wrote it, or train again."
        )
    return Snapshot(encoder, method, depth, traits, resemblance, reading)


def _trait_from_json(values: Mapping[str, Any], dimension: int) -> TraitAxis:
    aggregation = _string(values, "aggregation")
    if aggregation not in AGGREGATIONS:
        raise SnapshotInvalid(f"The snapshot is damaged: unknown aggregation {_shown(aggregation)}.")
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
    if "certainty" not in values:
        raise SnapshotOutdated
    names = ("developing", "solid", "strong")
    vector = _vector(values, "vector", dimension)
    return ModeAxis(
        vector=vector,
        offset=_number(values, "offset"),
        positive=_quartiles(values["quartiles"]["positive"]),
        negative=_quartiles(values["quartiles"]["negative"]),
        breaks=TierBreaks(*_ascending([_integer(values["breaks"], name, 0, 100) for name in names], "breaks")),
        certainty=_certainty(values["certainty"]),
        labels=_labels(values["labels"], len(vector)) if "labels" in values else None,
    )


def _labels(values: Mapping[str, Any], dimension: int) -> LabelValues:
    return LabelValues(_vector(values, "vector", dimension), _number(values, "offset"))


def _shown(value: object) -> str:
    """The value for a message, without its end if it is long."""
    return repr(value)[:_MOST_SHOWN]


def _certainty(values: Mapping[str, Any]) -> Certainty:
    limit = values["limit"]
    if limit is not None and limit not in get_args(Reason):
        raise SnapshotInvalid(f"The snapshot is damaged: unknown limit {_shown(limit)}.")
    difference = None if values["difference"] is None else _number(values, "difference")
    if difference is not None and difference <= 0:
        raise SnapshotInvalid("The snapshot is damaged: difference must be positive.")
    if "chance" in values:
        return Certainty(limit=limit, difference=difference, chance=_chance(values["chance"]))
    return Certainty(_levels(values["proven"]), _levels(values["likely"]), limit, difference)


def _chance(values: Mapping[str, Any]) -> Chance:
    near, names = _regression(values["near"]), _regression(values["names"])
    return Chance(near, names, _number(values, "evidence"), _number(values, "names_evidence"))


def _regression(values: Mapping[str, Any]) -> PoleRegression:
    weights, one, two, three = (_row(row) for row in (values["weights"], *values["covariance"]))
    return PoleRegression(weights, (one, two, three))


def _row(values: Sequence[Any]) -> Row:
    one, two, three = (_number({"weight": value}, "weight") for value in values)
    if max(abs(one), abs(two), abs(three)) > _MOST_WEIGHT:
        raise SnapshotInvalid("The snapshot is damaged: a weight of a regression is too large.")
    return one, two, three


def _levels(values: Mapping[str, Any]) -> Levels:
    names = ("high", "moderate")
    high, moderate = ([_integer({name: each}, name, -1, 101) for each in values[name]] for name in names)
    if len(high) != 2 or len(moderate) != 2:
        raise SnapshotInvalid("The snapshot is damaged: a level of confidence must have two bounds.")
    # From one end of the scale to the other: high, moderate, low, moderate, high.
    _ascending([high[0], moderate[0], 50, moderate[1], high[1]], "levels of confidence")
    return Levels((high[0], high[1]), (moderate[0], moderate[1]))


def _resemblance(values: Mapping[str, Any], dimension: int) -> Resemblance:
    return Resemblance(
        _direction(values, dimension),
        _bounds(values, "surprise"),
        _bounds(values, "letters"),
        {str(name): _direction(mode, None) for name, mode in values["modes"].items()},
        values.get("other_languages", False) is True,
        _integer(values, "segments", 1) if "segments" in values else None,
    )


def _direction(values: Mapping[str, Any], dimension: int | None) -> Direction:
    mean = _vector(values, "mean", dimension)
    text = _direction(values["text"], len(mean)) if "text" in values else None
    same = _bounds(values, "same") if "same" in values else None
    return Direction(mean, _number(values, "least"), text, same)


def _bounds(values: Mapping[str, Any], name: str) -> tuple[float, float] | None:
    if values[name] is None:
        return None
    least, most = (_number({name: each}, name) for each in values[name])
    return least, most


def _ascending(numbers: list[int], what: str) -> list[int]:
    if numbers != sorted(numbers):
        raise SnapshotInvalid(f"The snapshot is damaged: {what} must be in ascending order.")
    return numbers


def _vector(values: Mapping[str, Any], name: str, dimension: int | None) -> NDArray[np.float32]:
    """The vector, checked to have this dimension unless it is None."""
    try:
        content = base64.b64decode(_string(values, name), validate=True)
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
