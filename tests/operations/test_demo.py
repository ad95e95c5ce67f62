from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.contexts import ON_SQLITE, fresh_settings, opened
from tests.size import sized
from traitbench.contract.bundles import BundledVersion
from traitbench.contract.models import ModelCreate
from traitbench.contract.samples import SampleInput, SamplesCreate
from traitbench.contract.scores import ScoreRequest
from traitbench.contract.traits import TraitInput, TraitsCreate
from traitbench.operations import models, samples, scores, traits, versions
from traitbench.operations.access import Caller
from traitbench.operations.context import Context
from traitbench.operations.demo import encode_samples, ensure_demo_models
from traitbench.operations.write_demo_versions import trained
from traitbench.sample_data import demo_models
from traitbench.scoring import card
from traitbench.scoring.card import RawScore
from traitbench.scoring.snapshot import Snapshot
from traitbench.store import models as models_stored
from traitbench.store import vectors
from traitbench.store.database import reading

pytestmark = ON_SQLITE

OWNER = Caller("key_demo", "authoring", frozenset({"demo"}))
VISITOR = Caller("key_visitor", "scoring", frozenset({"local"}))


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Context]:
    """A context with an encoder that the demo models were not trained with."""
    with fresh_settings(tmp_path, encoder="static") as settings, opened(settings, runs=False) as context:
        yield context


def test_a_first_start_imports_trained_demo_models_and_a_second_changes_nothing(tmp_path: Path) -> None:
    with fresh_settings(tmp_path, encoder=None) as settings, opened(settings, runs=False) as context:
        ensure_demo_models(context)
        made = {model.handle: model for model in models.list_models(context, VISITOR).items}
        assert set(made) == {demo.handle for demo in demo_models()}
        for demo in demo_models():
            model = made[demo.handle]
            assert (model.state, model.last_operation) == ("ready", None)
            assert model.traits == [trait["name"] for trait in demo.traits]
            assert _count(context, demo.handle) == len(demo.samples)
            [version] = versions.list_versions(context, VISITOR, demo.handle).items
            assert version.sample_count == len(demo.samples)
            request = ScoreRequest(content=next(iter(demo.examples.values())))
            scored = scores.score(context, VISITOR, demo.handle, request, request_id="")
            assert scored.scores.keys() == {trait["key"] for trait in demo.traits}
            rows = versions.list_samples(context, OWNER, demo.handle, "v1", limit=5_000).items
            assert sum(row.position is not None for row in rows) == len(demo.samples)
        ensure_demo_models(context)
        assert {model.handle: model for model in models.list_models(context, VISITOR).items} == made


def test_the_samples_of_imported_demo_models_get_their_vectors(tmp_path: Path) -> None:
    with fresh_settings(tmp_path, encoder=None) as settings, opened(settings, runs=False) as context:
        ensure_demo_models(context)
        demo, *others = sorted(demo_models(), key=lambda each: len(each.samples))
        for other in sized(others, []):
            models.delete(context, OWNER, other.handle)
        with reading(context.engine) as connection:
            model = models_stored.find(connection, demo.handle)
            assert model is not None
            assert vectors.read(connection, model.id, context.encoder.digest) == {}
        encode_samples(context.engine, context.encoder)
        with reading(context.engine) as connection:
            assert len(vectors.read(connection, model.id, context.encoder.digest)) == len(demo.samples)


def test_the_shipped_versions_are_what_a_training_gives(tmp_path: Path) -> None:
    """Not to the bit, which would be so on one kind of processor only. If this fails, write the versions again.

    Written on one kind of processor and trained on another, 17 of 1,116 scores differed by 2 points and 28 confidences
    did. Why was not measured; the encoder's 8-bit integers are the likely cause.
    """
    smallest_first = sorted(demo_models(), key=lambda each: len(each.samples))
    demos = sized(smallest_first[:1], smallest_first)
    with fresh_settings(tmp_path, encoder=None) as settings, opened(settings, runs=False) as context:
        made = trained(context, [each.handle for each in demos])
        for demo in demos:
            shipped, new = BundledVersion.model_validate(demo.version), made[demo.handle]
            assert (shipped.sample_count, shipped.samples) == (new.sample_count, new.samples)
            X = _vectors(context, demo.handle)
            assert len(X) == len(demo.samples)
            texts = [sample["text"] for sample in demo.samples]
            assert new.snapshot.keys() == shipped.snapshot.keys()
            before, after = (_cards(each.snapshot, texts, X) for each in (shipped, new))
            pairs = [(each, b[key]) for a, b in zip(before, after, strict=True) for key, each in a.items()]
            assert max(abs(a.score - b.score) for a, b in pairs) <= 2
            assert sum(a.confidence != b.confidence for a, b in pairs) <= len(pairs) / 30


def test_with_another_encoder_a_first_start_trains_them(empty: Context) -> None:
    ensure_demo_models(empty)
    made = {model.handle: model for model in models.list_models(empty, VISITOR).items}
    assert set(made) == {demo.handle for demo in demo_models()}
    for demo in demo_models():
        assert made[demo.handle].state == "busy"
        assert made[demo.handle].traits == [trait["name"] for trait in demo.traits]
        assert _count(empty, demo.handle) == len(demo.samples)
    ensure_demo_models(empty)
    assert {model.handle: model for model in models.list_models(empty, VISITOR).items} == made


def test_what_a_first_start_left_undone_the_next_one_does(empty: Context) -> None:
    demo = demo_models()[0]
    models.create(empty, OWNER, ModelCreate(**demo.definition))
    traits.add(empty, OWNER, demo.handle, TraitsCreate(traits=[TraitInput(**demo.traits[0])]))
    started = [SampleInput(**sample) for sample in demo.samples if sample["trait"] in demo.traits[0].values()][:5]
    samples.add(empty, OWNER, demo.handle, SamplesCreate(samples=started))
    ensure_demo_models(empty)
    assert models.get(empty, VISITOR, demo.handle).state == "busy"
    assert _count(empty, demo.handle) == len(demo.samples)


def test_an_operator_without_the_public_namespace_gets_no_demo_models(empty: Context) -> None:
    ensure_demo_models(replace(empty, settings=replace(empty.settings, public_namespaces=())))
    assert models.list_models(empty, OWNER, namespace="demo").items == []


def _count(context: Context, handle: str) -> int:
    return sum(trait.sample_count for trait in traits.list_traits(context, OWNER, handle).traits)


def _vectors(context: Context, handle: str) -> NDArray[np.float32]:
    """(n_samples, d): the stored vectors of the model's samples, in their order."""
    with reading(context.engine) as connection:
        model = models_stored.find(connection, handle)
        assert model is not None
        by_id = vectors.read(connection, model.id, context.encoder.digest)
    return np.array([by_id[sample_id] for sample_id in sorted(by_id)], np.float32)


def _cards(snapshot: dict[str, Any], texts: list[str], X: NDArray[np.float32]) -> list[Mapping[str, RawScore]]:
    version = Snapshot.from_json(snapshot)
    return [
        card.read(version, range(len(version.traits)), each).traits for each in card.project_whole(version, texts, X)
    ]
