"""Nothing leaves the machine: every connection and every file of a whole session, as the kernel was asked for them.

One service is started under strace in an environment that asks for telemetry. It trains, scores, explains, runs a
batch, renders every page, and refuses a WebSocket of another origin; the command line and a script of the client with
a local preview run beside it, traced too. `TRAITBENCH_FETCH_URLS=off` holds for all of it. Variables that start
OpenTelemetry in other programs start nothing: only `TRAITBENCH_OTLP_URL` does (`tests/service/test_telemetry.py`).
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.app import tracing
from tests.app.processes import WITHOUT_DEMOS, Started, run, running
from tests.app.streamlit_socket import refusal, render
from tests.app.tracing import Call, Tracer, made, reached
from tests.conftest import make_draft, train
from tests.patience import PATIENCE_S
from tests.size import sized
from traitbench_app.shell.navigation import PAGES

ROOT = Path(__file__).parents[3]

# onnxruntime's telemetry uploads about nine seconds after its import; a session must last longer to show that.
LONGER_THAN_TELEMETRY_WAITS = 12

ADDRESS = "http://192.0.2.1/page"  # an address for documentation: nobody has it
HANDLE = "local.tone"
ACCEPTED = "application/json, text/event-stream"
FOREIGN = ("http://evil.example", "http://192.0.2.7:8501")

# A notebook's cells: the client, its display, and a preview on this machine, without the service.
NOTEBOOK = """
import sys
from traitbench.client import Traitbench
from traitbench.local import preview
with Traitbench(sys.argv[1], sys.argv[2]) as client:
    print(client.scores.score(sys.argv[3], "Thank you, dear friend.")._repr_html_()[:6])
    version = client.versions.get(sys.argv[3])
    print(preview.version_of(version).score(["Thank you, dear friend."])[0].composite)
sys.stdin.read()
"""
TELEMETRY_ON = {
    "ORT_DISABLE_TELEMETRY": "0",
    "STREAMLIT_BROWSER_GATHER_USAGE_STATS": "true",
    "FASTAPI_OTEL_AUTO_CONFIGURE": "true",
    "OTEL_EXPORTER_OTLP_ENDPOINT": "http://192.0.2.1:4318",
}


@dataclass
class Session:
    """What one traced session did, and every call that it made."""

    home: Path
    calls: list[Call]
    pages: dict[str, list[ForwardMsg]]
    foreign: list[int | None]
    answers: dict[str, tuple[int, str]]
    printed: dict[str, tuple[int, str, str]]


@pytest.fixture(scope="module")
def surroundings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with an empty home directory, an empty place for temporary files, and a working directory whose
    Streamlit settings ask for usage statistics; nothing in the environment says where else files could go."""
    folder = tmp_path_factory.mktemp("egress")
    for name in ("user", "temporary", "traces", "control"):
        (folder / name).mkdir()
    settings = folder / "working" / ".streamlit" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text("[browser]\ngatherUsageStats = true\n")
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ:
            if name.startswith(("XDG_", "ORT_", "STREAMLIT_", "HF_", "DBOS_", "OTEL_")) or name in (
                "CI",
                "DO_NOT_TRACK",
            ):
                patch.delenv(name)
        for name, value in TELEMETRY_ON.items():
            patch.setenv(name, value)
        patch.setenv("HOME", str(folder / "user"))
        patch.setenv("TMPDIR", str(folder / "temporary"))
        patch.chdir(folder / "working")
        yield folder


@pytest.fixture(scope="module")
def session(surroundings: Path) -> Session:
    """The session, when all of it has ended."""
    home, tracer = surroundings / "home", Tracer(surroundings / "traces")
    with running(home, under=tracer.under(), TRAITBENCH_FETCH_URLS="off", **sized(WITHOUT_DEMOS, {})) as started:
        ready = time.monotonic()
        with started.client() as client:
            make_draft(client, HANDLE)
            train(client, HANDLE)
        with notebook(started, tracer) as cells:
            answers, printed = answered(started), commanded(started, tracer)
            pages: dict[str, list[ForwardMsg]] = {
                page.name: render(started.port, page.url_path, f"?model={HANDLE}" if page.about_a_model else "")
                for page in PAGES
            }
            foreign = [refusal(started.port, origin=origin) for origin in FOREIGN]
            time.sleep(max(0.0, ready + LONGER_THAN_TELEMETRY_WAITS - time.monotonic()))
            out, err = cells.communicate(b"end\n", timeout=PATIENCE_S)
            printed["notebook"] = (cells.returncode, out.decode(), err.decode())
        assert started.stop()[0] == 0
    return Session(home, tracer.calls(), pages, foreign, answers, printed)


def test_nothing_beyond_this_machine_is_reached_and_no_name_is_asked_for(session: Session) -> None:
    seen = {call.name for call in session.calls}
    assert {"connect", "bind", "openat"} <= seen, "The calls to this machine itself are seen."
    assert list(reached(session.calls)) == []


def test_no_file_is_made_outside_the_home_folder(session: Session, surroundings: Path) -> None:
    paths = made(session.calls)
    assert str(session.home / "first.key") in paths
    assert sorted(path for path in paths if not kept_at_home(path, session.home, surroundings)) == []
    left = [path for name in ("user", "temporary") for path in (surroundings / name).rglob("*")]
    assert left == []
    assert os.listdir(surroundings / "working") == [".streamlit"]


def test_all_that_was_asked_for_was_done(session: Session) -> None:
    assert session.answers["score"][0] == 200
    assert '"explanation":{' in session.answers["explain"][1]
    assert "untrusted_text" in session.answers["mcp"][1]
    assert session.answers["batch"][1].count('"scores"') == 3
    assert [session.printed[verb][0] for verb in ("score", "models", "key", "mcp", "notebook")] == [0] * 5, (
        session.printed
    )
    assert "untrusted_" in session.printed["mcp"][1]
    assert session.printed["notebook"][1].startswith("<table"), session.printed["notebook"]
    for name, messages in session.pages.items():
        assert messages[-1].script_finished == ForwardMsg.FINISHED_SUCCESSFULLY, name
        assert any(each.WhichOneof("type") == "delta" for each in messages), name
        assert not any(each.delta.new_element.HasField("exception") for each in messages), name


def test_a_websocket_of_another_origin_is_refused(session: Session) -> None:
    assert session.foreign == [403] * len(FOREIGN)


def test_the_browser_is_not_told_to_send_usage_statistics(session: Session) -> None:
    news = [
        each.new_session for messages in session.pages.values() for each in messages if each.HasField("new_session")
    ]
    assert [each.config.gather_usage_stats for each in news] == [False] * len(news) != []


@pytest.mark.parametrize("asked", ["extract", "address", "compared", "feedback", "spaced"])
def test_with_fetching_off_an_address_is_refused_and_never_scored(session: Session, asked: str) -> None:
    status, body = session.answers[asked]
    error = json.loads(body)["error"]
    assert (status, error["code"], error["details"]) == (422, "url_not_fetchable", {"reason": "off"})
    assert "TRAITBENCH_FETCH_URLS is off" in error["message"]
    assert "Send the text itself" in error["message"]


def test_with_fetching_off_only_the_address_of_a_batch_fails(session: Session) -> None:
    lines = [json.loads(line) for line in session.answers["batch"][1].splitlines()]
    assert [line["error"]["code"] for line in lines if "error" in line] == ["url_not_fetchable"]
    assert "error" in lines[1]


@pytest.mark.parametrize("verb", ["extract", "score address"])
def test_with_fetching_off_the_command_line_says_why(session: Session, verb: str) -> None:
    code, out, err = session.printed[verb]
    assert (code, out) == (1, "")
    assert err.startswith("Error: This service does not fetch addresses (TRAITBENCH_FETCH_URLS is off).")


def test_another_value_stops_the_start_and_names_the_variable(tmp_path: Path) -> None:
    code, out, err = run(tmp_path / "home", TRAITBENCH_FETCH_URLS="maybe")
    assert (code, out) == (2, "")
    assert "TRAITBENCH_FETCH_URLS is 'maybe'; it must be on or off." in err
    assert not (tmp_path / "home").exists()


# ---- the tracer itself -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "seen"),
    [
        # Without a byte sent: a datagram socket's connect only notes where to.
        ("import socket as s; s.socket(s.AF_INET, s.SOCK_DGRAM).connect(('192.0.2.1', 9))", 1),
        ("import socket as s; s.socket(s.AF_INET6, s.SOCK_DGRAM).connect(('2001:db8::1', 9))", 1),
        ("import socket as s; s.socket(s.AF_INET, s.SOCK_DGRAM).connect(('127.0.0.53', 53))", 1),
        ("import socket as s; s.socket(s.AF_INET, s.SOCK_DGRAM).sendto(b'', ('127.0.0.1', 53))", 1),
        ("import socket as s; s.socket().bind(('0.0.0.0', 0))", 1),
        ("import subprocess, sys; subprocess.run([sys.executable, '-c', 'import socket as s;"
         " s.socket(s.AF_INET, s.SOCK_DGRAM).connect((\"192.0.2.1\", 9))'])", 1),
        ("import socket as s; s.socket().bind(('127.0.0.1', 0))", 0),
    ],
)  # fmt: skip
def test_the_tracer_sees_whatever_is_reached(tmp_path: Path, program: str, seen: int) -> None:
    assert len(list(reached(traced(tmp_path, program)))) == seen


def test_the_tracer_sees_the_files_of_telemetry_that_is_on(surroundings: Path, tmp_path: Path) -> None:
    paths = made(traced(tmp_path, "import onnxruntime", HOME=str(surroundings / "control")))
    assert any("onnxruntime.db" in path for path in paths), "The pinned onnxruntime has no telemetry to switch off."
    paths = made(
        traced(tmp_path / "door", "import traitbench.encoders.runtime", HOME=str(surroundings / "control" / "off"))
    )
    assert not any("onnxruntime.db" in path for path in paths)


def test_a_command_that_left_no_record_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "PATIENCE_S", 0)
    tracer = Tracer(tmp_path)
    tracer.under()
    with pytest.raises(AssertionError, match=r"no whole record of \['command 2'"):
        tracer.calls()


def test_a_strace_without_permission_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "strace"
    broken.write_text("#!/bin/sh\necho 'ptrace: Operation not permitted' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(AssertionError, match=r"Operation not permitted. It needs the permission to trace"):
        Tracer(tmp_path)
    broken.unlink()
    with pytest.raises(AssertionError, match="strace is missing"):
        Tracer(tmp_path)


# ---- what a session does ---------------------------------------------------------------------------------------------


def answered(started: Started) -> dict[str, tuple[int, str]]:
    """Status and body of requests to the service, with and without an address in the place of a text."""
    text, path = "Thank you, dear friend.", f"/v1/models/{HANDLE}"
    asked = {
        "score": (f"{path}/score", {"content": text}),
        "explain": (f"{path}/score", {"content": text, "explain": True}),
        "batch": (f"{path}/score/batch", {"contents": [text, ADDRESS, "Go away.", "Sit down, dear."]}),
        "extract": ("/v1/extract", {"url": ADDRESS}),
        "address": (f"{path}/score", {"content": ADDRESS}),
        "spaced": (f"{path}/score", {"content": f"\n {ADDRESS} "}),
        "compared": (f"{path}/compare", {"a": text, "b": ADDRESS}),
        "feedback": (f"{path}/score", {"content": ADDRESS, "feedback": {"warmth": 1.0}}),
    }
    key = {"Authorization": f"Bearer {(started.home / 'first.key').read_text('utf-8').strip()}"}
    with httpx.Client(base_url=started.base_url, headers=key, timeout=PATIENCE_S, trust_env=False) as http:
        responses = {name: http.post(path, json=body) for name, (path, body) in asked.items()}
        call = {"name": "explain", "arguments": {"handle": HANDLE, "text": text}}
        responses["mcp"] = http.post("/mcp", json=rpc("tools/call", call), headers={"Accept": ACCEPTED})
    return {name: (response.status_code, response.text) for name, response in responses.items()}


def commanded(started: Started, tracer: Tracer) -> dict[str, tuple[int, str, str]]:
    """Exit code and output of commands beside the service, traced too."""
    verbs = {
        "score": ("score", HANDLE, "Thank you."),
        "models": ("models", "list"),
        "key": ("key", "create", "--scope", "scoring", "--namespace", "local"),
        "extract": ("extract", ADDRESS),
        "score address": ("score", HANDLE, ADDRESS),
    }
    printed = {name: started.run(*arguments, under=tracer.under()) for name, arguments in verbs.items()}
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    greeting = json.dumps(rpc("initialize", hello))
    return printed | {"mcp": started.run("mcp", stdin=f"{greeting}\n", under=tracer.under())}


def rpc(method: str, params: Mapping[str, object]) -> dict[str, object]:
    """A request of the Model Context Protocol."""
    return {"jsonrpc": "2.0", "id": method, "method": method, "params": params}


@contextmanager
def notebook(started: Started, tracer: Tracer) -> Iterator[subprocess.Popen[bytes]]:
    """A Python that runs `NOTEBOOK`, traced too, until it is told to end."""
    arguments = (started.base_url, (started.home / "first.key").read_text("utf-8").strip(), HANDLE)
    command = [*tracer.under(), sys.executable, "-c", NOTEBOOK, *arguments]
    environment = {**os.environ, "TRAITBENCH_HOME": str(started.home)}
    with subprocess.Popen(
        command,
        env=environment,
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def traced(folder: Path, program: str, **environment: str) -> list[Call]:
    """The calls of a Python program."""
    folder.mkdir(exist_ok=True)
    tracer = Tracer(folder)
    subprocess.run(
        [*tracer.under(), sys.executable, "-c", program],
        env={**os.environ, **environment},
        cwd=ROOT,
        check=True,
        timeout=PATIENCE_S,
    )
    return tracer.calls()


def kept_at_home(path: str, home: Path, surroundings: Path) -> bool:
    """Whether a path is in the home folder, a temporary file that has to be gone at the end, or no file of ours."""
    inside = Path(path).is_relative_to(home) or Path(path).is_relative_to(surroundings / "temporary")
    # Python keeps the compiled form of a module beside it when it may write there.
    return inside or "/__pycache__/" in path or path.startswith(("/dev/", "/proc/self/"))
