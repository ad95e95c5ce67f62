"""What only the default encoder has, or what is measured on it: faster modes, and other encoders to compare it with."""

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.app.processes import eventually
from tests.conftest import COLD, WARM, Service, Trained, free_port, make_draft, not_none, own_service, train
from tests.contexts import fresh_settings
from tests.pages.drive import Workbench, add_version, frame, labelled, plain, press, words
from traitbench.client import Traitbench
from traitbench.contract.samples import SampleInput
from traitbench.contract.traits import TraitInput
from traitbench_app.versions import encoders
from traitbench_app.workspace import background, batches

HANDLE = "local.tone"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service on the default encoder."""
    with (
        fresh_settings(tmp_path_factory.mktemp("default"), encoder=None) as settings,
        own_service(replace(settings, port=free_port())) as service,
    ):
        yield service


@pytest.fixture(scope="module")
def trained(service: Service) -> Iterator[Trained]:
    """A model with one version of it."""
    with Traitbench(service.base_url, service.issue()) as client:
        make_draft(client, HANDLE)
        train(client, HANDLE)
        yield Trained(HANDLE, client)


@pytest.fixture
def workbench(monkeypatch: pytest.MonkeyPatch, service: Service) -> Workbench:
    return Workbench(monkeypatch, service, service.issue())


def test_each_mode_of_a_batch_says_what_it_costs_and_the_link_names_it(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("batch", model=trained.handle, mode="static")
    assert at.radio(key="batch.mode").value == "static"
    full, *faster = at.radio(key="batch.mode").proto.captions
    assert "the same scores as the Score page" in full
    assert len(faster) == 2
    assert all("times as fast" in caption for caption in faster)


def test_a_batch_runs_beside_the_page_and_is_stopped_and_gone_on_with(workbench: Workbench, trained: Trained) -> None:
    """On the light encoder it would end before it could be stopped."""
    at = workbench.open("batch", model=trained.handle)
    at.segmented_control(key="batch.from").set_value("Pasted lines").run()
    lines = "\n".join(f"{WARM[0]} This is number {number}." for number in range(400))
    at.text_area(key="batch.pasted").set_value(lines).run()
    at.button(key="batch.start").click().run()
    assert "of 400 scored" in at.header[0].value
    assert "Stopped after" in words(press(at, "batch.stop"))
    press(at, "batch.go_on")
    [batch_id] = background.ids()
    assert eventually(lambda: getattr(batches.find(batch_id), "state", "") == "done")
    assert "400 rows scored with v1" in words(at.run())


def test_a_comparison_of_texts_runs_beside_the_page(workbench: Workbench, service: Service, trained: Trained) -> None:
    bundle = trained.client.models.export(trained.handle)
    handle = trained.client.models.import_(bundle, handle="local.compared").handle
    add_version(service.context, handle, trained.client)
    at = workbench.open("versions", model=handle, view="Compare", a="v1", b="v2")
    at.segmented_control(key=f"versions.from:{handle}").set_value("Pasted lines").run()
    at.text_area(key="batch.pasted").set_value("\n".join(f"{WARM[0]} {number}" for number in range(400))).run()
    press(at, "versions.compare")
    assert "This continues while you visit other pages." in words(at)
    press(at, "versions.comparison.stop")


def test_labels_that_follow_nothing_are_named_with_what_a_model_gets(workbench: Workbench, trained: Trained) -> None:
    handle = trained.client.models.create("local.mixed").handle
    trained.client.traits.add(handle, [TraitInput(name="Warmth")])
    # Two texts at one pole and two at the other in turn, warm ones and cold ones alike.
    mixed = [(text, float(number % 4 < 2)) for half in (WARM, COLD) for number, text in enumerate(half)]
    trained.client.samples.add(handle, [SampleInput(trait="warmth", text=text, quality=q) for text, q in mixed])
    at = workbench.open("samples", model=handle, task="Check")
    assert "Positive and negative texts look alike: a model that has not seen them gets only" in plain(at)


def test_details_say_what_the_faster_modes_cost(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("versions", model=trained.handle, view="Details", version="v1", modes="true")
    figures = trained.client.versions.get(trained.handle, "v1").metrics.traits["warmth"]
    closed = workbench.open("versions", model=trained.handle, view="Details", version="v1")
    assert not any("Mode" in each.value for each in closed.dataframe)
    modes = frame(at, "Mode")
    assert modes["Mode"].tolist() == ["Full", "Layer 6 only", "Static"]
    price = (figures.modes["layer6"].auroc or 0.0) - (figures.auroc or 0.0)
    assert modes["Against full"].tolist()[1] == pytest.approx(price)
    assert re.search(r"\*\*Layer 6 only\*\*: (as good|a little worse|worse)", words(at))


def test_a_model_of_the_earlier_default_is_compared_with_the_new_one_and_switched(
    workbench: Workbench, trained: Trained
) -> None:
    client, handle = trained.client, "local.earlier"
    make_draft(client, handle)
    train(client, handle, encoder="minilm-full")
    at = workbench.open("versions", model=handle, view="Encoders")
    assert "Reads 20 texts in this workbench and stores nothing." in words(at)
    with encoders._one_at_a_time:
        labelled(at.button, "Compare encoders").click().run()
    assert "Another comparison is running" in words(at)
    assert not at.dataframe

    labelled(at.button, "Compare encoders").click().run()
    figures, speeds = (each.value for each in at.dataframe)
    assert figures["Encoder"].tolist() == ["minilm-full", "multilingual"]
    assert figures["Trait"].tolist() == ["Warmth", "Warmth"]
    assert figures["Verdict"].tolist()[0] == "current"
    assert figures["Verdict"].tolist()[1] in ("better", "no difference shown")
    assert speeds["Encoder"].tolist() == ["minilm-full", "multilingual"]
    assert all(speeds["ms a text"] > 0)
    assert "keep minilm-full" in plain(at) or "multilingual is worth switching to" in plain(at)

    labelled(at.button, "Switch to this encoder").click().run()
    assert "encodes 20 texts with multilingual and learns every trait again" in plain(at)
    assert "v1 keeps its encoder, and you can put it in use again" in plain(at)
    assert "Later trainings keep multilingual" in plain(at)
    at.button(key="versions.encoders.switch.yes").click().run()
    model = client.models.wait(handle)
    assert (model.state, model.version_no) == ("ready", 2)
    assert _encoder(client, handle).startswith("multilingual-")
    assert client.scores.score(handle, "thank you").metadata.version_id == "v2"
    assert client.scores.score(f"{handle}@v1", "thank you").metadata.version_id == "v1"
    again = workbench.open("versions", model=handle, view="Encoders")
    assert [each.label for each in again.button_group][-1] == "Compare multilingual, the current encoder, with"


def test_a_model_of_the_default_can_be_switched_to_the_earlier_one(workbench: Workbench, trained: Trained) -> None:
    client, handle = trained.client, "local.faster"
    make_draft(client, handle)
    train(client, handle)
    at = workbench.open("versions", model=handle, view="Encoders")
    pills = at.button_group(key="versions.encoders.others")
    assert pills.options == ["minilm-full", "minilm", "static", "ngrams"]
    pills.set_value(["minilm-full"])
    labelled(at.button, "Compare encoders").click().run()
    assert at.dataframe[0].value["Encoder"].tolist() == ["multilingual", "minilm-full"]
    press(at, "versions.encoders.switch.minilm-full")
    at.button(key="versions.encoders.switch.yes").click().run()
    assert client.models.wait(handle).version_no == 2
    assert _encoder(client, handle).startswith("full-")
    assert _encoder(client, handle, "v1").startswith("multilingual-")


def _encoder(client: Traitbench, handle: str, version: str = "active") -> str:
    encoder = not_none(client.versions.get(handle, version).metrics.encoder)
    return str(encoder.id)


def test_another_encoder_here_is_said(monkeypatch: pytest.MonkeyPatch, workbench: Workbench, trained: Trained) -> None:
    monkeypatch.setenv("TRAITBENCH_ENCODER", "ngrams")
    at = workbench.open("versions", model=trained.handle, version="v1", view="Encoders")
    assert "v1 was trained with multilingual-" in plain(at)
