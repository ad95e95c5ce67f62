"""A fork, import, promotion, purge or change of samples that is killed has happened as a whole or not at all."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import func, select

from tests.conftest import not_none
from tests.contexts import AUTHOR, ON_BOTH, ON_BOTH_IN_SOAK, draft, export_of, new_handle, opened, trained_here
from tests.operations.author import give_feedback, improved, samples_of
from traitbench.contract.bundles import Bundle
from traitbench.operations import models, sample_changes
from traitbench.operations.context import Context
from traitbench.settings import Settings
from traitbench.store import tables
from traitbench.store.database import reading

ROOT = Path(__file__).parents[2]
POINTS = (4, 7, 10, 14, 18, 22, 26, 0)
"""Before which statements a process is killed; 0 is the commit. A fork has fewer than a promotion."""

NEVER = 999


@contextmanager
def attempts(settings: Settings) -> Iterator[Callable[..., str]]:
    """A function that tries an operation in a process which is killed before a statement."""
    command = [sys.executable, "-m", "tests.faults.half_done", str(settings.home), settings.database_url]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
    stdin, stdout = not_none(process.stdin), not_none(process.stdout)

    def attempt(operation: str, handle: str, other: str, number: int) -> str:
        stdin.write(f"{operation} {handle} {other} {number}\n")
        return stdout.readline().strip()

    try:
        yield attempt
    finally:
        stdin.close()
        process.wait()
        stdout.close()


def _rows(context: Context) -> dict[str, int]:
    """How many rows each table has."""
    counted = (tables.models, tables.traits, tables.samples, tables.vectors, tables.versions, tables.snapshots)
    with reading(context.engine) as connection:
        return {
            table.name: connection.execute(select(func.count()).select_from(table)).scalar_one()
            for table in (*counted, tables.version_samples, tables.activations)
        }


@ON_BOTH_IN_SOAK
def test_a_kill_leaves_all_of_it_or_nothing(settings: Settings) -> None:
    with opened(settings, runs=False) as context, attempts(settings) as attempt:
        handle = trained_here(context)
        copy = improved(context, handle)
        give_feedback(context, handle)
        draft, imported = new_handle(), new_handle()
        for operation, other in (("fork", draft), ("import", imported), ("promote", copy)):
            before, rows = _exports(context, handle, copy), _rows(context)
            for number in POINTS if operation == "promote" else (*POINTS[:3], 0):
                assert attempt(operation, handle, other, number) == "killed"
                assert _rows(context) == rows, (operation, number)
            assert _exports(context, handle, copy) == before
            assert attempt(operation, handle, other, NEVER) == "done"
            assert _rows(context) != rows
        assert models.get(context, AUTHOR, handle).version_no == 2
        assert models.get(context, AUTHOR, copy).state == "archived"

        models.delete(context, AUTHOR, draft)
        before, rows = _exports(context, handle, copy), _rows(context)
        for number in (6, 20, 34, 0):
            assert attempt("purge", handle, copy, number) == "killed"
            assert _rows(context) == rows, number
        assert _exports(context, handle, copy) == before
        assert attempt("purge", handle, copy, NEVER) == "done"
        assert _rows(context)["tb_samples"] == len(export_of(context, AUTHOR, imported).samples or ())


@ON_BOTH
def test_a_killed_change_or_undo_of_samples_leaves_all_of_it_or_nothing(settings: Settings) -> None:
    with opened(settings, runs=False) as context, attempts(settings) as attempt:
        handle = draft(context, warm=2, cold=1)
        before = samples_of(context, handle)
        for number in (*range(3, 12, 2), 0):
            assert attempt("change", handle, "-", number) == "killed"
            assert samples_of(context, handle) == before, number
            assert len(sample_changes.history(context, AUTHOR, handle).items) == 1
        assert attempt("change", handle, "-", NEVER) == "done"
        changed, [done, _] = samples_of(context, handle), sample_changes.history(context, AUTHOR, handle).items
        assert [each.text for each in changed] == ["else", before[2].text, "new"]
        for number in (*range(3, 16, 3), 0):
            assert attempt("undo", handle, str(done.id), number) == "killed"
            assert samples_of(context, handle) == changed, number
        assert attempt("undo", handle, str(done.id), NEVER) == "done"
        assert [each.model_copy(update={"revision": 1}) for each in samples_of(context, handle)] == before


def _exports(context: Context, *handles: str) -> list[tuple[str, Bundle]]:
    return [(models.get(context, AUTHOR, each).state, export_of(context, AUTHOR, each)) for each in handles]
