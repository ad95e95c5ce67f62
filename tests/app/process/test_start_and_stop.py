"""The `traitbench` process from its first start to its end, gentle or not."""

import json
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.app.processes import WITHOUT_DEMOS, Started, eventually, gone, run, running, serving, starting
from tests.cli.asking import call
from tests.conftest import make_draft, train
from tests.contexts import ENCODER
from tests.patience import PATIENCE_S


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home folder that no process has seen yet."""
    return tmp_path_factory.mktemp("home") / "traitbench"


@pytest.fixture(scope="module")
def started(home: Path) -> Iterator[Started]:
    """The first start on that home; the demo models of a first start are in `tests/browser/test_demo_models.py`."""
    with running(home, **WITHOUT_DEMOS, TRAITBENCH_ENCODER=ENCODER or "") as process:
        yield process


def beside(started: Started, *arguments: str, **environment: str) -> tuple[int, str, str]:
    """A command within this process, on the home and port of the one that was started."""
    return call(started.home, *arguments, **{"TRAITBENCH_PORT": str(started.port), **environment})


def test_two_lines_are_printed_the_address_and_the_home_folder(started: Started) -> None:
    assert started.printed == [f"Traitbench is ready: {started.base_url}", f"Home folder: {started.home}"]


def test_one_port_serves_the_workbench_and_the_api(started: Started) -> None:
    status, content_type, body = started.get("/")
    assert (status, content_type.partition(";")[0]) == (200, "text/html")
    assert "<title>Traitbench</title>" in body
    status, content_type, body = started.get("/v1/health")
    assert (status, content_type, json.loads(body)["status"]) == (200, "application/json", "ok")


@pytest.mark.parametrize("path", ["/v1", "/v1/", "/v1//etc", "/v1/models/../..", "/v1/models/a%5Cb", "/v1/no/such"])
def test_everything_below_v1_is_the_apis_to_answer(started: Started, path: str) -> None:
    with socket.create_connection(("127.0.0.1", started.port)) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        answer = connection.makefile("rb").read().decode()
    assert "x-request-id: req_" in answer.lower()
    assert '"error"' in answer


def test_no_website_is_allowed_to_control_a_page_by_messages(started: Started) -> None:
    """Streamlit's own list has the sites of a hosting service."""
    assert json.loads(started.get("/_stcore/host-config")[2])["allowedOrigins"] == []


def test_the_home_is_private_and_its_key_is_the_workbenchs(started: Started) -> None:
    assert oct(started.home.stat().st_mode & 0o777) == "0o700"
    assert oct((started.home / "first.key").stat().st_mode & 0o777) == "0o600"
    with started.client() as client:
        assert client.models.list(namespace="local").items == []


def test_the_port_in_use_is_named_with_a_way_out(started: Started, tmp_path: Path) -> None:
    code, out, err = run(tmp_path / "another", TRAITBENCH_PORT=str(started.port))
    assert (code, out) == (1, "")
    assert f"Port {started.port} on 127.0.0.1 cannot be used" in err
    assert "TRAITBENCH_PORT" in err


def test_a_second_process_on_the_same_home_is_refused_and_so_is_a_restore(started: Started, tmp_path: Path) -> None:
    code, out, err = run(started.home)
    assert (code, out) == (1, "")
    assert f"Another Traitbench uses the home folder {started.home}" in err
    assert beside(started, "backup", str(tmp_path / "all.backup"))[0] == 0
    code, out, err = beside(started, "restore", str(tmp_path / "all.backup"), "--replace")
    assert (code, out) == (1, "")
    assert f"Another Traitbench uses the home folder {started.home}" in err


def test_keys_are_managed_beside_the_running_service(started: Started) -> None:
    code, secret, _ = beside(started, "key", "create", "--scope", "scoring", "--namespace", "local")
    assert code == 0
    given = {"TRAITBENCH_API_KEY": secret.strip()}
    assert beside(started, "models", "list", **given)[0] == 0
    key_id = beside(started, "key", "list")[1].splitlines()[-1].split()[0]
    assert beside(started, "key", "revoke", key_id)[0] == 0
    code, _, err = beside(started, "models", "list", **given)
    assert (code, "API key" in err) == (1, True)


def test_with_a_remote_service_there_is_the_workbench_alone(started: Started, tmp_path: Path) -> None:
    with running(tmp_path / "home", TRAITBENCH_API_URL=started.base_url) as workbench:
        assert workbench.printed == [
            f"Traitbench is ready: {workbench.base_url}",
            f"Service: {started.base_url}",
        ]
        assert workbench.get("/_stcore/health")[0] == 200
        assert workbench.children() == []
        assert workbench.stop() == (0, "", "")
    assert not (tmp_path / "home").exists()


def test_a_worker_that_dies_is_replaced(started: Started) -> None:
    [worker] = started.children()
    os.kill(worker, signal.SIGKILL)
    assert eventually(lambda: started.children() not in ([worker], []))
    with started.client() as client:
        make_draft(client, "local.after-all")
        train(client, "local.after-all")


def test_a_killed_process_takes_its_worker_along_and_leaves_no_model_busy(started: Started) -> None:
    [worker] = started.children()
    with started.client() as client:
        make_draft(client, "local.cut-off")
        client.models.train("local.cut-off", effort="max")
    started.process.kill()
    started.process.communicate()
    assert eventually(lambda: gone(worker))

    with serving(started.home) as again:
        with again.client() as client:
            model = client.models.wait("local.cut-off", timeout=PATIENCE_S)
        assert model.state in ("ready", "failed")
        [worker] = again.children()
        assert again.stop(signal.SIGTERM) == (0, "", "")
        assert eventually(lambda: gone(worker))


def test_ctrl_c_ends_the_api_alone(home: Path) -> None:
    with serving(home, "serve") as api:
        assert api.printed == [f"Traitbench is ready: {api.base_url}/v1", f"Home folder: {home}"]
        [worker] = api.children()
        assert api.get("/v1/health")[0] == 200
        assert api.stop(signal.SIGINT) == (0, "", "")
        assert eventually(lambda: gone(worker))


def test_a_start_beyond_this_machine_needs_a_sign_in_or_the_word(tmp_path: Path) -> None:
    code, out, err = run(tmp_path, TRAITBENCH_HOST="0.0.0.0")
    assert (code, out) == (2, "")
    assert [way in err for way in ("TRAITBENCH_SIGN_IN=token", "TRAITBENCH_HOST=127.0.0.1", "--open")] == [True] * 3
    assert not list(tmp_path.iterdir())


def test_a_signal_before_it_is_ready_ends_it_as_cleanly(tmp_path: Path) -> None:
    with starting(tmp_path / "home") as process:
        assert eventually((tmp_path / "home" / "lock").exists)
        process.send_signal(signal.SIGTERM)
        assert process.communicate() == ("", "")
        assert process.returncode == 0
