from collections.abc import Iterator
from typing import Any

import pytest

from tests.contexts import AUTHOR, export_of, fresh_settings, new_handle, opened, trained_here
from tests.contexts import sqlite_first as sqlite_first
from tests.operations.author import new_model, toned_model
from traitbench.contract.bundles import Bundle
from traitbench.contract.traits import TraitInput, TraitsCreate
from traitbench.operations import traits
from traitbench.operations.access import Caller
from traitbench.operations.context import Context


@pytest.fixture(scope="package")
def context(tmp_path_factory: pytest.TempPathFactory, database: str) -> Iterator[Context]:
    """A context without a worker: a busy model stays busy until a test executes its run."""
    with fresh_settings(tmp_path_factory.mktemp("queueing")) as settings, opened(settings, runs=False) as context:
        yield context


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Context]:
    """A context for this module only, whose rows may be damaged."""
    with fresh_settings(tmp_path_factory.mktemp("own")) as settings, opened(settings, runs=False) as context:
        yield context


@pytest.fixture(scope="module")
def exported(own: Context) -> Bundle:
    return export_of(own, AUTHOR, trained_here(own))


@pytest.fixture(scope="package")
def toned(context: Context) -> str:
    """A trained model of two traits, `warmth` and `coldness`, that tests only read."""
    return toned_model(context)


@pytest.fixture
def handle(context: Context) -> str:
    """A new model without traits."""
    return new_model(context)


@pytest.fixture
def public(context: Context) -> str:
    """The handle of a model in a public namespace that none of the callers owns."""
    owner = Caller("key_demo", "authoring", frozenset({"demo"}))
    return new_model(context, caller=owner, handle=new_handle().replace("local.", "demo."))


def add_traits(context: Context, handle: str, *inputs: dict[str, Any]) -> list[str]:
    """Add traits to a model; return their keys."""
    body = TraitsCreate(traits=[TraitInput(**fields) for fields in inputs])
    return [trait.key for trait in traits.add(context, AUTHOR, handle, body).traits]
