"""What most tests of pages begin with: a session of the workbench, and a draft of this test's own."""

import threading
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from streamlit import config
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import app_test, local_script_runner

from tests.conftest import Service, Trained, make_draft, train
from tests.pages.drive import Workbench, add_version
from tests.patience import PATIENCE_S
from traitbench.client import Traitbench
from traitbench.contract.bundles import Bundle
from traitbench.contract.traits import TraitInput
from traitbench_app.workspace import background, pool


@pytest.fixture(scope="session", autouse=True)
def _what_a_server_does_once_is_done_once() -> Iterator[None]:
    """Streamlit's `AppTest` is slow where a server is not.

    Every new session reads the metadata of all installed packages (0.1 s), every run compiles its pages again, and the
    end of a run is looked for a thousand times a second. Nor does it read our `config.toml`, in which no statistics of
    use are gathered and no page is searched for expressions that are written out.
    """
    config.set_option("browser.gatherUsageStats", False)
    config.set_option("runner.magicEnabled", False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        compiled = cache(ScriptCache)
        patch.setattr(app_test, "ScriptCache", compiled)
        patch.setattr(local_script_runner, "ScriptCache", compiled)
        patch.setattr(local_script_runner, "require_widgets_deltas", _wait_for_the_end)
        yield


@pytest.fixture(scope="session", autouse=True)
def _no_run_of_a_page_raises() -> Iterator[None]:
    run = app_test.AppTest._run

    def checked(at: app_test.AppTest, *arguments: Any, **named: Any) -> app_test.AppTest:
        run(at, *arguments, **named)
        assert not at.exception
        return at

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(app_test.AppTest, "_run", checked)
        yield


def _wait_for_the_end(runner: local_script_runner.LocalScriptRunner, timeout: float = 3) -> None:
    if runner._script_thread is not None:
        runner._script_thread.join(timeout)
    _require_widgets_deltas(runner, timeout)


_require_widgets_deltas = local_script_runner.require_widgets_deltas


@pytest.fixture(scope="module", autouse=True)
def _no_work_goes_on_behind_other_tests() -> Iterator[None]:
    """Label mode works for a minute after its page, with the settings of the moment: those of another test by then."""
    yield
    for place in list(pool._SESSIONS):
        pool._forget_sessions(place.service, place.model)
    for thread in threading.enumerate():
        if thread.name == "traitbench-label":
            thread.join(PATIENCE_S)


@pytest.fixture(autouse=True)
def _no_batch_is_left() -> Iterator[None]:
    yield
    for work_id in background.ids():
        background.discard(work_id)


@pytest.fixture
def workbench(monkeypatch: pytest.MonkeyPatch, service: Service, namespace: str) -> Workbench:
    """The workbench of somebody who may change models of this test and of `trained` and `twice`."""
    return Workbench(monkeypatch, service, service.issue(namespaces=(namespace, "trained", "twice")))


@pytest.fixture
def own_workbench(monkeypatch: pytest.MonkeyPatch, service: Service, namespace: str) -> Workbench:
    """The workbench of somebody who sees nothing but this test's namespace."""
    return Workbench(monkeypatch, service, service.issue(namespaces=(namespace,)))


@pytest.fixture
def scorer(monkeypatch: pytest.MonkeyPatch, service: Service, namespace: str) -> Workbench:
    """The workbench of somebody whose key may score but not change models."""
    return Workbench(monkeypatch, service, service.issue("scoring", (namespace, "trained", "twice")))


@pytest.fixture
def new(client: Traitbench, namespace: str) -> str:
    """A draft without a trait."""
    return client.models.create(f"{namespace}.new").handle


@pytest.fixture
def empty(client: Traitbench, namespace: str) -> str:
    """A draft with one trait and no sample."""
    client.models.create(f"{namespace}.empty")
    client.traits.add(f"{namespace}.empty", [TraitInput(name="Warmth", positive_label="warm", negative_label="cold")])
    return f"{namespace}.empty"


@pytest.fixture
def draft(client: Traitbench, namespace: str) -> str:
    """A draft with one trait and ten samples at each pole, in which nothing stands out but how few they are."""
    make_draft(client, f"{namespace}.tone")
    return f"{namespace}.tone"


@pytest.fixture(scope="session")
def bundle(trained: Trained) -> Bundle:
    """The exported model that `ready` is imported from."""
    return trained.client.models.export(trained.handle)


@pytest.fixture
def ready(client: Traitbench, bundle: Bundle, namespace: str) -> str:
    """A trained model of this test's own: one trait, twenty samples, v1."""
    return client.models.import_(bundle, handle=f"{namespace}.ready").handle


@pytest.fixture(scope="session")
def twice(service: Service) -> Iterator[Trained]:
    """A model with two versions that tests only read, v2 active."""
    with Traitbench(service.base_url, service.issue(namespaces=("twice",))) as client:
        handle = "twice.tone"
        make_draft(client, handle)
        train(client, handle)
        with pytest.MonkeyPatch.context() as environment:
            service.surround(environment)
            assert add_version(service.context, handle, client) == 2
        yield Trained(handle, client)
