"""A training in memory: traits and labelled texts in, snapshot and metrics out, as the service trains them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from time import perf_counter
from typing import Any, get_args

from pydantic import ValidationError

from traitbench.contract.fields import plainly
from traitbench.contract.models import DEFAULT_EFFORT, TrainEffort
from traitbench.contract.traits import TraitInput
from traitbench.encoders import Encoder, EncoderUnavailable
from traitbench.encoders.registry import NAMES, load_encoder
from traitbench.errors import ValidationFailed
from traitbench.fitting.fit import SCORING_METHODS
from traitbench.local.fitting import train
from traitbench.local.vectors import vectors_of
from traitbench.names import trait_key
from traitbench.scoring.snapshot import Snapshot
from traitbench.settings import encoder_name, read_settings

DEPTHS = (1, 2, 3)


@dataclass(frozen=True)
class LocalTrait:
    """A trait with its key."""

    key: str
    name: str
    description: str
    positive_label: str
    negative_label: str
    aggregation: str

    @property
    def poles(self) -> tuple[str, str]:
        """The names of the negative and of the positive pole."""
        return self.negative_label, self.positive_label

    @property
    def given_key(self) -> str | None:
        """The key, None if it is the one that follows from the name."""
        try:
            return None if self.key == trait_key(self.name) else self.key
        except ValidationFailed:
            return self.key


@dataclass(frozen=True)
class LocalSample:
    """A labelled text of a training in memory."""

    id: int
    trait: str
    text: str
    quality: float
    content_sha256: str
    provenance: str = "authored"
    seed_sample_id: int | None = None


@dataclass(frozen=True)
class TrainingSettings:
    """How to train, as the service's models and trainings have it."""

    effort: str
    use_labels: bool
    scoring_method: str
    max_depth: int
    encoder: str | None

    def check(self) -> None:
        """Raise `ValueError` that names the parameter with an invalid value."""
        allowed = (
            ("effort", get_args(TrainEffort)),
            ("scoring_method", SCORING_METHODS),
            ("max_depth", DEPTHS),
            ("use_labels", (True, False)),
        )
        for name, values in allowed:
            if getattr(self, name) not in values:
                known = ", ".join(map(repr, values))
                raise ValueError(f"The parameter {name!r} is {getattr(self, name)!r}. Use one of: {known}.")


@dataclass(frozen=True, eq=False)
class LocalTraining:
    """What a training in memory gives."""

    traits: Sequence[LocalTrait]
    snapshot: Snapshot
    metrics: dict[str, Any]
    samples: int
    finished_at: datetime


def local_trait(
    name: str, poles: Sequence[str], *, key: str | None = None, description: str = "", aggregation: str = "mean"
) -> LocalTrait:
    """Return a trait with the service's checks; raise `ValueError` that says which part is invalid."""
    if isinstance(poles, str) or len(poles) != 2:
        raise ValueError(f"poles is {poles!r}. Pass two names, the negative pole first: ('cold', 'warm').")
    if poles[0] == poles[1]:
        raise ValueError(f"Both poles are named {poles[0]!r}. Give them different names.")
    fields = {"name": name, "key": key, "description": description, "aggregation": aggregation}
    try:
        given = TraitInput.model_validate(fields | {"negative_label": poles[0], "positive_label": poles[1]})
        own_key = given.key or trait_key(given.name)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        where = ".".join(map(str, problem["loc"]))
        raise ValueError(f"The trait {name!r} is invalid: {where}: {plainly(problem)}.") from None
    except ValidationFailed as error:
        raise ValueError(f"The trait {name!r} is invalid: {error.message}") from None
    return LocalTrait(
        own_key, given.name, given.description, given.positive_label, given.negative_label, given.aggregation
    )


def train_locally(
    traits: Sequence[LocalTrait], samples: Sequence[LocalSample], settings: TrainingSettings
) -> LocalTraining:
    """Train as the service does; the samples are in memory only while this runs."""
    settings.check()
    started, encoder = perf_counter(), find_encoder(settings.encoder)
    vectors = vectors_of(encoder, {sample.content_sha256: sample.text for sample in samples})
    trained = train(
        traits,
        samples,
        vectors,
        encoder=encoder,
        cache=read_settings().cache,
        scoring_method=settings.scoring_method,
        max_depth=settings.max_depth,
        effort=settings.effort,
        use_labels=settings.use_labels,
    )
    metrics = trained.metrics | {"use_labels": settings.use_labels, "elapsed_s": round(perf_counter() - started, 3)}
    if settings.encoder in NAMES:
        metrics["encoder"] |= {"chosen": settings.encoder}
    return LocalTraining(traits, trained.snapshot, metrics, len(samples), datetime.now(UTC))


def settings_of(training: LocalTraining) -> TrainingSettings:
    """Return the settings of a training that was read from a file."""
    metrics, snapshot = training.metrics, training.snapshot
    encoder = metrics.get("encoder")
    return TrainingSettings(
        effort=str(metrics.get("effort") or DEFAULT_EFFORT),
        use_labels=metrics.get("use_labels") is not False,
        scoring_method=snapshot.scoring_method,
        max_depth=snapshot.max_depth,
        encoder=encoder.get("chosen") if isinstance(encoder, dict) else None,
    )


def find_encoder(name: str | None) -> Encoder:
    """Return the encoder with this name or folder, by default that of TRAITBENCH_ENCODER or the best installed.

    Raise `ValueError` if it cannot be used here.
    """
    settings = read_settings()
    try:
        return load_encoder(encoder_name(name) if name else settings.encoder, cache=settings.cache)
    except EncoderUnavailable as error:
        raise ValueError(str(error)) from error
