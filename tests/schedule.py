"""Which tests share a process of `make test`, and in which order: the longest first, so that none is left for the end.

A folder whose tests share an expensive fixture (a trained world, a service with a worker) is one piece of work for each
database, so that the fixture is set up once. Everywhere else a file is one piece.
"""

import re

import pytest
from xdist.scheduler import LoadScopeScheduling

# In the order in which they begin. What is not here is short, and comes last.
LONGEST = (
    "tests/browser",
    "tests/contract",
    "tests/lifecycle",
    "tests/faults/test_clocks.py",
    "tests/faults/test_kill_loop.py",
    "tests/faults/test_backups_under_load.py",
    "tests/app/test_behind_nginx.py",
    "tests/retention",
    "tests/faults/test_kills.py",
    "tests/faults/test_later_runs.py",
    "tests/faults/test_derivations.py",
    "tests/states",
    "tests/runs/test_quarantine.py",
    "tests/app/serving/test_connections.py",
    "tests/app/test_egress.py",
    "tests/app/test_start_and_stop.py",
    "tests/bundles/test_large_bundles.py",
    "tests/app/test_backups.py",
    "tests/faults",
    "tests/runs",
    "tests/app",
    "tests/pages",
)
TOGETHER = ("tests/browser", "tests/contract", "tests/lifecycle", "tests/retention", "tests/states", "tests/store")
_DATABASE = re.compile(r"[\[-](sqlite|postgresql)[\]-]")


def piece(nodeid: str) -> str:
    """The piece of work that a test belongs to."""
    file = nodeid.partition("::")[0]
    folder = next((folder for folder in TOGETHER if file.startswith(f"{folder}/")), None)
    if folder is None:
        return file
    database = _DATABASE.search(nodeid)
    return f"{folder} {database[1] if database else ''}".rstrip()


def longest_first(items: list[pytest.Item]) -> None:
    """Sort tests by their pieces, the longest first; the order within a piece stays."""
    items.sort(key=lambda item: _place(piece(item.nodeid)))


def _place(name: str) -> int:
    for place, start in enumerate(LONGEST):
        if name == start or name.startswith((f"{start}/", f"{start} ")):
            return place
    return len(LONGEST)


class ByPiece(LoadScopeScheduling):  # type: ignore[misc]
    """Gives each process one piece after another."""

    def _split_scope(self, nodeid: str) -> str:
        return piece(nodeid)
