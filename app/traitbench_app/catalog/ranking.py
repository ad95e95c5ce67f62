"""How good models are, to sort them and to choose the one whose scores Home shows. Little evidence never beats much."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Literal

from traitbench.contract.models import Model
from traitbench.contract.versions import Version
from traitbench.display.quality import by_trait, evidence_on, wilson
from traitbench.errors import InternalError
from traitbench_app.shell.service import active_version

Order = Literal["name", "trained", "quality"]
ORDERS: Mapping[Order, str] = {"name": "Name", "trained": "Last trained", "quality": "Quality"}
"""The orders by the names that people see. Quality is the lowest share of right samples that is likely."""

DEMO = "demo."
"""What the handles of demo models begin with."""

_NEVER = datetime(1970, 1, 1, tzinfo=UTC)


def in_order(models: Sequence[Model], by: Order) -> list[Model]:
    """The models in an order; by name they stay as the service lists them, own namespaces first, and demos last."""
    if by == "trained":
        return sorted(models, key=_trained, reverse=True)
    if by == "quality":
        return sorted(models, key=lambda each: _rank(_version(each)))
    return sorted(models, key=is_demo)


def best_scoring(models: Sequence[Model]) -> tuple[Model, Version] | None:
    """The best demo model that scores now, with its active version; without one, the best other model."""
    for demos in (True, False):
        able = [each for each in models if each.state != "archived" and is_demo(each) == demos]
        known = [(model, version) for model in able if (version := _version(model))]
        if known:
            return min(known, key=lambda each: _rank(each[1]))
    return None


def is_demo(model: Model) -> bool:
    """Whether it is a demo model."""
    return model.handle.startswith(DEMO)


def _trained(model: Model) -> datetime:
    version = _version(model)
    return version.created_at if version else _NEVER


def _rank(version: Version | None) -> tuple[int, float]:
    """The best version has the smallest rank; a guess comes after it, and one without evidence last."""
    evidence = evidence_on(by_trait(version.metrics)) if version else None
    if evidence is None:
        return 2, 0.0
    return int(evidence.is_guessed), -wilson(evidence.right, evidence.samples)[0]


def _version(model: Model) -> Version | None:
    """The active version; None if there is none, or if it cannot be read."""
    try:
        return active_version(model)
    except InternalError:
        return None
