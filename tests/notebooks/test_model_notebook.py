"""The notebook that the Model page downloads: it runs with the service and without, and holds no key."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.conftest import Service, Trained
from tests.patience import PATIENCE_S
from traitbench_app.model.code import notebook_of

TEXT = 'She said "thank you" \\ twice.'


def outputs_of(source: str, folder: Path) -> str:
    """What a notebook shows when it runs."""
    notebook = nbformat.reads(source, as_version=4)  # type: ignore[no-untyped-call]
    nbformat.validate(notebook)
    NotebookClient(
        notebook, timeout=int(PATIENCE_S), kernel_name="python3", resources={"metadata": {"path": folder}}
    ).execute()
    return "".join(
        output["data"].get("text/html", "")
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if "data" in output
    )


@pytest.mark.parametrize("pinned", ["", "@v1"])
def test_it_scores_with_the_service_or_with_the_exported_model_beside_it(
    service: Service, trained: Trained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pinned: str
) -> None:
    score = trained.client.scores.score(trained.handle, TEXT).scores["warmth"]
    service.surround(monkeypatch)
    address = service.base_url
    if pinned:
        address = "http://127.0.0.1:9"
        (tmp_path / f"{trained.handle}.json").write_text(
            trained.client.models.export(trained.handle).model_dump_json(exclude_unset=True), "utf-8"
        )
    else:
        monkeypatch.setenv("TRAITBENCH_API_KEY", service.issue("scoring", ("trained",)))
    source = notebook_of(address, trained.handle + pinned, TEXT)
    shown = outputs_of(source, tmp_path)
    assert f"<td>{score}</td>" in shown
    assert "warmth" in shown
