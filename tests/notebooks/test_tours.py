"""Both tours run from their first cell to their last against a real service, and are stored without outputs."""

import contextlib
import importlib
import io
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from tests.conftest import Service
from tests.patience import PATIENCE_S
from traitbench.client import Traitbench
from traitbench.sample_data import FOLDER

NOTEBOOK = FOLDER / "tour.ipynb"


@pytest.fixture
def there(service: Service, monkeypatch: pytest.MonkeyPatch) -> Iterator[Traitbench]:
    """A client of the service that the tours find in the environment."""
    key = service.issue()
    service.surround(monkeypatch)
    monkeypatch.setenv("TRAITBENCH_API_URL", service.base_url)
    monkeypatch.setenv("TRAITBENCH_API_KEY", key)
    with Traitbench(service.base_url, key) as client:
        yield client


def check(shown: Sequence[str], service: Service, client: Traitbench) -> None:
    """What a tour shows is true of the service."""
    [handle] = re.findall(rf"{re.escape(service.base_url)}/versions\?model=(local\.tour-[\d-]+)", "\n".join(shown))
    assert [version.version_no for version in client.versions.list(handle)] == [2, 1]
    [(theirs, own)] = re.findall(r"'the service says': (\d+), 'this notebook says': (\d+)", "\n".join(shown))
    assert theirs == own
    for words in ("AUROC", "pulls towards", "Furthest towards", "95 % interval", "to local.tour-"):
        assert any(words in each for each in shown)
    client.models.delete(handle)


def test_the_tour_for_jupyter_runs(service: Service, there: Traitbench, tmp_path: Path) -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
    NotebookClient(
        notebook, timeout=int(PATIENCE_S), kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    ).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert [each for each in outputs if each.output_type == "stream" and each.name == "stdout"] == []
    check([text for each in outputs for text in each.get("data", {}).values() if isinstance(text, str)], service, there)
    shown = [kind for each in outputs for kind in each.get("data", {})]
    assert "application/vnd.jupyter.widget-view+json" in shown
    assert shown.count("text/html") >= 7


def _shown(output: Any) -> str:
    html = getattr(output, "_repr_html_", None)
    return html() if callable(html) else str(output)


@pytest.mark.soak
def test_the_tour_for_marimo_runs(service: Service, there: Traitbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(FOLDER)
    tour = importlib.import_module("tour")
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        outputs, names = tour.app.run()
    names["client"].close()
    # What is printed is not shown by `marimo run`.
    assert printed.getvalue() == ""
    check([_shown(each) for each in outputs], service, there)


def test_the_tours_say_the_same_and_are_stored_without_outputs() -> None:
    cells = json.loads(NOTEBOOK.read_text("utf-8"))["cells"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells if "outputs" in cell)
    other = (FOLDER / "tour.py").read_text("utf-8")
    for cell in cells:
        for line in "".join(cell["source"]).splitlines():
            if "labeller" not in line and cell["cell_type"] == "code":
                assert line.strip() in other
