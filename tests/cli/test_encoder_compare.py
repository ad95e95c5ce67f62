"""`traitbench encoder compare`: real encoders on a demo model's samples, and what it refuses."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.asking import Ask, asking
from tests.conftest import Service, Trained, make_draft
from tests.contexts import ENCODER
from tests.encoders.folders import table, table_folder
from traitbench.client import Traitbench
from traitbench.contract.samples import SampleInput
from traitbench.contract.traits import TraitInput
from traitbench.sample_data import demo_models

CURRENT = ENCODER or "multilingual"


@pytest.fixture(autouse=True)
def _encoder_of_the_service(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAITBENCH_ENCODER", CURRENT)


def compared(ask: Ask, handle: str, *arguments: str) -> dict[str, Any]:
    code, out, err = ask("encoder", "compare", handle, *arguments, "--effort", "low", "--json")
    assert code == 0, err
    report: dict[str, Any] = json.loads(out)
    return report


def test_static_and_ngrams_are_not_better_than_the_default_on_a_demo_model(
    ask: Ask, client: Traitbench, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TRAITBENCH_ENCODER")
    [demo] = [each for each in demo_models() if each.handle == "demo.headlines"]
    handle, key = f"{namespace}.headlines", "surprise"
    client.models.create(handle)
    client.traits.add(handle, [TraitInput.model_validate(each) for each in demo.traits if each["name"] == "Surprise"])
    client.samples.add(handle, [SampleInput.model_validate(each) for each in demo.samples if each["trait"] == key])
    report = compared(ask, handle, "--with", "static", "--with", "ngrams")
    assert [(each["name"], each["current"]) for each in report["encoders"]] == [
        ("multilingual", True),
        ("static", False),
        ("ngrams", False),
    ]
    best, static, ngrams = report["encoders"]
    assert best["ms_per_text"] > 3 * max(static["ms_per_text"], ngrams["ms_per_text"])
    assert best["megabytes"] > static["megabytes"] > ngrams["megabytes"] == 0
    [trait] = report["traits"]
    for name in ("static", "ngrams"):
        figure = trait["figures"][name]
        assert figure["verdict"] in ("worse", "no_difference")
        assert figure["difference"] == pytest.approx(figure["auroc"] - trait["figures"]["multilingual"]["auroc"])
        low, high = figure["difference_interval"]
        assert low < figure["difference"] < high
    assert report["preferable"] == []
    assert report["verdict"].endswith("keep multilingual.")


def test_the_current_encoder_has_the_figures_of_its_version(ask: Ask, trained: Trained) -> None:
    """The version was trained with the same effort from the same samples."""
    report = compared(ask, trained.handle, "--with", "ngrams")
    measured = trained.client.versions.get(trained.handle).metrics.traits["warmth"]
    figure = report["traits"][0]["figures"][CURRENT]
    assert figure["auroc"] == pytest.approx(measured.auroc, abs=1e-9)
    assert tuple(figure["auroc_interval"]) == pytest.approx(measured.auroc_interval, abs=1e-9)
    assert report["texts"] == 20


def test_people_get_tables_a_sentence_and_how_long_it_takes(ask: Ask, trained: Trained) -> None:
    code, out, err = ask("encoder", "compare", trained.handle, "--with", "ngrams", "--effort", "low")
    assert code == 0, err
    assert err.startswith(f"Comparing {CURRENT}, ngrams on 20 texts of {trained.handle}.")
    lines = out.splitlines()
    assert lines[0].split() == ["TRAIT", "ENCODER", "AUROC", "95", "%", "DIFFERENCE", "95", "%", "OF", "IT", "VERDICT"]
    assert lines[1].split()[:2] == ["warmth", CURRENT]
    assert lines[1].endswith("current")
    assert lines[4].split() == ["ENCODER", "MS", "A", "TEXT", "MEGABYTES", "ID"]
    assert lines[-1].startswith("ngrams: ")


def test_a_folder_is_compared_by_its_path(ask: Ask, trained: Trained, tmp_path: Path) -> None:
    folder = table_folder(tmp_path / "mine", embeddings=table())
    report = compared(ask, trained.handle, "--with", str(folder))
    assert [each["name"] for each in report["encoders"]] == [CURRENT, str(folder)]


def test_another_encoder_here_than_that_of_the_version_is_said(
    ask: Ask, trained: Trained, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRAITBENCH_ENCODER", "ngrams")
    code, _, err = ask("encoder", "compare", trained.handle, "--with", "static", "--effort", "low")
    assert code == 0
    assert f"v1 was trained with {CURRENT}-" in err
    assert "TRAITBENCH_ENCODER gives ngrams-2" in err


def test_zero_retention_says_why_there_is_nothing_to_compare(ask: Ask, client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.forgetful"
    make_draft(client, handle)
    client.models.update(handle, zero_data_retention=True)
    code, out, err = ask("encoder", "compare", handle, "--with", "ngrams")
    assert (code, out) == (1, "")
    assert "zero data retention: samples exist only for the training that uses them" in err


def test_a_model_without_samples_says_so(ask: Ask, client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.empty"
    client.models.create(handle)
    assert "has no trait with labelled samples" in ask("encoder", "compare", handle, "--with", "ngrams")[2]
    client.traits.add(handle, [TraitInput(name="Warmth", positive_label="warm", negative_label="cold")])
    code, _, err = ask("encoder", "compare", handle, "--with", "ngrams")
    assert code == 1
    assert "has no samples to compare encoders on" in err


def test_too_few_samples_are_named_and_refused(ask: Ask, client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.few"
    client.models.create(handle)
    client.traits.add(handle, [TraitInput(name="Warmth", positive_label="warm", negative_label="cold")])
    client.samples.add(handle, [SampleInput(trait="warmth", text=text, quality=q) for text, q in (("a", 1), ("b", 0))])
    code, out, err = ask("encoder", "compare", handle, "--with", "ngrams", "--effort", "low")
    assert code == 1
    assert "warmth: not measured" in out
    assert "No trait could be compared" in err


def test_a_key_that_may_not_read_samples_is_refused(service: Service, trained: Trained, tmp_path: Path) -> None:
    ask = asking(service, tmp_path, "elsewhere")
    code, out, _ = ask("encoder", "compare", trained.handle, "--with", "ngrams")
    assert (code, out) == (1, "")


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        ("nope", 2, "There is no encoder 'nope'. --with takes multilingual, minilm-full, minilm, static, ngrams"),
        ("/no/such/folder", 2, "There is no encoder '/no/such/folder'"),
        (CURRENT, 2, f"names {CURRENT}, the current encoder"),
        ("{tmp}", 1, "holds neither model.onnx"),
    ],
)
def test_an_unusable_encoder_is_refused(
    ask: Ask, trained: Trained, tmp_path: Path, given: str, code: int, said: str
) -> None:
    refused, out, err = ask("encoder", "compare", trained.handle, "--with", given.replace("{tmp}", str(tmp_path)))
    assert (refused, out) == (code, "")
    assert said in err
