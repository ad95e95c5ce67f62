"""The parent of a worker: it starts one, starts another when that dies, and leaves none behind."""

import os
import signal
import sys
from pathlib import Path

import pytest

from core.runs.supervisor import Supervisor
from tests.benches import until

LIVES = "import sys; sys.stdin.readline(); print('ready', flush=True); sys.stdin.read()"
DIES = "import sys; open(sys.argv[1], 'a').write('x'); sys.exit(3)"
TELLS = "import sys; open(sys.argv[1], 'w').write(sys.stdin.readline()); print('ready', flush=True); sys.stdin.read()"
DEAF = "import sys, time; sys.stdin.readline(); print('ready', flush=True); time.sleep(600)"


def _supervisor(code: str, *arguments: object) -> Supervisor:
    return Supervisor([sys.executable, "-c", code, *map(str, arguments)], b'{"a": 1}')


def _alive(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_child_is_told_its_greeting_and_is_ready_when_it_says_so(tmp_path: Path) -> None:
    supervisor = _supervisor(TELLS, tmp_path / "told")
    assert not supervisor.ready()
    supervisor.start()
    supervisor.start()
    until(supervisor.ready, what="the child to be ready")
    assert (tmp_path / "told").read_text() == '{"a": 1}\n'
    supervisor.stop()
    assert not supervisor.ready()


@pytest.mark.parametrize("code", [LIVES, DEAF])
def test_no_child_is_left_behind(code: str) -> None:
    supervisor = _supervisor(code)
    supervisor.start()
    until(supervisor.ready, what="the child to be ready")
    child = supervisor.pid
    assert child is not None
    supervisor.stop()
    supervisor.stop()
    assert not _alive(child)
    assert supervisor.pid is None


def test_a_child_that_is_killed_has_a_successor_which_can_be_stopped_and_started_again() -> None:
    supervisor = _supervisor(LIVES)
    supervisor.start()
    for _ in range(3):
        until(supervisor.ready, what="the child to be ready")
        child = supervisor.pid
        assert child is not None
        os.kill(child, signal.SIGKILL)
        until(lambda dead=child: supervisor.pid != dead, what="a successor")  # type: ignore[misc]
    supervisor.stop()
    supervisor.start()
    until(supervisor.ready, what="the child to be ready")
    supervisor.stop()


def test_a_child_that_cannot_start_is_tried_again_with_growing_patience(tmp_path: Path) -> None:
    supervisor = _supervisor(DIES, tmp_path / "tries")
    supervisor.start()
    until(lambda: (tmp_path / "tries").exists() and len((tmp_path / "tries").read_text()) > 2, what="three tries")
    assert not supervisor.ready()
    supervisor.stop()
