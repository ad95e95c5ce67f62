"""The Operations page: one sentence on the state, what failed and how to go on, what runs, what is stored."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tests.conftest import Service, free_port, make_draft, own_service
from tests.contexts import fresh_settings
from tests.pages.drive import Workbench, buttons, end_badly, frame, hold_busy, local_workbench, press, words
from traitbench.client import Traitbench
from traitbench.contract.models import Progress
from traitbench.operations.operating import Listed, Overview
from traitbench.store.runs import Tally
from traitbench.store.workers import WorkerHeartbeat
from traitbench_app.operator import state as operations
from traitbench_app.operator.timeline import timeline

GIB = 2**30
WORKER, LOST = WorkerHeartbeat("local", 2.0), WorkerHeartbeat("local", 240.0)
SEEN = "The last one was seen 4 min ago."
IDLE = Overview(tally=(Tally("train", "succeeded", 5, 9.0),), workers=(WORKER,), oldest_wait_s=0.0, database_bytes=1)


RUN = {
    **{"id": "run_1", "handle": "local.x", "effort": "low", "status": "failed", "progress": None},
    **{"error_code": "internal_error", "error_message": "It failed.", "attempts": 1},
    **{"created_at": None, "finished_at": None},
}
A_RUN = Listed(**{**RUN, "kind": "train", "options": {}})  # type: ignore[arg-type]


def live(running: int, queued: int, *, wait: float = 0.0, workers: tuple[WorkerHeartbeat, ...] = (WORKER,)) -> Overview:
    tally = (Tally("train", "running", running, 0.0), Tally("train", "queued", queued, 0.0))
    return Overview(tally=tally, workers=workers, oldest_wait_s=wait, database_bytes=1)


@pytest.mark.parametrize(
    ("seen", "failed", "free", "sentence"),
    [
        (IDLE, 0, 9 * GIB, "Everything works: 2 trainings in the last 24 hours, nothing waits."),
        (IDLE, 2, 9 * GIB, "2 runs failed, and nothing has repaired them."),
        (live(1, 0), 1, 9 * GIB, "1 run failed, and nothing has repaired it. 1 run in progress."),
        (live(1, 0), 0, None, "Everything works. 1 run in progress."),
        (live(2, 1, wait=0.2), 0, 9 * GIB, "Everything works. 2 runs in progress, 1 waiting."),
        (live(1, 3, wait=40), 0, 9 * GIB, "Everything works. 1 run in progress, 3 waiting, the oldest for 40 s."),
        (live(0, 1), 0, 9 * GIB, "Everything works. 1 run about to start."),
        (live(0, 2, wait=300), 0, 9 * GIB, "2 runs are waiting, the oldest for 5 min, but none is running."),
        (live(0, 0, workers=()), 0, 9 * GIB, "No worker is running."),
        (live(0, 3, workers=(LOST,)), 1, 9 * GIB, "No worker is running. 3 runs are waiting. " + SEEN),
        (IDLE, 0, 2**20, "The disk is almost full: 1.0 MB are free."),
    ],
)
def test_the_title_is_the_state_and_what_is_wrong_has_a_way_out(
    seen: Overview, failed: int, free: int | None, sentence: str
) -> None:
    state = operations.state(seen, failed=failed, free_bytes=free, trainings=2)
    assert state.sentence == sentence
    assert bool(state.way_out) is not sentence.startswith("Everything works")


NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)


def test_the_timeline_has_a_row_for_each_kind_and_colours_only_what_failed() -> None:
    ended = replace(A_RUN, kind="train", created_at=NOW - timedelta(hours=3), finished_at=NOW - timedelta(hours=2))
    runs = [replace(ended, status="succeeded", error_code=None), replace(ended, kind="discover")]
    drawn = timeline(runs, NOW)
    assert "2 runs since 24 hours ago: Training 1 run; Discovering traits 1 run, 1 failed" in drawn
    assert drawn.count("--tb-bad") == 2, "the bar of the failed run and its word"
    assert "left:min(87.50%" in drawn
    assert "width:4.17%" in drawn
    assert timeline([replace(ended, created_at=NOW - timedelta(days=40))], NOW) == ""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service of its own: what other tests leave busy would show here."""
    with (
        fresh_settings(tmp_path_factory.mktemp("operations")) as settings,
        own_service(replace(settings, port=free_port())) as service,
    ):
        yield service


@pytest.fixture
def workbench(monkeypatch: pytest.MonkeyPatch, service: Service) -> Workbench:
    """The workbench of the machine that the service runs on, with a key for a namespace of its own."""
    return local_workbench(monkeypatch, service)


def test_an_idle_service_says_so_with_its_numbers(workbench: Workbench) -> None:
    at = workbench.open("operations")
    assert at.title[0].value.startswith("Everything works: 0 trainings")
    for fact in ("Software", "Database", "Free disk", "Encoder", "Workers", "Backups"):
        assert f"**{fact}**" in words(at)
    assert not at.expander
    assert "last heartbeat" in words(press(at, "operations.figures"))


def test_a_run_is_followed_and_when_it_has_failed_it_is_started_again(workbench: Workbench, service: Service) -> None:
    handle = "local.operated"
    with Traitbench(service.base_url, service.settings.service_key()) as client:
        make_draft(client, handle)
        progress = Progress(phase="encoding", done=1, total=4, fraction=0.25, elapsed_s=1.0, eta_s=3.0)
        run_id = hold_busy(service.context, handle, progress, kind="discover")
        at = workbench.open("operations")
        assert "1 run in progress" in at.title[0].value
        row = frame(at, "State").iloc[0]
        assert (row["Model"], row["Run"], row["State"]) == (handle, "Discovering traits", "running, 25 %")
        end_badly(service.context, run_id, "It failed for a *reason*.")
        at = workbench.open("operations")
        assert "It failed for a \\*reason\\*\\." in words(at)
        assert run_id in words(at)
        press(at, f"operations.retry.{run_id}")
        assert [toast.value for toast in at.toast if "was started again" in toast.value]
        model = client.models.wait(handle)
        assert model.last_operation is not None
        assert (model.last_operation.kind, model.last_operation.status) == ("discover", "succeeded")
        assert model.last_operation.run_id != run_id
        assert not buttons(workbench.open("operations"), f"operations.retry.{run_id}")


def test_a_refusal_to_start_again_is_shown(workbench: Workbench, service: Service) -> None:
    handle = "local.refused"
    with Traitbench(service.base_url, service.settings.service_key()) as client:
        client.models.create(handle)
        run_id = hold_busy(service.context, handle, None, kind="discover")
        end_badly(service.context, run_id, "It failed.")
        at = workbench.open("operations")
        press(at, f"operations.retry.{run_id}")
        assert "Discovery needs" in at.error[0].value
        client.models.delete(handle)
    assert not buttons(workbench.open("operations"), f"operations.retry.{run_id}")


def test_only_its_owner_starts_it_again(
    workbench: Workbench, service: Service, client: Traitbench, namespace: str
) -> None:
    handle = f"{namespace}.foreign"
    make_draft(client, handle)
    end_badly(service.context, run_id := hold_busy(service.context, handle, None), "It failed.")
    at = workbench.open("operations")
    assert "key that owns the model's namespace" in words(at)
    assert not buttons(at, f"operations.retry.{run_id}")
    client.models.delete(handle)


def test_with_a_remote_service_the_page_says_where_to_look(monkeypatch: pytest.MonkeyPatch, service: Service) -> None:
    at = Workbench(monkeypatch, service, service.issue()).open("operations")
    assert "Operations are shown where the service runs" in words(at)


FIT = {"reoptimize_params": False, "use_labels": True, "encoder": None}
REFIT = {**FIT, "reoptimize_params": True}


@pytest.mark.parametrize(
    ("kind", "options", "asked"),
    [
        ("train", {"reoptimize": False}, ("models.train", FIT)),
        ("train", {"use_labels": False}, ("models.train", {**FIT, "use_labels": False})),
        ("retune", {"reoptimize": True}, ("models.train", REFIT)),
        ("retune", {"reoptimize": True, "encoder": "static"}, ("models.train", {**REFIT, "encoder": "static"})),
        ("discover", {"max_traits": 64}, ("traits.discover", {})),
        ("synthesize", {"synth_type": "diversify"}, ("samples.synthesize", {"synth_type": "diversify"})),
    ],
)
def test_it_is_asked_for_as_it_was(kind: str, options: dict[str, object], asked: tuple[str, dict[str, object]]) -> None:
    calls = []

    class Verb:
        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, name: str) -> "Verb":
            return Verb(f"{self._name}.{name}".lstrip("."))

        def __call__(self, handle: str, **fields: object) -> None:
            calls.append((self._name, handle, fields))

    operations.retry(Verb(""), Listed(**{**RUN, "kind": kind, "options": options}))  # type: ignore[arg-type]
    assert calls == [(asked[0], "local.x", {"effort": "low", **asked[1]})]
