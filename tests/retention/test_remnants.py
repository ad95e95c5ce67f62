"""Remnants in a database file: nothing of a purged model is left, whatever happened to its pages."""

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.contexts import AUTHOR, ON_SQLITE, draft, fresh_settings, opened
from tests.operations.author import samples_of
from tests.retention.marks import files, mark, marks_in
from tests.size import sized
from traitbench.contract.models import ModelUpdate
from traitbench.contract.sample_changes import KEPT_FOR, SampleFields
from traitbench.contract.samples import SampleInput, SamplesCreate, SamplesDelete
from traitbench.operations import models, rules, sample_changes, samples
from traitbench.operations.context import Context
from traitbench.store import sample_changes as stored
from traitbench.store.database import writing

pytestmark = ON_SQLITE

HISTORIES = sized(12, 40)


@pytest.fixture
def context(tmp_path: Path) -> Iterator[Context]:
    """A context on SQLite, whichever database the other tests use."""
    with (
        fresh_settings(tmp_path / "home") as settings,
        opened(
            replace(settings, database_url=f"sqlite:///{tmp_path / 'home' / 'traitbench.db'}"), runs=False
        ) as context,
    ):
        yield context


def test_no_page_of_the_file_holds_a_purged_text_however_samples_came_and_went(context: Context) -> None:
    """Rows that move to another page leave a copy in free space, which `secure_delete` does not overwrite."""
    home = context.settings.home
    for seed in range(HISTORIES):
        word, rng = mark(f"gap{seed:03}"), random.Random(seed)
        purged, other = draft(context), draft(context)
        for _ in range(rng.randint(4, 12)):
            handle, text = rng.choice(((purged, word), (other, "innocent")))
            rng.choice((_add, _add, _add, _remove))(context, handle, text, rng)
        _add(context, purged, word, rng)
        assert marks_in(files(home), [word])
        models.update(context, AUTHOR, purged, ModelUpdate(zero_data_retention=True))
        assert marks_in(files(home), [word]) == []


def test_a_day_later_no_file_holds_what_a_change_replaced_or_deleted(context: Context) -> None:
    home = context.settings.home
    word, handle = mark("undoable"), draft(context)
    rng = random.Random(7)
    for _ in range(4):
        _add(context, handle, word, rng)
        _add(context, handle, "innocent", rng)
    mine = [each for each in samples_of(context, handle) if word in each.text]
    for each in mine[::2]:
        sample_changes.change(context, AUTHOR, handle, each.id, SampleFields(text="else"))
    samples.delete_many(context, AUTHOR, handle, SamplesDelete(ids=[each.id for each in mine[1::2]]))
    assert marks_in(files(home), [word])
    with writing(context.engine) as connection:
        stored.expire(connection, rules.now() + KEPT_FOR)
    context.engine.dispose()
    assert marks_in(files(home), [word]) == []


def _add(context: Context, handle: str, word: str, rng: random.Random) -> None:
    lengths = [rng.randint(1, rng.choice((3, 30, 200))) for _ in range(rng.randint(1, 20))]
    sent = [SampleInput(trait="warmth", text=" ".join([word] * length), quality=1.0) for length in lengths]
    samples.add(context, AUTHOR, handle, SamplesCreate(samples=sent))


def _remove(context: Context, handle: str, word: str, rng: random.Random) -> None:
    ids = [sample.id for sample in samples.list_samples(context, AUTHOR, handle, limit=500).items]
    for sample_id in rng.sample(ids, len(ids) // 3):
        samples.delete(context, AUTHOR, handle, sample_id)
