"""Answers of a service, filled in by their types: each field holds something, and every text is hostile."""

from datetime import UTC, datetime
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import AwareDatetime, BaseModel

from traitbench.contract.scores import Breaks, Card, Confidence, Native, ScoreMetadata, Tier, TraitScore

Answer = TypeVar("Answer", bound=BaseModel)

EVIL = "<script src='https://evil.test'>alert(\"1\")</script> &amp; <img onerror=x>"
NOW = datetime(2026, 3, 4, 5, 6, tzinfo=UTC)
_PLAIN: dict[Any, Any] = {str: EVIL, int: 3, float: 0.5, bool: True, AwareDatetime: NOW, Any: EVIL}


def filled(kind: type[Answer], /, **given: Any) -> Answer:
    """An answer of this type, not checked, with the fields that are given."""
    fields = {
        name: given[name] if name in given else _value(each.annotation) for name, each in kind.model_fields.items()
    }
    return kind.model_construct(**fields)


def _value(annotation: Any) -> Any:
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _value(parts[0])
    if origin is Literal:
        return parts[0]
    if origin in (Union, UnionType):
        return _value(next(part for part in parts if part is not NoneType))
    if origin is list:
        return [_value(parts[0])]
    if origin is tuple:
        return tuple(map(_value, parts))
    if origin is dict:
        return {_value(parts[0]): _value(parts[1])}
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return filled(annotation)
    return next((value for kind, value in _PLAIN.items() if kind is annotation), EVIL)


def trait_score(
    score: int, confidence: Confidence = "moderate", label: Tier | None = "Solid", *, polarity: float = 0.2
) -> TraitScore:
    return TraitScore(
        score=score,
        label=label,
        confidence=confidence,
        confidence_reason=None if confidence == "high" else "overlap",
        band=[40, 60],
        headroom=7,
        breaks=Breaks(developing=20, solid=50, strong=80),
        native=Native(polarity=polarity),
    )


def card(detail: dict[str, TraitScore], *, composite: int = 61, confidence: Confidence = "low") -> Card:
    return Card(
        scores={key: each.score for key, each in detail.items()},
        composite=composite,
        confidence=confidence,
        headroom=None,
        detail=detail,
        input_tokens=12,
        metadata=ScoreMetadata(request_id="req_1", version_id="v3", sample_ids=[8, 9]),
    )
