"""Which tests share a process of `make test`, and in which order: the longest first, so that none is left for the end.

A folder whose tests share an expensive fixture (a trained world, a service with a worker) is one piece of work for each
database, so that the fixture is set up once. Files of such a folder that need little of it, or that would make the
piece too long, are pieces of their own, for each database. Everywhere else a file is one piece.
"""

import re

import pytest

# In the order in which they begin. What is not here is short, and comes last.
LONGEST = (
    "tests/browser",
    "tests/contract",
    "tests/operations",
    "tests/faults/test_clocks.py",
    "tests/faults/test_kill_loop.py",
    "tests/faults/test_backups_under_load.py",
    "tests/app/process/test_behind_nginx.py",
    "tests/retention",
    "tests/faults/test_kills.py",
    "tests/faults/test_derivations.py",
    "tests/states",
    "tests/runs/test_engine.py",
    "tests/runs/test_quarantine.py",
    "tests/pages/test_default_encoder.py",
    "tests/pages/test_batch.py",
    "tests/service/test_connections.py",
    "tests/app/process/test_egress.py",
    "tests/app/process/test_start_and_stop.py",
    "tests/service/test_freeze.py",
    "tests/store",
    "tests/test_package.py",
    "tests/faults",
    "tests/runs",
    "tests/app",
    "tests/bundles",
    "tests/agents/test_tools.py",
    "tests/cli",
    "tests/pages",
    "tests/encoders",
    "tests/tables/test_foreign_files.py",
    "tests/test_functions_of_texts.py",
    "tests/synthesis",
)
TOGETHER = ("tests/browser", "tests/contract", "tests/operations", "tests/retention", "tests/states", "tests/store")
APART = (
    "tests/browser/test_notebooks.py",
    "tests/browser/test_openid.py",
    "tests/browser/test_service_away.py",
    "tests/browser/test_sign_in.py",
    "tests/operations/test_backups.py",
    "tests/operations/test_forking.py",
    "tests/operations/test_holding.py",
    "tests/operations/test_promotion.py",
    "tests/retention/test_marker.py",
)
_DATABASE = re.compile(r"[\[-](sqlite|postgresql)[\]-]")


def piece(nodeid: str) -> str:
    """The piece of work that a test belongs to."""
    file = nodeid.partition("::")[0]
    shared = file if file in APART else next((each for each in TOGETHER if file.startswith(f"{each}/")), None)
    if shared is None:
        return file
    database = _DATABASE.search(nodeid)
    return f"{shared} {database[1] if database else ''}".rstrip()


def longest_first(items: list[pytest.Item]) -> None:
    """Sort tests by their pieces, the longest first; the order within a piece stays."""
    items.sort(key=lambda item: _place(piece(item.nodeid)))


def _place(name: str) -> int:
    for place, start in enumerate(LONGEST):
        if name == start or name.startswith((f"{start}/", f"{start} ")):
            return place
    return len(LONGEST)
