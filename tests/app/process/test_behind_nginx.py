"""Two API processes, their workers, one more worker and a workbench behind nginx, on one PostgreSQL."""

import json
import ssl
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect
from websockets.typing import Origin

from tests.app.certificates import certified
from tests.app.cluster import Cluster, cluster, nginx, signing_in_at
from tests.app.openid_provider import providing
from tests.app.processes import Started, running, serving
from tests.conftest import free_port, make_draft, train
from tests.contexts import fresh_settings, on
from tests.patience import PATIENCE_S
from traitbench.client import Traitbench
from traitbench.contract.samples import SampleInput

# Eight processes. Two services on one PostgreSQL are in `tests/faults/test_two_services.py`, which always runs.
pytestmark = pytest.mark.soak


@pytest.fixture(scope="module")
def behind(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("cluster")
    with (
        on("postgresql"),
        fresh_settings(folder / "settings") as settings,
        cluster(folder, settings, services=2, workers=1, workbench=True) as behind,
    ):
        yield behind


def _train(client: Traitbench, handle: str) -> None:
    make_draft(client, handle)
    client.models.train(handle, effort="low")


def test_versions_count_up_whichever_process_answers(behind: Cluster) -> None:
    with behind.client() as client:
        _train(client, "local.counted")
        assert client.models.wait("local.counted").version_no == 1
        for number in (2, 3):
            assert train(client, "local.counted", reoptimize_params=True).version_no == number
        made = client.versions.list("local.counted").items
        assert [version.version_no for version in made] == [3, 2, 1]
        assert len({version.run_id for version in made}) == 3
    for each in behind.services:
        with Traitbench(each.base_url, behind.secret) as direct:
            assert direct.models.get("local.counted").version_no == 3
            assert direct.scores.score("local.counted", "Thank you.").scores


def test_a_batch_streams_through(behind: Cluster) -> None:
    texts = [f"Thank you, dear friend, for letter number {number}." for number in range(800)]
    headers = {"Authorization": f"Bearer {behind.secret}"}
    with httpx.Client(base_url=behind.base_url, headers=headers, timeout=PATIENCE_S, trust_env=False) as http:
        started = time.monotonic()
        with http.stream("POST", "/v1/models/local.counted/score/batch", json={"contents": texts}) as answer:
            assert answer.status_code == 200
            arrived = [(json.loads(line)["index"], time.monotonic() - started) for line in answer.iter_lines() if line]
    assert [index for index, _ in arrived] == list(range(len(texts)))
    # Held back by a buffer, the first would come with the last.
    assert arrived[0][1] < arrived[-1][1] / 2


def test_a_large_body_is_the_services_to_judge_and_is_written_nowhere(behind: Cluster) -> None:
    headers = {"Authorization": f"Bearer {behind.secret}", "Content-Type": "application/json"}
    with httpx.Client(base_url=behind.base_url, headers=headers, timeout=PATIENCE_S, trust_env=False) as http:
        answer = http.post("/v1/models/local.counted/score", content=b'{"content":"' + b"a " * 6_000_000 + b'"}')
        assert (answer.status_code, answer.json()["error"]["code"]) == (413, "body_too_large")
        answer = http.post("/v1/models/import", content=json.dumps({"readme": "a " * 12_000_000}).encode())
        assert (answer.status_code, answer.json()["error"]["code"]) == (422, "validation_failed")
    assert [path for path in behind.nginx.rglob("*") if path.is_file() and path.parent != behind.nginx] == []


def test_the_workbench_is_live_through_it(behind: Cluster) -> None:
    assert behind.workbench is not None
    assert _visit(httpx.URL(behind.base_url).port, "127.0.0.1", behind.secret) == behind.workbench.port


def test_a_person_stays_with_one_of_two_workbenches(behind: Cluster, tmp_path: Path) -> None:
    port, apis = free_port(), [each.port for each in behind.services]
    assert behind.workbench is not None
    with running(tmp_path / "second", **signing_in_at(behind.base_url)) as second:
        ports = [behind.workbench.port, second.port]
        with nginx(tmp_path / "sticky", port, apis=apis, workbenches=ports):
            addresses = [f"127.0.{network}.1" for network in range(1, 13)]
            seen = {address: _visit(port, address, behind.secret) for address in addresses}
    assert set(seen.values()) == set(ports), seen


def _visit(port: int | None, address: str, secret: str) -> int:
    """Sign in from an address, ask for pages over new connections, open a page's WebSocket; the port of the workbench
    that the session lives in."""
    base_url = f"http://127.0.0.1:{port}"
    transport = httpx.HTTPTransport(local_address=address)
    with httpx.Client(base_url=base_url, transport=transport, headers={"Connection": "close"}) as visitor:
        answer = visitor.post("/sign-in", data={"token": secret}, headers={"Origin": base_url})
        assert answer.status_code == 303
        # The session is known to the process that began it, and to no other.
        assert [visitor.get("/_stcore/health").status_code for _ in range(6)] == [200] * 6
        assert visitor.get("/").status_code == 200
        [(name, token)] = [each for each in visitor.cookies.items() if each[0].startswith("traitbench_session_")]
    with connect(
        f"ws://127.0.0.1:{port}/_stcore/stream",
        origin=Origin(base_url),
        additional_headers={"Cookie": f"{name}={token}"},
        proxy=None,
        source_address=(address, 0),
    ) as page:
        asked = BackMsg()
        asked.rerun_script.query_string = ""
        page.send(asked.SerializeToString())
        shown = ForwardMsg()
        shown.ParseFromString(page.recv(timeout=PATIENCE_S))
        assert shown.WhichOneof("type") is not None
    return int(name.rpartition("_")[2])


@pytest.fixture(scope="module")
def signing_in(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    """A workbench with an OpenID provider, which lets Alice in."""
    home = tmp_path_factory.mktemp("openid")
    (home / "people.toml").write_text('["alice@example.org"]\nscope = "scoring"\nnamespaces = ["local"]\n')
    with (
        providing() as provider,
        serving(home, **provider.environment, TRAITBENCH_ALLOWED_HOSTS="bench.example.org") as started,
    ):
        yield started


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_person_signs_in_through_openid(signing_in: Started, tmp_path: Path, scheme: str) -> None:
    port, own = free_port(), [signing_in.port]
    certificate = certified(tmp_path) if scheme == "https" else None
    host = f"{'bench.example.org' if certificate else '127.0.0.1'}:{port}"
    trusted = ssl.create_default_context(cafile=certificate) if certificate else False
    with (
        nginx(tmp_path / "nginx", port, apis=own * 2, workbenches=own, certificate=certificate),
        httpx.Client(base_url=f"{scheme}://127.0.0.1:{port}", verify=trusted, trust_env=False) as visitor,
    ):
        # As a browser that was given the name, and that comes back from the page of the provider.
        visitor.headers.update({"Host": host, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"})
        started = visitor.get("/sign-in/start", headers={"Sec-Fetch-Site": "same-origin"})
        away = httpx.URL(started.headers["location"])
        assert away.params["redirect_uri"] == f"{scheme}://{host}/sign-in/callback"
        back = httpx.URL(httpx.get(away, trust_env=False).headers["location"])
        ended = visitor.get(back.raw_path.decode(), headers={"Sec-Fetch-Site": "cross-site"})
        assert ended.status_code == 200, ended.text
        kept = [
            each for each in (*started.headers.get_list("set-cookie"), *ended.headers.get_list("set-cookie")) if each
        ]
        assert len(kept) == 3
        assert all("HttpOnly" in each and ("Secure" in each) == (scheme == "https") for each in kept), kept
        assert visitor.get("/_stcore/health").status_code == 200
        visitor.cookies.clear()
        assert visitor.get("/_stcore/health").status_code == 401


def test_a_worker_and_an_api_process_may_end_in_the_middle(behind: Cluster) -> None:
    with behind.client() as client:
        handles = [f"local.many-{number}" for number in range(4)]
        for handle in handles:
            make_draft(client, handle)
            more = [SampleInput(trait="warmth", text=f"{number} more", quality=number % 2) for number in range(100)]
            client.samples.add(handle, more)
            client.models.train(handle, effort="low")
        behind.workers[0].terminate()
        behind.services[0].stop()
        for handle in handles:
            model = client.models.wait(handle, timeout=PATIENCE_S)
            assert (model.state, model.version_no) == ("ready", 1)
            [version] = client.versions.list(handle).items
            assert model.last_operation is not None
            assert version.run_id == model.last_operation.run_id
        assert all(client.scores.score(handle, "Thank you.").scores for handle in handles)
    assert behind.workers[0].communicate(timeout=PATIENCE_S) == ("", "")
