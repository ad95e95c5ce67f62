"""The metrics of a version: figures for each trait, the search, and the parameters that it chose.

Every figure may be absent, because an older release did not measure it. Read leniently, as from a service or a
database, a value of the wrong type counts as absent, and unknown keys are kept. `Metrics.checked` is strict about
types. Either way the JSON that goes out is the JSON that came in, byte for byte.

See core/docs/contract.md, section 7.
"""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    ModelWrapValidatorHandler,
    PrivateAttr,
    ValidationError,
    ValidationInfo,
    model_serializer,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue

from traitbench.contract.fields import Integral, Wire
from traitbench.contract.rounding import in_decimals
from traitbench.contract.scores import Confidence, ConfidenceReason, Tier

Pole = Literal["positive", "negative"]
POLES: tuple[Pole, ...] = get_args(Pole)
Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0, lt=2**31), Integral]
Settings = Annotated[int, Field(ge=0, lt=2**63), Integral]
# JSON knows no tuples, so a list is one even where types are strict. `items` is for readers of schemas that do not know
# `prefixItems`.
Interval = Annotated[tuple[Share, Share], Field(strict=False, json_schema_extra={"items": {"type": "number"}})]

_ByTier = Annotated[dict[Tier, Count], Field(min_length=4)]
Confusion = Annotated[dict[Pole, _ByTier], Field(min_length=2)]
"""By pole of the samples: how many of their held-out scores lie in each tier."""

_ByScore = Annotated[list[Count], Field(min_length=101, max_length=101)]
ScoreCounts = Annotated[dict[Pole, _ByScore], Field(min_length=2)]
"""By pole of the samples: how many of their held-out scores are 0, 1, 2 and so on up to 100."""

NotMeasured = Literal["too_few", "only_synthesized", "unlabelled"]

_STRICT = {"strict": True}


class _Measured(Wire):
    model_config = ConfigDict(extra="ignore", frozen=True, strict=True, allow_inf_nan=False)

    @model_validator(mode="wrap")
    @classmethod
    def _read(cls, value: Any, handler: ModelWrapValidatorHandler[Any], info: ValidationInfo) -> Any:
        """Leave out invalid values: first the invalid items of lists and mappings, then whole fields."""
        try:
            return handler(value)
        except ValidationError as error:
            if info.context == _STRICT or not isinstance(value, Mapping):
                raise
            wrong = _locations(error)
        for depth in (2, 1):
            value = _without(value, {location[:depth] for location in wrong})
            try:
                return handler(value)
            except ValidationError as error:
                wrong, last = _locations(error), error
        raise last


class CurvePoint(_Measured):
    """The AUROC of a fit to this many samples; `groups` says in how many groups they are, 0 if none belong together."""

    samples: Count
    auroc: Share
    interval: Interval | None = None
    groups: Count = 0


class Forecast(CurvePoint):
    """The AUROC predicted for a fit with `more` additional samples; `samples` is their total."""

    more: Count


class Feed(_Measured):
    """The pole that more samples would help most, and why."""

    pole: Pole
    why: str = ""


class SearchLevel(_Measured):
    """One effort of the search: how many settings it tried, and their cross-entropy on held-out samples."""

    level: str = "unknown"
    tried: Settings | None = None
    cross_entropy: float | None = None
    chosen: bool = False


class Search(_Measured):
    """What the search tried for a trait, what it chose, and how much that gained over the level below."""

    says: str = ""
    tried: Settings | None = None
    levels: list[SearchLevel] = Field(default=[])
    chosen: dict[str, float] = Field(default={})
    gained: float | None = None


class LabelUse(_Measured):
    """Whether training used the label axis, its share of the total slope, its gain in cross-entropy, and the reason.

    `auroc_without` is the out-of-fold AUROC of the same fits without the label axis; null if it was not measured.
    """

    used: bool
    share: float | None = None
    gain: float | None = None
    auroc_without: Share | None = None
    why: str = ""


class Figures(_Measured):
    """The figures of a trait, for full vectors or for one mode; null if they could not be measured."""

    auroc: Share | None = None
    auroc_interval: Interval | None = None
    brier: Share | None = None
    calibration_error: Share | None = None
    cross_entropy: Annotated[float, Field(ge=0)] | None = None
    measured_on: str | None = None
    not_measured: NotMeasured | None = None

    @property
    def why_not(self) -> str:
        """Why there is no figure, as a sentence; empty if there is one."""
        reason = (self.measured_on or "").removeprefix("not measured: ")
        return "" if self.auroc is not None else reason or "the reason is unknown"


class Sureness(_Measured):
    """How many held-out samples have this confidence, and how many of these are on their pole's side."""

    samples: Count
    right: Count


class HeldOutFigures(_Measured):
    """The figures of a trait on its test samples, from scores as a score call gives them.

    `positive` and `negative` count the samples that were measured. `left_out` counts those that were not: they are
    synthesized, resemble one of the `resembling` training samples, or share a group with one. `groups` counts the
    groups if samples belong together, else it is 0. `error` is the share on the wrong side of the middle. Two figures
    may be compared only if their `test_set` is equal: then they are of the same samples.
    """

    auroc: Share | None = None
    auroc_interval: Interval | None = None
    brier: Share | None = None
    error: Share | None = None
    positive: Count = 0
    negative: Count = 0
    left_out: Count = 0
    resembling: Count = 0
    must_pass: Count = 0
    must_pass_failed: Count = 0
    groups: Count = 0
    measured_on: str | None = None
    test_set: str | None = None

    @property
    def samples(self) -> int:
        """How many samples at both poles were measured."""
        return self.positive + self.negative


class ShortcutFigures(_Measured):
    """What alone tells the poles apart, by its kind: `auroc` of it alone, and of the texts as they are and without it.

    `base` and `without` are out of fold, null if they could not be measured. `sides` counts the samples of each pole
    that were read, and how many of these it puts on their side; older versions lack it. `in_tests` says whether it
    tells the test samples apart too, null without test samples. A version has no sample text, so the mark itself is
    not named here.
    """

    kind: str = "token"
    auroc: Share
    base: Share | None = None
    without: Share | None = None
    in_tests: bool | None = None
    sides: dict[Pole, Sureness] | None = None

    @property
    def subject(self) -> str:
        """`one word`, `links`, `the length of the text`."""
        return _SHORTCUTS.get(self.kind, "one mark")

    def claim(self, positive: str = "positive", negative: str = "negative") -> str:
        """`One word alone gets 10 of 10 warm and 9 of 10 cold texts right`, with the labels of the poles."""
        alone, verb = f"{self.subject[0].upper()}{self.subject[1:]} alone", "" if self.subject.endswith("s") else "s"
        if self.sides is None:
            return f"{alone} tell{verb} the poles apart"
        one, other = (
            f"{each.right:,} of {each.samples:,} {label}"
            for each, label in ((self.sides["positive"], positive), (self.sides["negative"], negative))
        )
        return f"{alone} get{verb} {one} and {other} texts right"

    @property
    def says(self) -> str:
        """`One word alone tells the poles apart (AUROC 1.00). Without that, AUROC is 0.55 instead of 1.00.`"""
        alone = f"{self.claim()} (AUROC {in_decimals(self.auroc)})."
        if self.base is None or self.without is None:
            return f"{alone} What is left without that could not be measured."
        without, base = in_decimals(self.without), in_decimals(self.base)
        if self.base - self.without < _MUCH:
            return f"{alone} Without that, AUROC is still {without} ({base} now)."
        return f"{alone} Without that, AUROC is {without} instead of {base}."


_MUCH = 0.1
_SHORTCUTS: Mapping[str, str] = {
    "token": "one word",
    "link": "links",
    "handle": "handles",
    "hashtag": "hashtags",
    "number": "numbers",
    "emoji": "emoji",
    "spelling": "the way of writing",
    "length": "the length of a text",
    "language": "the language",
    "source": "the source",
}


class TraitMetrics(Figures):
    """All figures of one trait; `test` has those on its test samples, and the others are out of fold.

    `confidence_reason` says why no score of the trait is sure; it is null if some are. `shortcut` is null if nothing
    alone tells the poles apart. An older version has neither `shortcut` nor `score_counts`.
    """

    folds: Count | None = None
    repeats: Count | None = None
    confusion: Confusion | None = None
    score_counts: ScoreCounts | None = None
    confidence: dict[Confidence, Sureness] | None = None
    confidence_reason: ConfidenceReason | None = None
    curve: list[CurvePoint] | None = None
    forecast: Forecast | None = None
    feed: Feed | None = None
    counts: dict[str, Count] = Field(default={})
    parameters: dict[str, float] = Field(default={})
    shares: dict[str, float] | None = None
    search: Search | None = None
    labels: LabelUse | None = None
    modes: dict[str, Figures] = Field(default={})
    test: HeldOutFigures | None = None
    shortcut: ShortcutFigures | None = None

    @property
    def names_say(self) -> str:
        """`The names of the poles raised the held-out AUROC from 0.81 to 0.86.`; empty if that was not measured."""
        if self.labels is None or not self.labels.used or self.labels.auroc_without is None or self.auroc is None:
            return ""
        without, now = in_decimals(self.labels.auroc_without), in_decimals(self.auroc)
        if without == now:
            return f"The names of the poles did not change the held-out AUROC ({now})."
        changed = "raised" if self.auroc > self.labels.auroc_without else "lowered"
        return f"The names of the poles {changed} the held-out AUROC from {without} to {now}."

    @property
    def sides(self) -> dict[Pole, Sureness] | None:
        """How many samples of each pole were measured, and how many of these are on their side of the middle.

        None if the scores were not counted. A score of 50 is on neither side.
        """
        if self.score_counts is None:
            return None
        positive, negative = self.score_counts["positive"], self.score_counts["negative"]
        return {
            "positive": Sureness(samples=sum(positive), right=sum(positive[51:])),
            "negative": Sureness(samples=sum(negative), right=sum(negative[:50])),
        }


class Languages(_Measured):
    """How many of the different training texts are in each language, by its ISO 639 code, and how many are not clear.

    Only counts are stored. Of more than 4,096 texts, that many are counted.
    """

    texts: dict[str, Count]
    unclear: Count = 0


class EncoderName(_Measured):
    """The encoder that a version was trained with; `chosen` is its name if the training asked for it."""

    id: str | None = None
    dimension: Count | None = None
    chosen: str | None = None


class PromotedFrom(_Measured):
    """The version that was promoted, and what became of the feedback that came meanwhile.

    Feedback is dropped if its trait is gone.
    """

    handle: str
    version_no: Count
    feedback_carried: Count = 0
    feedback_dropped: Count = 0


class HeldTrait(_Measured):
    """The AUROC of a trait on the same samples: of the version that served, and of the one on hold."""

    before: Share
    after: Share
    samples: Count


class Held(_Measured):
    """Why a retrained version was put on hold: the reason as a sentence, and the figures.

    `measured_on` is `held_out` (the test samples) or `out_of_fold`. `compared_with` is the number of the version that
    served. `must_pass_failed` counts the must-pass samples that passed with that version and fail with this one.
    """

    because: str
    measured_on: str
    compared_with: Annotated[int, Field(ge=1, lt=2**53), Integral] | None = None
    traits: dict[str, HeldTrait] = Field(default={})
    must_pass_failed: Count = 0


class Metrics(_Measured):
    """The metrics of a version; `traits` has the figures by trait key.

    `promoted_from` is null unless the version was trained in another model. `held` is absent unless the version was put
    on hold. An older version has no `languages`.
    """

    scoring_method: str | None = None
    effort: str | None = None
    search: str | None = None
    encoder: EncoderName | None = None
    auroc: Share | None = None
    traits: dict[str, TraitMetrics] = Field(default={})
    use_labels: bool | None = None
    elapsed_s: Annotated[float, Field(ge=0)] | None = None
    languages: Languages | None = None
    promoted_from: PromotedFrom | None = None
    held: Held | None = None

    _received: dict[str, Any] = PrivateAttr(default_factory=dict)

    @staticmethod
    def checked(value: Any) -> "Metrics":
        """Return the metrics; raise `ValidationError` when a known key has a value of the wrong type."""
        return Metrics.model_validate(value, context=_STRICT)

    @model_validator(mode="wrap")
    @classmethod
    def _keep(cls, value: Any, handler: ModelWrapValidatorHandler[Any]) -> Any:
        metrics = handler(value)
        # Metrics that are validated again have what they received already.
        if metrics is not value:
            metrics._received = value
        return metrics

    @model_serializer
    def _as_received(self) -> dict[str, Any]:
        return self._received

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Describe the fields, which the serializer above hides."""
        # The validators of this class wrap the schema of the model.
        while schema["type"] != "model":
            schema = schema["schema"]
        fields: Any = {name: part for name, part in schema.items() if name != "serialization"}
        return handler(fields)


def _locations(error: ValidationError) -> list[tuple[str | int, ...]]:
    return [each["loc"] for each in error.errors(include_url=False, include_context=False, include_input=False)]


def _without(value: Mapping[str, Any], locations: Iterable[tuple[str | int, ...]]) -> dict[str, Any]:
    """Return a copy without the fields, or the items of fields, at these places."""
    left: dict[str, Any] = dict(value)
    items: dict[str | int, set[str | int]] = {}
    for field, *inner in locations:
        if inner:
            items.setdefault(field, set()).add(inner[0])
        else:
            left.pop(str(field), None)
    for field, wrong in items.items():
        old = left.get(str(field))
        if isinstance(old, Mapping):
            left[str(field)] = {name: each for name, each in old.items() if name not in wrong}
        elif isinstance(old, list):
            left[str(field)] = [each for location, each in enumerate(old) if location not in wrong]
    return left
