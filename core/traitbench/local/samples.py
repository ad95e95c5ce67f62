"""Traits and samples in memory. What takes them takes those of the service too."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from traitbench.contract.fields import plainly
from traitbench.contract.samples import Sample
from traitbench.contract.texts import is_missing, values_of
from traitbench.contract.traits import Trait, TraitInput
from traitbench.errors import ValidationFailed
from traitbench.names import trait_key


@dataclass(frozen=True)
class LocalTrait:
    """A trait with its key."""

    key: str
    name: str
    description: str
    positive_label: str
    negative_label: str
    aggregation: str

    @classmethod
    def of(cls, trait: Any, description: str | None = None) -> Self:
        """Return any trait as one of these; `description` replaces that of the trait."""
        said = trait.description if description is None else description
        return cls(trait.key, trait.name, said, trait.positive_label, trait.negative_label, trait.aggregation)

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
    held_out: bool = False
    source_url: str | None = None
    group: str | None = None


def read_groups(groups: Any, texts: Sequence[str]) -> list[str | None]:
    """Return what each text belongs to, None for nothing; raise `ValueError` if there are not as many as texts."""
    if groups is None:
        return [None] * len(texts)
    values = list(values_of(groups))
    if len(values) != len(texts):
        raise ValueError(f"There are {len(values):,} groups for {len(texts):,} texts. Pass one for each, or None.")
    return [None if is_missing(each) or not str(each).strip() else str(each) for each in values]


def read_weights(sample_weight: Any, texts: Sequence[str]) -> NDArray[np.float64]:
    """Return the weight (n,) of each text, 1 by default; raise `ValueError` for what cannot be a weight."""
    if sample_weight is None:
        return np.ones(len(texts))
    weights = np.asarray(sample_weight, np.float64)
    if weights.shape != (len(texts),):
        raise ValueError(
            f"sample_weight has the shape {weights.shape}. Pass one number for each of {len(texts):,} texts."
        )
    wrong = np.flatnonzero(~((weights >= 0) & np.isfinite(weights)))
    if len(wrong):
        raise ValueError(f"Row {wrong[0]}: {weights[wrong[0]]} is not a weight. Use a number from 0, without NaN.")
    if not weights.any():
        raise ValueError("All values of sample_weight are zero, so there is nothing to train on.")
    return weights


AnyTrait = LocalTrait | Trait
AnySample = LocalSample | Sample


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
    return replace(LocalTrait.of(given), key=own_key)
