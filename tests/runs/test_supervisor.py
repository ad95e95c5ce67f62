"""The parent of a worker: it starts one, replaces it when it dies, and leaves none behind."""

import json
import logging
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.app.processes import gone
from tests.contexts import ON_SQLITE, until
from tests.patience import PATIENCE_S
from tests.size import sized
from traitbench.runs.heartbeat import WorkItem
from traitbench.runs.supervisor import Supervisor

pytestmark = ON_SQLITE

LIVES = "import sys; sys.stdin.readline(); print('ready', flush=True); sys.stdin.read()"
DIES = "import sys; open(sys.argv[1], 'a').write('x'); sys.exit(3)"
TELLS = "import sys; open(sys.argv[1], 'w').write(sys.stdin.readline()); print('ready', flush=True); sys.stdin.read()"
DEAF = "import sys, time; sys.stdin.readline(); print('ready', flush=True); time.sleep(600)"


# Children that send heartbeats and hold a piece of a run; the second line of input ends them.
HOLDS = """
import os, sys, threading, time
from traitbench.runs.heartbeat import Heartbeat, WorkItem
told, does = sys.stdin.readline(), sys.argv[1]
open(sys.argv[2], "a").write(told)
heartbeat = Heartbeat(every_s=0.1, longest_piece_s=0.5)
heartbeat.start()
heartbeat.at("run_1", WorkItem("encoding", samples=(7,)))
heartbeat.ready()
if "deaths" in told:
    heartbeat.judged()
elif does == "freeze":
    import ctypes
    ctypes.PyDLL(None).sleep(600)  # a C function that holds the interpreter's lock
elif does == "crash":
    import ctypes
    ctypes.string_at(0)
elif does == "slow":
    time.sleep(600)
heartbeat.at("run_1", None)
sys.stdin.read()
"""
PRESSED = """
import resource, sys, threading, time
from traitbench.runs.heartbeat import WorkItem
from traitbench.runs.supervisor import Supervisor
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
supervisor = Supervisor([sys.executable, "-c", sys.argv[1]], {})
resource.setrlimit(resource.RLIMIT_NOFILE, (5, hard))
supervisor.start()
time.sleep(1)
[thread] = [each for each in threading.enumerate() if each.name == "worker-supervisor"]
assert thread.is_alive() and not supervisor.ready()
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
end = time.monotonic() + 20
while not supervisor.ready():
    assert time.monotonic() < end
    time.sleep(0.05)
supervisor.stop()
print("recovered")
"""


def _ready(supervisor: Supervisor) -> int:
    """The process id of the child, once it is ready."""
    until(supervisor.ready, what="the child to be ready")
    assert supervisor.pid is not None
    return supervisor.pid


def _supervisor(code: str, *arguments: object) -> Supervisor:
    return Supervisor([sys.executable, "-c", code, *map(str, arguments)], {"a": 1})


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
    child = _ready(supervisor)
    supervisor.stop()
    supervisor.stop()
    assert gone(child)
    assert supervisor.pid is None


def test_a_child_that_is_killed_has_a_successor_which_can_be_stopped_and_started_again() -> None:
    supervisor = _supervisor(LIVES)
    supervisor.start()
    child = _ready(supervisor)
    os.kill(child, signal.SIGKILL)
    until(lambda: supervisor.pid != child, what="a successor")
    supervisor.stop()
    supervisor.start()
    _ready(supervisor)
    supervisor.stop()


def test_a_child_that_cannot_start_is_tried_again_with_growing_patience(tmp_path: Path) -> None:
    supervisor = _supervisor(DIES, tmp_path / "tries")
    supervisor.start()
    until(lambda: (tmp_path / "tries").exists() and len((tmp_path / "tries").read_text()) > 2, what="three tries")
    assert not supervisor.ready()
    supervisor.stop()


def test_a_process_without_free_descriptors_starts_its_worker_when_it_has_some() -> None:
    done = subprocess.run([sys.executable, "-c", PRESSED, LIVES], capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.stdout == "recovered\n", done.stderr


def test_a_program_that_is_missing_for_a_moment_is_tried_again(tmp_path: Path) -> None:
    program = tmp_path / "python"
    supervisor = Supervisor([str(program), "-c", LIVES], {})
    supervisor.start()
    until(lambda: supervisor.pid is None, what="the first try")
    program.symlink_to(sys.executable)
    until(supervisor.ready, what="the child to be ready")
    supervisor.stop()


@pytest.mark.parametrize(("does", "cause"), [("freeze", "silent"), ("crash", "crashed"), ("slow", "slow")])
def test_a_worker_that_ends_by_its_own_doing_is_replaced_and_the_next_one_is_told(
    tmp_path: Path, does: str, cause: str
) -> None:
    supervisor = Supervisor([sys.executable, "-c", HOLDS, does, str(tmp_path / "told")], {"a": 1}, silence_s=2.0)
    supervisor.start()
    until(lambda: _lines(tmp_path)[1:], what="a second child")
    assert _lines(tmp_path)[:2] == [
        {"a": 1},
        {"a": 1, "deaths": [{"cause": cause, "places": {"run_1": WorkItem("encoding", samples=(7,)).to_json()}}]},
    ]
    os.kill(_ready(supervisor), signal.SIGKILL)
    until(lambda: _lines(tmp_path)[2:], what="a third child")
    supervisor.stop()
    assert _lines(tmp_path)[2] == {"a": 1}


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP])
def test_a_worker_that_is_killed_or_stopped_from_outside_is_replaced_and_no_run_is_blamed(
    tmp_path: Path, number: signal.Signals, caplog: pytest.LogCaptureFixture
) -> None:
    code = HOLDS.replace('heartbeat.at("run_1", None)', "")
    supervisor = Supervisor([sys.executable, "-c", code, "hold", str(tmp_path / "told")], {"a": 1}, silence_s=2.0)
    supervisor.start()
    with caplog.at_level(logging.ERROR):  # the warnings are expected
        for _ in range(sized(3, 10) if number == signal.SIGKILL else 1):
            child = _ready(supervisor)
            os.kill(child, number)
            until(lambda dead=child: supervisor.pid != dead, what="a successor")  # type: ignore[misc]
            assert gone(child)
    until(supervisor.ready, what="the last child to be ready")
    supervisor.stop()
    greetings = _lines(tmp_path)
    assert len(greetings) > 1
    assert all(result == {"a": 1} for result in greetings)


def test_the_parent_knows_how_long_its_worker_has_said_nothing() -> None:
    supervisor = _supervisor(LIVES)
    assert supervisor.silent_s() is None
    supervisor.start()
    until(supervisor.ready, what="the child to be ready")
    first = supervisor.silent_s()
    assert first is not None
    until(lambda: (supervisor.silent_s() or 0.0) > first, what="time to pass")
    supervisor.stop()
    assert supervisor.silent_s() is None


def _lines(folder: Path) -> list[dict[str, object]]:
    file = folder / "told"
    lines = file.read_text().split("\n")[:-1] if file.exists() else []
    return [json.loads(line) for line in lines]
