"""What pages read again and again costs no query until someone writes."""

from collections.abc import Callable

import pytest
from sqlalchemy import event

from tests.contexts import AUTHOR, ON_SQLITE, SCORER, draft
from traitbench.contract.models import ModelUpdate
from traitbench.contract.traits import TraitInput, TraitsCreate
from traitbench.operations import models, traits, versions
from traitbench.operations.context import Context

pytestmark = ON_SQLITE

READS: list[Callable[[Context, str], object]] = [
    lambda context, handle: models.get(context, SCORER, handle),
    lambda context, _handle: models.list_models(context, SCORER, namespace="local"),
    lambda context, handle: traits.list_traits(context, SCORER, handle),
    lambda context, handle: versions.list_versions(context, SCORER, handle),
]


@pytest.mark.parametrize("read", READS)
def test_a_second_read_asks_the_database_nothing(context: Context, read: Callable[[Context, str], object]) -> None:
    handle, statements = draft(context), list[str]()
    event.listen(context.engine, "before_cursor_execute", lambda *given: statements.append(given[2]))
    first = read(context, handle)
    assert statements
    statements.clear()
    assert read(context, handle) == first
    assert statements == []


def test_a_write_is_seen_by_the_next_read(context: Context) -> None:
    handle = draft(context)
    for read in READS:
        read(context, handle)
    models.update(context, AUTHOR, handle, ModelUpdate(description="New."))
    traits.add(context, AUTHOR, handle, TraitsCreate(traits=[TraitInput(name="Clarity")]))
    assert models.get(context, SCORER, handle).description == "New."
    assert [each.key for each in traits.list_traits(context, SCORER, handle).traits] == ["warmth", "clarity"]
