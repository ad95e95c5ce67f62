"""A check in a real workbench, and the training in its worker that follows."""

import sqlite3
from pathlib import Path
from urllib.parse import urlencode

from tests.app.processes import serving
from tests.app.streamlit_socket import render
from tests.conftest import make_draft


def test_a_check_in_the_workbench_leaves_the_vectors_with_the_service(tmp_path: Path) -> None:
    with serving(tmp_path) as started, started.client() as client:
        make_draft(client, "local.tone")
        render(started.port, "samples", urlencode({"model": "local.tone", "task": "Check"}))
        samples = {sample.id for sample in client.samples.list("local.tone")}
        with sqlite3.connect(f"file:{tmp_path / 'traitbench.db'}?mode=ro", uri=True) as database:
            stored = {row[0] for row in database.execute("SELECT sample_id FROM tb_vectors")}
    assert samples
    assert samples <= stored
