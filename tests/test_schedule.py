"""The schedule of `make test` names what exists, and puts every test into one piece."""

from pathlib import Path

import pytest

from tests import schedule

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("path", sorted({*schedule.LONGEST, *schedule.TOGETHER, *schedule.APART}))
def test_what_begins_first_exists(path: str) -> None:
    assert (ROOT / path).exists()


@pytest.mark.parametrize(
    ("nodeid", "piece"),
    [
        ("tests/store/test_runs.py::test_a_run[sqlite]", "tests/store sqlite"),
        ("tests/store/test_runs.py::test_a_run[3-postgresql-a]", "tests/store postgresql"),
        ("tests/store/test_runs.py::test_a_run", "tests/store"),
        ("tests/operations/test_backups.py::test_a_backup[sqlite]", "tests/operations/test_backups.py sqlite"),
        ("tests/faults/test_kills.py::test_a_kill[sqlite]", "tests/faults/test_kills.py"),
    ],
)
def test_a_test_belongs_to_its_file_or_to_its_folder_and_database(nodeid: str, piece: str) -> None:
    assert schedule.piece(nodeid) == piece
