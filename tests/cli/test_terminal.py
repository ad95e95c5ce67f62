"""The command line before a person at a terminal: it asks, it shows how far it is, and no text can steer the screen."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.app.processes import on_terminal
from tests.conftest import Service, Trained, make_draft
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
