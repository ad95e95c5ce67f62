"""The labelling widget in a real JupyterLab and in a real marimo: keys label texts, and Python has the samples.

Neither asks the internet for anything: the tests look at every request of the browser.
"""

import json
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.app.processes import eventually
from tests.conftest import free_port
from tests.patience import PATIENCE_MS

pytestmark = pytest.mark.browser

LABEL = """import traitbench as tb
scorer = tb.Scorer("Warmth", poles=("cold", "warm"), effort="low")
labeller = scorer.label([f"Text {number}." for number in range(6)], queue="random")
"""
SHOW = "print([sample['quality'] for sample in labeller.samples], len(labeller.samples[0]['text']))"
_ATTEMPTS = 12
LABELLED = "[1.0, 0.0, 0.67] 7"
SETTINGS = {"themes": {"theme": "JupyterLab Dark"}, "notification": {"fetchNews": "false", "checkForUpdates": False}}
MARIMO = """import marimo

app = marimo.App()


@app.cell
def _():
    import marimo as mo
{label}
    labeller = mo.ui.anywidget(labeller)
    labeller
    return (labeller,)


@app.cell
def _(labeller):
    import marimo as mo2

    mo2.md(str([sample["quality"] for sample in labeller.samples]))
    return
"""


@contextmanager
def running(home: Path, command: Sequence[str], port: int) -> Iterator[None]:
    """A server of notebooks with a home of its own, and ended with its kernels."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("JUPYTER")}
    environment = {**kept, "HOME": str(home), "TRAITBENCH_HOME": str(home / "tb"), "TRAITBENCH_ENCODER": "ngrams"}
    log = (home / "log").open("wb")
    with (
        log,
        subprocess.Popen(
            [str(Path(sys.executable).with_name(command[0])), *command[1:]],
            cwd=home,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        ) as process,
    ):
        try:
            assert eventually(lambda: _listens(port) or process.poll() is not None)
            assert process.poll() is None, (home / "log").read_text()
            yield
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)


def _listens(port: int) -> bool:
    with suppress(OSError):
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    return False


def listen(page: Page, port: int) -> list[str]:
    """The addresses that the page asks beside its own server; filled as it goes."""
    strange: list[str] = []
    own = (f"http://127.0.0.1:{port}/", f"ws://127.0.0.1:{port}/", "data:", "blob:")
    page.on("request", lambda request: None if request.url.startswith(own) else strange.append(request.url))
    page.on("websocket", lambda opened: None if opened.url.startswith(own) else strange.append(opened.url))
    return strange


def run_cell(page: Page, number: int) -> None:
    """Run a cell by its button. JupyterLab may not listen yet while it still opens: then press once more."""
    prompt = page.locator(".jp-InputPrompt").nth(number)
    page.bring_to_front()
    for _ in range(_ATTEMPTS):
        page.locator(".jp-CodeCell .cm-content").nth(number).click()
        page.locator('[data-command="notebook:run-cell-and-select-next"]').first.click()
        with suppress(AssertionError):
            expect(prompt).not_to_have_text("[ ]:", timeout=PATIENCE_MS / _ATTEMPTS)
            break
    expect(prompt).to_have_text(re.compile(r"\[\d+\]:"), timeout=PATIENCE_MS)


def label_three(page: Page) -> None:
    """Label with both arrows and a grade, and undo once."""
    page.locator(".labeller .text").click(timeout=PATIENCE_MS)
    for key in ("ArrowRight", "ArrowRight", "u", "ArrowLeft", "6"):
        page.keyboard.press(key)
    expect(page.get_by_text("3 of 6")).to_be_visible()
    expect(page.get_by_text("The first figures need 1 more text at cold.")).to_be_visible()


@pytest.mark.soak
def test_in_jupyterlab(page: Page, tmp_path: Path) -> None:
    cells: list[dict[str, object]] = [
        {"cell_type": "code", "id": name, "execution_count": None, "metadata": {}, "outputs": [], "source": source}
        for name, source in (("label", LABEL + "labeller"), ("show", SHOW))
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    notebook = {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "label.ipynb").write_text(json.dumps(notebook), "utf-8")
    settings = tmp_path / "settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    for name, values in SETTINGS.items():
        (settings / f"{name}.jupyterlab-settings").write_text(json.dumps(values), "utf-8")
    port, token = free_port(), secrets.token_hex()
    command = (
        *("jupyter-lab", "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}"),
        *(f"--IdentityProvider.token={token}", f"--LabApp.user_settings_dir={tmp_path / 'settings'}"),
        *("--LabApp.extension_manager=readonly", "--LabApp.news_url=", f"--ServerApp.root_dir={tmp_path}"),
    )
    with running(tmp_path, command, port):
        strange = listen(page, port)
        # On a busy machine JupyterLab may ask about its kernel; a person would answer and go on.
        page.add_locator_handler(
            page.locator(".jp-Dialog"), lambda dialog: dialog.locator(".jp-mod-accept").first.click()
        )
        page.goto(f"http://127.0.0.1:{port}/lab/tree/label.ipynb?token={token}")
        # a cell that is run before its kernel has answered is not run at all
        expect(page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]")).to_be_attached(timeout=PATIENCE_MS)
        run_cell(page, 0)
        label_three(page)
        run_cell(page, 1)
        expect(page.get_by_text(LABELLED)).to_be_visible()
        # a digit is also JupyterLab's key for a heading
        assert page.locator(".jp-MarkdownCell").count() == 0
        assert strange == []


@pytest.mark.soak
def test_in_marimo(page: Page, tmp_path: Path) -> None:
    indented = "".join(f"    {line}\n" for line in LABEL.replace("labeller = ", "made = ").splitlines())
    (tmp_path / "label.py").write_text(
        MARIMO.format(label=indented).replace("anywidget(labeller)", "anywidget(made)"), "utf-8"
    )
    port, token = free_port(), secrets.token_hex()
    command = ("marimo", "run", "label.py", "--headless", "--host", "127.0.0.1", "--port", str(port))
    with running(tmp_path, (*command, "--token-password", token), port):
        strange = listen(page, port)
        page.goto(f"http://127.0.0.1:{port}/?access_token={token}")
        label_three(page)
        expect(page.get_by_text("[1.0, 0.0, 0.67]")).to_be_visible()
        assert strange == []
