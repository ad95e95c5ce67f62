"""Two API processes, their workers, one more worker and a workbench behind nginx, on one PostgreSQL."""

import json
import time
from collections.abc import Iterator

import httpx
import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect

from core.client import Traitbench
from core.contract.samples import SampleInput
from tests.app.cluster import Cluster, cluster
from tests.benches import fresh_settings, on
from tests.conftest import make_draft


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
            client.models.train("local.counted", effort="low", reoptimize_params=True)
            assert client.models.wait("local.counted").version_no == number
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
    with httpx.Client(base_url=behind.base_url, headers=headers, timeout=60, trust_env=False) as http:
        begun = time.monotonic()
        with http.stream("POST", "/v1/models/local.counted/score/batch", json={"contents": texts}) as answer:
            assert answer.status_code == 200
            arrived = [(json.loads(line)["index"], time.monotonic() - begun) for line in answer.iter_lines() if line]
    assert [index for index, _ in arrived] == list(range(len(texts)))
    # Held back by a buffer, the first would come with the last.
    assert arrived[0][1] < arrived[-1][1] / 2


def test_a_large_body_is_the_services_to_judge_and_is_written_nowhere(behind: Cluster) -> None:
    headers = {"Authorization": f"Bearer {behind.secret}", "Content-Type": "application/json"}
    with httpx.Client(base_url=behind.base_url, headers=headers, timeout=60, trust_env=False) as http:
        answer = http.post("/v1/models/local.counted/score", content=b'{"content":"' + b"a " * 6_000_000 + b'"}')
        assert (answer.status_code, answer.json()["error"]["code"]) == (413, "body_too_large")
        answer = http.post("/v1/models/import", content=json.dumps({"readme": "a " * 12_000_000}).encode())
        assert (answer.status_code, answer.json()["error"]["code"]) == (422, "validation_failed")
    assert [path for path in behind.nginx.rglob("*") if path.is_file() and path.parent != behind.nginx] == []


def test_the_workbench_is_live_through_it(behind: Cluster) -> None:
    address = behind.base_url.removeprefix("http://")
    assert httpx.get(behind.base_url, trust_env=False).status_code == 200
    with connect(f"ws://{address}/_stcore/stream", origin=behind.base_url, proxy=None) as page:  # type: ignore[arg-type]
        asked = BackMsg()
        asked.rerun_script.query_string = ""
        page.send(asked.SerializeToString())
        shown = ForwardMsg()
        shown.ParseFromString(page.recv(timeout=30))
        assert shown.WhichOneof("type") is not None


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
            model = client.models.wait(handle, timeout=120)
            assert (model.state, model.version_no) == ("ready", 1)
            [version] = client.versions.list(handle).items
            assert model.last_operation is not None
            assert version.run_id == model.last_operation.run_id
        assert all(client.scores.score(handle, "Thank you.").scores for handle in handles)
    assert behind.workers[0].communicate(timeout=30) == ("", "")
