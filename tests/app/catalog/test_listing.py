"""Home reads the traits of a trained model again when another version is in use."""

from types import SimpleNamespace

import pytest

from traitbench.contract.models import Model
from traitbench.contract.traits import Trait
from traitbench_app.catalog import listing

TRAINED = Model.model_construct(handle="local.tone", state="ready", current_version_id=1, traits=["Mood"])


def test_traits_are_read_once_for_each_version(monkeypatch: pytest.MonkeyPatch) -> None:
    stored = [[Trait.model_construct(key="mood")], [Trait.model_construct(key="topic")]]
    service = SimpleNamespace(traits=SimpleNamespace(list=lambda _handle: stored.pop(0)))
    monkeypatch.setattr(listing, "client", lambda: service)
    monkeypatch.setattr(listing, "reader", lambda: ("test", "of the cache"))

    def keys(model: Model) -> list[str]:
        return [each.key for each in listing.traits_of(model)]

    assert keys(TRAINED) == keys(TRAINED) == ["mood"]
    assert keys(TRAINED.model_copy(update={"current_version_id": 2})) == ["topic"]
