"""The Score page: preview and service, one text and two, drafts; with nothing there, and with the service away."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.conftest import Service, Trained, free_port, make_draft
from tests.pages.drive import (
    Workbench,
    add_version,
    bars,
    copied_link,
    end_badly,
    hold_busy,
    links,
    make_outdated,
    words,
)
from traitbench.client import Traitbench
from traitbench.contract.models import Progress
from traitbench.contract.samples import SampleInput
from traitbench.contract.traits import TraitInput
from traitbench.display.words import PROMISE, REASONS
from traitbench_app.score.rehearsal import AT_ONCE

GIBBERISH = "qwpo xzzk vbnm lkjh asdf 48151 62342 00012"
KIND = "Thank you so much, it was lovely to hear from you."
UNKIND = "Your request is denied. Do not write again."


def test_without_a_text_it_says_what_to_do(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("score", model=trained.handle)
    assert "Nothing to score yet" in words(at)
    assert not bars(at)


def test_a_typed_text_is_scored_at_once_and_as_the_service_does(workbench: Workbench, trained: Trained) -> None:
    at = typed(workbench.open("score", model=trained.handle, numbers="true"), KIND)
    card = trained.client.scores.score(trained.handle, KIND)
    assert at.metric[0].value == str(card.composite)
    assert "Preview with v1" in words(at)
    ((row,),) = bars(at)
    assert (row["name"], row["negative"], row["positive"]) == ("Warmth", "cold", "warm")
    assert (row["score"], row["words"]) == (card.scores["warmth"], "clearly warm")
    assert at.code[0].value == trained.client.scores.chart(trained.handle, KIND)


def test_another_text_gives_another_card(workbench: Workbench, trained: Trained) -> None:
    at = typed(workbench.open("score", model=trained.handle, numbers="true"), KIND)
    kind = int(at.metric[0].value)
    assert int(typed(at, UNKIND).metric[0].value) < kind


def test_the_service_is_asked_on_request_and_names_the_request(workbench: Workbench, trained: Trained) -> None:
    at = typed(workbench.open("score", model=trained.handle, numbers="true"), KIND)
    assert "req_" not in words(at)
    at.button(key="score.ask").click().run()
    assert "Request `req_" in words(at)
    assert "The scores are the same as above." in words(at)
    assert "req_" not in words(typed(at, UNKIND)), "an answer belongs to its text"


def test_a_link_brings_back_model_version_and_both_texts(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("score", model=trained.handle, version="v1", text=KIND, against=UNKIND)
    assert (at.text_area(key="score.text").value, at.text_area(key="score.against").value) == (KIND, UNKIND)
    assert at.selectbox(key="version").value == "v1"
    assert copied_link(at) == {"model": trained.handle, "version": "v1", "text": KIND, "against": UNKIND}


def test_the_link_of_the_active_version_names_its_number(workbench: Workbench, trained: Trained) -> None:
    assert copied_link(workbench.open("score", model=trained.handle)) == {"model": trained.handle, "version": "v1"}


def test_a_long_text_stays_out_of_the_link_and_the_page_says_so(workbench: Workbench, trained: Trained) -> None:
    at = typed(workbench.open("score", model=trained.handle), KIND * 40)
    assert copied_link(at) == {"model": trained.handle, "version": "v1"}
    assert "Copied links leave out texts of more than 1,000 characters." in words(at)


def test_two_texts_show_the_change_per_trait(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("score", model=trained.handle, numbers="true", text=UNKIND)
    at.toggle(key="score.compare").set_value(True).run()
    at.text_area(key="score.against").set_value(KIND).run()
    a, b = (trained.client.scores.score(trained.handle, text).scores["warmth"] for text in (UNKIND, KIND))
    change, first, second = bars(at)
    assert (change[0]["before"], change[0]["score"], change[0]["words"]) == (a, b, "closer to warm")
    assert (first[0]["score"], second[0]["score"]) == (a, b), "and each text has its own card"
    row = at.dataframe[0].value.iloc[0].to_dict()
    assert (row["Trait"], row["Text"], row["Second text"], row["Change"]) == ("Warmth", a, b, b - a)
    assert row["Sure"] is trained.client.scores.compare(trained.handle, UNKIND, KIND).certain is True
    assert "- The second text is higher (sure): **Warmth**." in words(at)


def test_a_difference_that_is_noise_is_not_called_higher(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("score", model=trained.handle, numbers="true", text=UNKIND, against=UNKIND + "!")
    assert trained.client.scores.compare(trained.handle, UNKIND, UNKIND + "!").certain is False
    assert "- No sure difference: **Warmth**." in words(at)
    assert "higher" not in words(at)
    assert bars(at)[0][0]["words"] == "no sure difference"


def test_two_texts_are_compared_by_the_service_on_request(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("score", model=trained.handle, numbers="true", text=UNKIND, against=KIND)
    a, b = (trained.client.scores.score(trained.handle, text).composite for text in (UNKIND, KIND))
    assert "req_" not in words(at)
    at.button(key="score.ask_pair").click().run()
    assert f"composite **{a} → {b}**" in words(at)
    assert "The scores are the same as above." in words(at)
    assert "Request `req_" in words(at)
    assert at.code[0].value == trained.client.scores.compare_chart(trained.handle, UNKIND, KIND)
    at.text_area(key="score.against").set_value(UNKIND).run()
    assert "req_" not in words(at), "an answer belongs to its texts"


def test_with_a_scoring_key_the_service_compares(
    monkeypatch: pytest.MonkeyPatch, service: Service, trained: Trained
) -> None:
    scorer = Workbench(monkeypatch, service, service.issue("scoring", ("trained",)))
    at = scorer.open("score", model=trained.handle, numbers="true", text=UNKIND, against=KIND)
    assert "Scored by the service with v1" in words(at)
    assert at.metric[0].value.startswith(str(trained.client.scores.score(trained.handle, UNKIND).composite))
    assert "- The second text is higher (sure): **Warmth**." in words(at)


def test_an_address_is_not_scored_as_a_text_and_stays_when_it_cannot_be_read(
    workbench: Workbench, service: Service, trained: Trained
) -> None:
    address = f"{service.base_url}/v1/docs"
    at = workbench.open("score", model=trained.handle, text=address)
    assert "This is a web address." in words(at)
    assert not bars(at)
    at.button(key="score.text.read").click().run()
    assert len(at.error) == 1, "addresses of this machine are not fetched"
    assert at.text_area(key="score.text").value == address


def test_the_figures_are_a_table(workbench: Workbench, trained: Trained) -> None:
    at = typed(workbench.open("score", model=trained.handle, numbers="true"), KIND)
    assert at.dataframe[0].value["Trait"].tolist() == ["Warmth"]


def test_the_figures_are_drawn_only_when_somebody_opens_them(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("score", model=trained.handle, text=KIND)
    assert (len(at.dataframe), len(at.code), len(at.metric)) == (0, 0, 0), "their code is a fourth of all"
    assert copied_link(workbench.open("score", model=trained.handle, numbers="true"))["numbers"] == "true"


def test_too_few_samples_look_uncertain(workbench: Workbench, client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.tiny"
    client.models.create(handle)
    client.traits.add(handle, [TraitInput(name="Warmth")])
    poles = (("Thank you!", 1.0), ("Go away.", 0.0))
    client.samples.add(handle, [SampleInput(trait="warmth", text=text, quality=quality) for text, quality in poles])
    client.models.train(handle)
    client.models.wait(handle)
    at = workbench.open("score", model=handle, numbers="true", text=KIND)
    assert at.metric[0].value.startswith("≈")
    assert "is uncertain. There are too few samples to be sure: add some that are like this text." in words(at)
    ((row,),) = bars(at)
    assert (row["words"], row["sure"], row["note"]) == ("no clear side", "low", REASONS["few_samples"].sentence)


def test_where_the_dots_are_explained_it_says_what_they_promise(workbench: Workbench, trained: Trained) -> None:
    at = typed(workbench.open("score", model=trained.handle, numbers="true"), KIND)
    assert f"●●● high · ●●○ moderate · ●○○ low confidence. {PROMISE}" in words(at)


def test_a_text_that_is_unlike_the_samples_is_said_to_be_so_once(workbench: Workbench, trained: Trained) -> None:
    at = typed(workbench.open("score", model=trained.handle, numbers="true"), GIBBERISH)
    assert [warning.value for warning in at.warning] == [REASONS["unlike_samples"].sentence]
    assert not bars(at)[0][0]["note"], "once is enough"
    assert at.dataframe[0].value["Why not high"].tolist() == ["unlike the samples"]
    assert not typed(at, KIND).warning


def test_beside_another_text_it_says_which_of_them_is_uncertain_and_why(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("score", model=trained.handle, text=KIND, against=GIBBERISH)
    assert [rows[0]["words"] for rows in bars(at)[1:]] == ["clearly warm", "no clear side"]
    assert [warning.value for warning in at.warning] == [REASONS["unlike_samples"].sentence]


def test_a_version_before_0_2_0_says_why_it_does_not_score(
    workbench: Workbench, service: Service, client: Traitbench, namespace: str
) -> None:
    handle = f"{namespace}.old"
    make_draft(client, handle)
    client.models.train(handle, effort="low")
    client.models.wait(handle)
    make_outdated(service.context, handle)
    assert "so it cannot be scored here" in words(workbench.open("score", model=handle, text=KIND))


def test_a_chosen_version_scores(workbench: Workbench, service: Service, client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.tone"
    make_draft(client, handle)
    client.models.train(handle)
    client.models.wait(handle)
    add_version(service.context, handle, client)
    at = workbench.open("score", model=handle, numbers="true", text=UNKIND)
    for version in ("v1", "v2"):
        at.selectbox(key="version").set_value(version).run()
        assert f"Preview with {version}" in words(at)
        assert at.metric[0].value == str(client.scores.score(f"{handle}@{version}", UNKIND).composite)


def test_before_the_first_training_it_says_what_a_training_would(
    workbench: Workbench, client: Traitbench, namespace: str
) -> None:
    handle = f"{namespace}.tone"
    make_draft(client, handle)
    at = workbench.open("score", model=handle, numbers="true", text=KIND)
    assert "**Preview from 20 samples.**" in words(at)
    result = at.metric[0].value
    assert REASONS["unlike_samples"].sentence in words(typed(at, GIBBERISH))
    assert client.models.get(handle).state == "draft"
    client.models.train(handle)
    client.models.wait(handle)
    assert str(client.scores.score(handle, KIND).composite) == result


def test_a_large_draft_is_read_when_one_asks_for_it(workbench: Workbench, client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.large"
    make_draft(client, handle)
    client.samples.add(handle, [SampleInput(trait="warmth", text=KIND, quality=1.0)] * AT_ONCE)
    at = workbench.open("score", model=handle, text=KIND)
    assert not bars(at)
    at.button(key="score.rehearse").click().run()
    assert "Preview from 2,020 samples" in words(at)
    assert "Preview from 2,020 samples" in words(typed(at, UNKIND)), "what was read stays"


def test_a_draft_without_samples_says_what_is_missing(workbench: Workbench, client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.new"
    client.models.create(handle)
    assert "Add traits" in links(workbench.open("score", model=handle, text=KIND))
    client.traits.add(handle, [TraitInput(name="Warmth")])
    at = workbench.open("score", model=handle, text=KIND)
    assert "Add samples" in links(at)
    assert at.text_area(key="score.text").value == KIND
    assert not workbench.open("score", model=handle).text_area, "Nothing can be scored, so no text is asked for."


def test_with_a_scoring_key_the_service_scores(
    monkeypatch: pytest.MonkeyPatch, service: Service, trained: Trained
) -> None:
    scorer = Workbench(monkeypatch, service, service.issue("scoring", ("trained",)))
    at = typed(scorer.open("score", model=trained.handle, numbers="true"), KIND)
    assert "Scored by the service with v1" in words(at)
    assert "Request `req_" in words(at)
    assert at.metric[0].value == str(trained.client.scores.score(trained.handle, KIND).composite)


def test_a_sample_can_be_taken_as_the_text(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("score", model=trained.handle)
    at.button(key="score.take").click().run()
    first = at.text_area(key="score.text").value
    assert first in {sample.text for sample in trained.client.samples.list(trained.handle)}
    at.button(key="score.take").click().run()
    assert at.text_area(key="score.text").value != first


def test_an_archived_model_scores_no_more(workbench: Workbench, client: Traitbench, namespace: str) -> None:
    make_draft(client, f"{namespace}.old")
    client.models.delete(f"{namespace}.old")
    assert "no longer scores" in words(workbench.open("score", model=f"{namespace}.old"))


def test_without_a_service_it_says_so(monkeypatch: pytest.MonkeyPatch, service: Service) -> None:
    away = Workbench(monkeypatch, service, "no key", base_url=f"http://127.0.0.1:{free_port()}")
    at = away.open("score", model="local.tone", text=KIND)
    assert not at.exception
    assert "The service does not answer" in words(at)


def test_what_was_typed_is_there_when_the_service_is_back(
    monkeypatch: pytest.MonkeyPatch, service: Service, trained: Trained
) -> None:
    key = service.issue(namespaces=("trained",))
    at = typed(Workbench(monkeypatch, service, key).open("score", model=trained.handle), KIND)
    Workbench(monkeypatch, service, key, base_url=f"http://127.0.0.1:{free_port()}")
    assert "The service does not answer" in words(at.run())
    Workbench(monkeypatch, service, key)
    assert at.run().text_area(key="score.text").value == KIND


def typed(at: AppTest, text: str) -> AppTest:
    return at.text_area(key="score.text").set_value(text).run()


def test_the_main_trait_is_first(workbench: Workbench, client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.two"
    make_draft(client, handle)
    client.traits.add(handle, [TraitInput(name="Haste")])
    poles = (("Hurry up, now!", 1.0), ("Take all the time you need.", 0.0))
    client.samples.add(handle, [SampleInput(trait="haste", text=text, quality=quality) for text, quality in poles])
    client.models.update(handle, main_trait="haste")
    assert [row["name"] for row in bars(workbench.open("score", model=handle, text=KIND))[0]] == ["Haste", "Warmth"]


def test_while_the_first_training_runs_it_says_so_and_rehearses(
    workbench: Workbench, service: Service, client: Traitbench, namespace: str
) -> None:
    handle = f"{namespace}.tone"
    make_draft(client, handle)
    progress = Progress(phase="learning", done=0, total=1, fraction=0.5, elapsed_s=3.0, eta_s=3.0)
    run_id = hold_busy(service.context, handle, progress, kind="train")
    at = workbench.open("score", model=handle, text=KIND)
    assert "Not trained yet" not in words(at)
    assert "Watch on the Train page" in links(at)
    assert (at.progress[0].value, len(bars(at))) == (50, 1)
    end_badly(service.context, run_id, "The disk is full.")
    at.run()
    assert "**The training failed.** The disk is full\\." in words(at)
    assert "Train again" in links(at)
