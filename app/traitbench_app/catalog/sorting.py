"""The orders of the catalog. Models without a figure come last when they are sorted by quality."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Literal

from traitbench.contract.models import Model
from traitbench.contract.versions import Version
from traitbench.display.standing import order, standing
from traitbench.errors import InternalError
from traitbench_app.shell.service import active_version

Order = Literal["name", "trained", "quality"]
ORDERS: Mapping[Order, str] = {"name": "Name", "trained": "Last trained", "quality": "Quality"}
"""The orders by the names that people see. Quality is the lower end of the interval of one trait."""

_NEVER = datetime(1970, 1, 1, tzinfo=UTC)


def in_order(models: Sequence[Model], by: Order) -> list[Model]:
    """The models in an order; by name they stay as the service lists them, own namespaces first."""
    if by == "trained":
        return sorted(models, key=_trained, reverse=True)
    return sorted(models, key=_quality) if by == "quality" else list(models)


def _trained(model: Model) -> datetime:
    version = _version(model)
    return version.created_at if version else _NEVER


def _quality(model: Model) -> float:
    version = _version(model)
    return order(standing(version, model.main_trait) if version else None)


def _version(model: Model) -> Version | None:
    """The active version; None if there is none, or if it cannot be read."""
    try:
        return active_version(model)
    except InternalError:
        return None
