from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.contexts import ON_SQLITE, fresh_settings, opened
from traitbench.contract.models import ModelCreate
from traitbench.contract.samples import SampleInput, SamplesCreate
from traitbench.contract.traits import TraitInput, TraitsCreate
from traitbench.operations import models, samples, traits
from traitbench.operations.access import Caller
from traitbench.operations.context import Context
from traitbench.operations.demo import ensure_demo_models
from traitbench.sample_data import demo_models

pytestmark = ON_SQLITE

OWNER = Caller("key_demo", "authoring", frozenset({"demo"}))
VISITOR = Caller("key_visitor", "scoring", frozenset({"local"}))


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Context]:
    with fresh_settings(tmp_path) as settings, opened(settings, runs=False) as context:
        yield context


def test_a_first_start_makes_the_demo_models_and_a_second_changes_nothing(empty: Context) -> None:
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
