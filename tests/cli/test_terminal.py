"""The command line before a person at a terminal: it asks, it shows how far it is, and no text can steer the screen."""

import os
import pty
import re
import signal
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.app.processes import eventually, on_terminal, starting
from tests.conftest import Service, Trained, make_draft
from tests.patience import PATIENCE_S
from traitbench.client import Traitbench

COLOUR = re.compile(r"\x1b\[[0-9;]*3[0-7]m")

OnTerminal = Callable[..., tuple[int, str, str]]


@pytest.fixture
def terminal(service: Service, namespace: str, tmp_path: Path) -> OnTerminal:
    key = service.issue(namespaces=(namespace, "trained"))

    def run(*arguments: str, typed: str = "", piped: bool = False, **more: str) -> tuple[int, str, str]:
        given = {**more, "TRAITBENCH_API_URL": service.base_url, "TRAITBENCH_API_KEY": key}
        return on_terminal(tmp_path / "home", *arguments, typed=typed, piped=piped, **given)

    return run


def test_a_batch_shows_how_far_it_is_beside_a_clean_pipe(
    terminal: OnTerminal, trained: Trained, tmp_path: Path
) -> None:
    file = tmp_path / "texts.csv"
    file.write_text("text\n" + "Hello\n" * 30)
    code, out, shown = terminal("score", trained.handle, "--batch", str(file), piped=True)
    assert (code, len(out.splitlines())) == (0, 31)
    assert "Scoring" in shown
    assert "100%" in shown
    assert "\x1b" not in out


@pytest.mark.parametrize(("answer", "state"), [("n\n", "draft"), ("y\n", "archived")])
def test_what_is_taken_away_for_good_is_asked_about(
    terminal: OnTerminal, client: Traitbench, namespace: str, answer: str, state: str
) -> None:
    handle = f"{namespace}.asked"
    client.models.create(handle)
    code, _, shown = terminal("models", "delete", handle, typed=answer)
    assert (code, client.models.get(handle).state) == (int(state == "draft"), state)
    assert "will be archived" in shown
    assert "Continue? [y/N]" in shown


def test_a_table_fits_the_terminal_and_shows_nothing_that_steers_it(
    terminal: OnTerminal, client: Traitbench, namespace: str
) -> None:
    client.models.create(f"{namespace}.steering", description="\x1b[2J\x1b]0;title\x07" + "long " * 30)
    _, _, shown = terminal("models", "list", "--namespace", namespace)
    _, row = shown.splitlines()
    assert "\x1b" not in shown
    assert (len(row), row[-1]) == (60, "…")


def test_no_color_is_heard(terminal: OnTerminal, client: Traitbench, namespace: str) -> None:
    make_draft(client, f"{namespace}.plain")
    command = ("train", f"{namespace}.plain", "--effort", "low", "--reoptimize", "--wait")
    for given, coloured in (({"NO_COLOR": "1"}, False), ({}, True)):
        code, _, shown = terminal(*command, **given)
        assert (code, COLOUR.search(shown) is not None) == (0, coloured), shown


@pytest.mark.parametrize("command", ["models list --json", "models list", "export HANDLE -o -"])
def test_a_reader_that_has_seen_enough_is_no_failure(
    service: Service, trained: Trained, tmp_path: Path, command: str
) -> None:
    key = service.issue(namespaces=("trained",))
    given: Any = {"TRAITBENCH_API_URL": service.base_url, "TRAITBENCH_API_KEY": key}
    with starting(tmp_path / "home", *command.replace("HANDLE", trained.handle).split(), **given) as process:
        assert process.stdout
        process.stdout.close()
        assert (process.communicate(timeout=PATIENCE_S)[1], process.returncode) == ("", 0)


def test_an_interrupted_command_ends_as_a_shell_expects(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        given: Any = {
            "TRAITBENCH_API_URL": f"http://127.0.0.1:{silent.getsockname()[1]}",
            "TRAITBENCH_API_KEY": "tb_key",
        }
        with starting(tmp_path / "home", "models", "list", **given) as process:
            asked, _ = silent.accept()
            with asked:
                assert asked.recv(9) == b"GET /v1/m"
                process.send_signal(signal.SIGINT)
                assert process.communicate(timeout=PATIENCE_S) == ("", "\nAborted!\n")
    assert process.returncode == 130


def test_a_question_that_is_interrupted_ends_like_any_command(
    terminal: OnTerminal, client: Traitbench, service: Service, namespace: str, tmp_path: Path
) -> None:
    client.models.create(f"{namespace}.left")
    assert terminal("models", "delete", f"{namespace}.left", typed="\x04")[0] == 1, "no answer is a refusal"
    near, far = pty.openpty()
    key = service.issue(namespaces=(namespace,))
    given: Any = {"TRAITBENCH_API_URL": service.base_url, "TRAITBENCH_API_KEY": key}
    with starting(tmp_path / "home", "models", "delete", f"{namespace}.left", stdin=far, **given) as process:
        assert process.stderr
        while process.stderr.read(1) != "?":
            pass
        # A signal just before the process waits for the answer interrupts nothing.
        assert eventually(lambda: _ended_by_another(process))
        process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130
    os.close(near)
    os.close(far)
    assert client.models.get(f"{namespace}.left").state == "draft"


def _ended_by_another(process: subprocess.Popen[str]) -> bool:
    process.send_signal(signal.SIGINT)
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        return False
    return True
