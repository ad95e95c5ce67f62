"""The view Encoders on the Versions page: real encoders on the model's samples, and why there is nothing to compare."""

import pytest

from tests.conftest import Service, Trained, make_draft
from tests.pages.drive import Workbench, hold_busy, words
from traitbench.client import Traitbench
from traitbench_app.versions import encoders


def test_encoders_are_compared_on_the_samples_of_the_model(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("versions", model=trained.handle, view="Encoders")
    assert "Reads 20 texts in this workbench and stores nothing." in words(at)
    assert not at.dataframe
    [button] = [each for each in at.button if each.label == "Compare encoders"]
    button.click().run()
    figures, speeds = (each.value for each in at.dataframe)
    assert figures["Encoder"].tolist() == ["full", "static"]
    assert figures["Trait"].tolist() == ["Warmth", "Warmth"]
    assert figures["Verdict"].tolist()[0] == "current"
    assert figures["Verdict"].tolist()[1] in ("worse", "no proven difference")
    assert speeds["Encoder"].tolist() == ["full", "static"]
    assert speeds["ms a text"][0] > speeds["ms a text"][1]
    assert "keep full" in words(at).replace("\\", "")


def test_a_switch_trains_a_version_with_the_other_encoder(
    workbench: Workbench, client: Traitbench, namespace: str
) -> None:
    handle = f"{namespace}.switched"
    make_draft(client, handle)
    client.models.train(handle, effort="low")
    client.models.wait(handle)
    at = workbench.open("versions", model=handle, view="Encoders")
    [button] = [each for each in at.button if each.label == "Compare encoders"]
    button.click().run()
    [switch] = [each for each in at.button if each.label == "Switch to this encoder"]
    switch.click().run()
    said = words(at).replace("\\", "")
    assert "encodes 20 texts with static and fits every trait again at effort low" in said
    assert "v1 keeps its encoder, and you can activate it again" in said
    assert "Later refits and retrainings from feedback keep static" in said
    at.button(key="versions.encoders.switch.yes").click().run()
    model = client.models.wait(handle)
    assert (model.state, model.version_no) == ("ready", 2)
    encoder = client.versions.get(handle).metrics.encoder
    assert encoder is not None
    assert encoder.chosen == "static"
    assert client.scores.score(handle, "thank you").metadata.version_id == "v2"
    assert client.scores.score(f"{handle}@v1", "thank you").metadata.version_id == "v1"
    again = workbench.open("versions", model=handle, view="Encoders")
    assert [each.label for each in again.button_group][-1] == "Compare static, the current encoder, with"


def test_the_progress_of_a_training_is_shown_instead_of_a_comparison(
    workbench: Workbench, client: Traitbench, service: Service, namespace: str
) -> None:
    handle = f"{namespace}.training"
    make_draft(client, handle)
    client.models.train(handle, effort="low")
    client.models.wait(handle)
    hold_busy(service.context, handle, None, kind="retune")
    at = workbench.open("versions", model=handle, view="Encoders")
    assert [each.value for each in at.subheader] == ["Refitting"]
    assert not [each for each in at.button if each.label == "Compare encoders"]


def test_a_second_comparison_waits_for_the_first(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("versions", model=trained.handle, view="Encoders")
    [button] = [each for each in at.button if each.label == "Compare encoders"]
    with encoders._one_at_a_time:
        button.click().run()
    assert "Another comparison is running" in words(at)
    assert not at.dataframe


def test_zero_retention_says_why_there_is_nothing_to_compare(
    workbench: Workbench, client: Traitbench, namespace: str
) -> None:
    handle = f"{namespace}.forgetful"
    make_draft(client, handle)
    client.models.train(handle, effort="low")
    client.models.wait(handle)
    client.models.update(handle, zero_data_retention=True)
    at = workbench.open("versions", model=handle, view="Encoders")
    assert "samples exist only for the training that uses them" in words(at).replace("\\", "")
    assert not [each for each in at.button if each.label == "Compare encoders"]


def test_a_reader_of_a_public_model_compares_nothing(
    monkeypatch: pytest.MonkeyPatch, service: Service, namespace: str
) -> None:
    """The model is readable, but its samples are not."""
    handle = f"demo.{namespace}-encoders"
    with Traitbench(service.base_url, service.issue(namespaces=("demo",))) as owner:
        make_draft(owner, handle)
        owner.models.train(handle, effort="low")
        owner.models.wait(handle)
        reader = Workbench(monkeypatch, service, service.issue(namespaces=(namespace,)))
        at = reader.open("versions", model=handle, view="Encoders")
        owner.models.delete(handle)
    assert "can read its samples, on which encoders are compared" in words(at).replace("\\", "")
    assert not [each for each in at.button if each.label == "Compare encoders"]


def test_another_encoder_here_than_that_of_the_version_is_said(
    monkeypatch: pytest.MonkeyPatch, workbench: Workbench, trained: Trained
) -> None:
    monkeypatch.setenv("TRAITBENCH_ENCODER", "ngrams")
    at = workbench.open("versions", model=trained.handle, view="Encoders")
    assert "v1 was trained with full-" in words(at).replace("\\", "")
