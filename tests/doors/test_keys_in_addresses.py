"""A key in an address is in no log: neither of a real process, its metrics and files, nor of nginx in front of it."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.app.cluster import nginx
from tests.app.processes import Started, serving
from tests.conftest import free_port
from tests.patience import PATIENCE_S

ANALYZE = "/v1alpha1/comments:analyze"
WRONG = "tbs_" + "Xy9" * 15
MARK = "tellnobody"


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    """The workbench with its service, and a log of everything."""
    folder = tmp_path_factory.mktemp("started")
    with serving(folder / "home", TRAITBENCH_LOG_LEVEL="debug", TRAITBENCH_SIGN_IN="token") as started:
        yield started


def test_no_key_and_no_query_is_logged_measured_or_answered(started: Started) -> None:
    key = started.home.joinpath("first.key").read_text("utf-8").strip()
    body = {"comment": {"text": f"{MARK} was here."}, "requestedAttributes": {"TOXICITY": {}}}
    with httpx.Client(base_url=started.base_url, timeout=PATIENCE_S, trust_env=False) as http:

        def status(path: str = ANALYZE, **more: str) -> int:
            params = {"key": key, "fields": MARK, **{name: each for name, each in more.items() if name == "key"}}
            headers = {name.title(): each for name, each in more.items() if name != "key"}
            answer = http.post(path, params=params, json=body, headers=headers)
            assert answer.json()["error"]["code"] == answer.status_code
            assert key not in answer.text
            assert MARK not in answer.text
            return answer.status_code

        # Before the sign-in of the workbench, and with its checks of Host and Origin.
        assert status() == 400  # nothing has been taught
        assert status(key=WRONG) == 401
        assert status("/v1alpha1/comments:list") == 404
        assert status(host="evil.example") == 403
        assert status(origin="https://evil.example") == 403
        assert http.get("/$discovery/rest", params={"key": key, "version": MARK}).status_code == 200
        metrics = http.get("/v1/metrics").text
        assert 'route="/v1alpha1/comments:analyze"' in metrics
    code, out, err = started.stop()
    assert code == 0
    assert '"/v1alpha1/comments:analyze"' in err
    assert "key_refused" in err
    files = [path for path in started.home.rglob("*") if path.is_file() and path.name != "first.key"]
    kept = {str(path): path.read_bytes() for path in files} | {
        "log": f"{out}{err}".encode(),
        "metrics": metrics.encode(),
    }
    for secret in (key, WRONG, MARK, "fields="):
        assert [name for name, raw in kept.items() if secret.encode() in raw] == []


def test_the_documented_proxy_does_not_write_it_when_the_service_is_away(tmp_path: Path) -> None:
    port, away = free_port(), free_port()
    with nginx(tmp_path / "nginx", port, apis=[away, away], workbenches=[away], away=True):
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE_S, trust_env=False) as http:
            assert http.post(ANALYZE, params={"key": WRONG}, content=b"{}").status_code == 502
            assert http.get("/$discovery/rest", params={"key": WRONG}).status_code == 502
            assert http.get(f"/v1/models?cursor={MARK}").status_code == 502
        written = {str(path): path.read_bytes() for path in (tmp_path / "nginx").rglob("*") if path.is_file()}
    assert [name for name, raw in written.items() if WRONG.encode() in raw] == []
    # What is logged elsewhere is logged: the test would see it.
    assert [name for name, raw in written.items() if MARK.encode() in raw] != []
