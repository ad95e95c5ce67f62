"""Synthesis on the Samples page: what is made, what is rejected, and how both are decided."""

from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.cli.asking import asking
from tests.conftest import WARM, Service, free_port, make_draft, own_service
from tests.contexts import link_cache
from tests.llm_endpoint import MODEL, llm_endpoint
from tests.pages.drive import Workbench, components, copied_link, ending, frame, listed, plain, press, texts, words
from traitbench.client import Traitbench
from traitbench.contract.bundles import digest
from traitbench.contract.samples import SampleInput


@pytest.fixture
def synthesized(client: Traitbench, empty: str) -> str:
    """A draft with one sample that somebody wrote and ten that were made."""
    client.samples.add(
        empty,
        [SampleInput(trait="warmth", text=text, quality=1.0) for text in ("Thank you, dear.", *WARM)],
    )
    written = client.models.export(empty)
    samples = [each.model_copy(update={"provenance": "synthesized"}) for each in written.samples or ()]
    samples[0] = samples[0].model_copy(update={"provenance": "authored"})
    made = written.model_copy(update={"samples": samples})
    bundle = made.model_copy(update={"sha256": digest(made)})
    return client.models.import_(bundle, handle=f"{empty}-2").handle


def made(client: Traitbench, handle: str) -> list[str]:
    return [sample.text for sample in client.samples.list(handle) if sample.provenance == "synthesized"]


def synthesize(at: AppTest, *, kind: str = "from_traits") -> AppTest:
    at.radio(key="synthesize.type").set_value(kind)
    at.radio(key="synthesize.effort").set_value("low").run()
    return at.button(key="synthesize.send").click().run()


def read_by_keys(client: Traitbench, at: AppTest, handle: str) -> None:
    """Keep the first text, edit the second, delete the third and the fourth, and go back once."""
    there = made(client, handle)
    assert f"1 of {len(there)}." in words(at)
    assert f"{len(there)} accepted" in words(at)
    press(press(at, "samples.review.keep"), "samples.review.edit")
    ending(at.text_area, f"text:{second(client, handle)}").set_value("I wrote this myself, dear.").run()
    for key in ("use", "delete", "delete", "undo"):
        press(at, f"samples.review.{key}")
    after = [sample.text for sample in client.samples.list(handle, limit=500)]
    assert "I wrote this myself, dear." in after
    assert [text in after for text in there[:4]] == [True, False, False, True]


def second(client: Traitbench, handle: str) -> int:
    """The id of the second synthesized sample."""
    return [sample.id for sample in client.samples.list(handle) if sample.provenance == "synthesized"][1]


def test_samples_are_synthesized_and_marked_as_such(workbench: Workbench, client: Traitbench, empty: str) -> None:
    at = workbench.open("samples", model=empty)
    at.button(key="samples.first_synthesize").click().run()
    assert "A few texts of your own are worth more" in words(at)
    assert "Nothing is sent anywhere" in words(at)
    assert "never used for evaluation" in words(at)
    synthesize(at)
    assert "Synthesizing samples" in words(at)
    assert client.models.wait(empty).state == "draft"
    at.run()
    assert f"{len(made(client, empty))} synthesized samples. Read some before you train" in at.info[0].value
    assert all(row["by"].startswith("synthesized") for row in components(at, "samples")[0]["rows"])
    read_by_keys(client, at, empty)

    press(at, "samples.delete_synthesized")
    assert not made(client, empty)
    assert not list(client.samples.list(empty))
    at = synthesize(workbench.open("samples", model=empty, task="Synthesize"))
    assert "Synthesizing samples" in words(at)
    assert client.models.wait(empty).state == "draft"
    assert made(client, empty)


def test_a_rejected_text_can_become_an_authored_sample(workbench: Workbench, client: Traitbench, empty: str) -> None:
    letters = {
        "Thank you so much. I will not forget it. It is lovely to hear from you.": 1.0,
        "The office is shut. It does not open until 8. Do not call again.": 0.0,
    }
    client.samples.add(empty, [SampleInput(trait="warmth", text=text, quality=at) for text, at in letters.items()])
    client.samples.synthesize(empty, synth_type="diversify", effort="low")
    assert client.models.wait(empty).state == "draft"
    rejected = client.samples.rejected(empty)
    at = workbench.open("samples", model=empty)
    assert list(frame(at, "Reason")["Text"]) == [each.text for each in rejected]
    assert at.button(key="samples.rejects.add").disabled
    at.session_state[f"samples.rejects:{len(rejected)}"] = {"selection": {"rows": [1], "columns": [], "cells": []}}
    press(at.run(), "samples.rejects.add")
    added = next(each for each in client.samples.list(empty) if each.text == rejected[1].text)
    assert (added.provenance, added.quality) == ("authored", rejected[1].quality)
    assert rejected[1].text not in list(frame(at, "Reason")["Text"])
    at.button(key="samples.undo_button").click().run()
    assert rejected[1].text not in [each.text for each in client.samples.list(empty)]


def test_texts_can_only_be_varied_when_there_are_some(workbench: Workbench, empty: str, draft: str) -> None:
    at = workbench.open("samples", model=empty, task="Synthesize")
    at.radio(key="synthesize.type").set_value("diversify").run()
    assert at.button(key="synthesize.send").disabled
    at = workbench.open("samples", model=draft, task="Synthesize")
    at.radio(key="synthesize.type").set_value("diversify").run()
    assert not at.button(key="synthesize.send").disabled


def test_the_page_says_before_a_start_that_texts_made_offline_are_english(
    workbench: Workbench, client: Traitbench, empty: str
) -> None:
    at = workbench.open("samples", model=empty, task="Synthesize")
    assert "simple English texts" in words(at)
    assert not at.warning
    client.samples.add(empty, [SampleInput(trait="warmth", text="Danke, das ging wirklich schnell!", quality=1.0)])
    at = workbench.open("samples", model=empty, task="Synthesize")
    assert "in German. Offline, texts are written in English only" in plain(at)


def test_the_list_can_be_narrowed_to_synthesized_samples(
    workbench: Workbench, client: Traitbench, synthesized: str
) -> None:
    at = workbench.open("samples", model=synthesized, origin="Synthesized")
    assert {*listed(at)} == {*made(client, synthesized)}
    assert copied_link(at)["show"] == "synthesized"
    assert len(listed(workbench.open("samples", model=synthesized))) == 1 + len(made(client, synthesized))


def test_all_synthesized_are_deleted_and_come_back_as_they_were(
    workbench: Workbench, client: Traitbench, synthesized: str
) -> None:
    before = list(client.samples.list(synthesized))
    at = press(workbench.open("samples", model=synthesized), "samples.delete_synthesized")
    assert texts(client, synthesized) == [("Thank you, dear.", 1.0)]
    press(at, "samples.undo_button")
    after = [(each.id, each.text, each.provenance) for each in client.samples.list(synthesized)]
    assert after == [(each.id, each.text, each.provenance) for each in before]


def test_a_language_model_that_refuses_is_said_on_the_page_and_by_the_command(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link_cache(tmp_path)
    own = replace(service.settings, home=tmp_path, database_url=f"sqlite:///{tmp_path / 'own.db'}", port=free_port())
    with llm_endpoint(lambda _: 401) as endpoint, own_service(replace(own, **endpoint.settings)) as other:
        _check_refusal(other, tmp_path / "cli", monkeypatch)


def _check_refusal(service: Service, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Traitbench(service.base_url, service.issue(namespaces=("own",))) as client:
        make_draft(client, "own.tone")
        code, out, err = asking(service, home, "own")("samples", "synthesize", "own.tone", "--effort", "low", "--wait")
        assert code == 1
        assert "warmth" in out
        assert f"The language model {MODEL} refused the key (TRAITBENCH_LLM_KEY)." in err
        assert "did not write all of the" in err
        assert made(client, "own.tone")
        at = Workbench(monkeypatch, service, service.issue(namespaces=("own",))).open("samples", model="own.tone")
        assert f"The language model {MODEL} refused the key" in plain(at)
        assert "rejected, made offline" in words(at)
        code, _, err = asking(service, home, "own")(
            *("samples", "synthesize", "own.tone", "--effort", "medium", "--offline", "--wait", "--json")
        )
        assert code == 0, err
