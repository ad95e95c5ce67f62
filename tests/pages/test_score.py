"""The Score page: preview and service, one text and two, a chosen version, and drafts."""

import pytest

from tests.conftest import Service, Trained, not_none, train
from tests.pages.drive import (
    KIND,
    UNKIND,
    Workbench,
    away,
    bars,
    buttons,
    copied_link,
    end_badly,
    hold_busy,
    make_outdated,
    next_step,
    plain,
    typed,
    words,
)
from traitbench.client import Traitbench
from traitbench.contract.bundles import Bundle
from traitbench.contract.models import Progress
from traitbench.contract.samples import SampleInput
from traitbench.contract.traits import TraitInput
from traitbench.display.words import PROMISE, REASONS
from traitbench_app.parts.teaching import AT_ONCE

GIBBERISH = "qwpo xzzk vbnm lkjh asdf 48151 62342 00012"
UNLIKE = REASONS["unlike_samples"]


def test_it_begins_with_a_scored_text_and_says_what_to_do_without_one(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("score", model=trained.handle)
    text = at.text_area(key="score.text").value
    assert text in {sample.text for sample in trained.client.samples.list(trained.handle)}
    assert bars(at)[0][0]["score"] == trained.client.scores.score(trained.handle, text).scores["warmth"]
    typed(at, "")
    assert "Type or paste a text to see its scores." in words(at)
    assert not bars(at)


def test_a_text_stays_with_its_model(workbench: Workbench, trained: Trained, twice: Trained) -> None:
    at = typed(workbench.open("score", model=trained.handle), KIND)
    at.selectbox(key="model").set_value(twice.handle).run()
    assert at.text_area(key="score.text").value not in ("", KIND)
    at.selectbox(key="model").set_value(trained.handle).run()
    assert at.text_area(key="score.text").value == KIND


def test_a_typed_text_is_scored_at_once_and_as_the_service_does(workbench: Workbench, trained: Trained) -> None:
    at = typed(workbench.open("score", model=trained.handle, numbers="true"), KIND)
    card = trained.client.scores.score(trained.handle, KIND)
    assert at.metric[0].value == str(card.composite)
    assert at.selectbox(key="version").label == "Scored with v1"
    ((row,),) = bars(at)
    counts = not_none(trained.client.versions.get(trained.handle).metrics.traits["warmth"].score_counts)
    assert row["ticks"].count("<i ") == sum(number > 0 for pole in counts.values() for number in pole)
    assert (row["name"], row["negative"], row["positive"]) == ("Warmth", "cold", "warm")
    assert (row["score"], row["words"]) == (card.scores["warmth"], "clearly warm")
    assert at.code[0].value == trained.client.scores.chart(trained.handle, KIND)
    assert at.dataframe[0].value["Trait"].tolist() == ["Warmth"]
    assert f"●●● high · ●●○ moderate · ●○○ low confidence. {PROMISE}" in words(at)
    assert int(typed(at, UNKIND).metric[0].value) < card.composite


def test_the_service_is_asked_on_request_and_names_the_request(workbench: Workbench, trained: Trained) -> None:
    at = typed(workbench.open("score", model=trained.handle, numbers="true"), KIND)
    assert "req_" not in words(at)
    at.button(key="score.ask").click().run()
    assert "Request `req_" in words(at)
    assert "The scores are the same as above." in words(at)
    assert "req_" not in words(typed(at, UNKIND)), "an answer belongs to its text"


@pytest.mark.parametrize(
    "query", [{"text": KIND}, {"text": KIND, "numbers": "true"}, {"text": KIND, "against": UNKIND}], ids=str
)
def test_a_link_restores_the_view_with_its_version(
    workbench: Workbench, trained: Trained, query: dict[str, str]
) -> None:
    at = workbench.open("score", model=trained.handle, **query)
    assert copied_link(at) == {"model": trained.handle, "version": "v1", **query}
    for name in ("text", "against"):
        assert name not in query or at.text_area(key=f"score.{name}").value == query[name]
    assert "numbers" in query or not (at.dataframe or at.code or at.metric), "figures are drawn on request"


def test_a_long_text_stays_out_of_the_link_and_the_page_says_so(workbench: Workbench, trained: Trained) -> None:
    at = typed(workbench.open("score", model=trained.handle), KIND * 40)
    assert copied_link(at) == {"model": trained.handle, "version": "v1"}
    assert "Copied links leave out texts of more than 1,000 characters." in words(at)


# ---- two texts -------------------------------------------------------------------------------------------------------


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


def test_with_a_scoring_key_the_service_scores_and_compares(scorer: Workbench, trained: Trained) -> None:
    at = typed(scorer.open("score", model=trained.handle, numbers="true"), UNKIND)
    composite = str(trained.client.scores.score(trained.handle, UNKIND).composite)
    assert "Scored by the service. Request `req_" in words(at)
    assert at.metric[0].value == composite
    at = scorer.open("score", model=trained.handle, numbers="true", text=UNKIND, against=KIND)
    assert at.metric[0].value.startswith(composite)
    assert "- The second text is higher (sure): **Warmth**." in words(at)


# ---- what cannot be scored surely ------------------------------------------------------------------------------------


def test_an_address_is_not_scored_as_a_text(workbench: Workbench, service: Service, trained: Trained) -> None:
    address = f"{service.base_url}/v1/docs"
    at = workbench.open("score", model=trained.handle, text=address)
    assert "This is a web address." in words(at)
    assert not bars(at)
    at.button(key="score.text.read").click().run()
    assert len(at.error) == 1, "addresses of this machine are not fetched"
    assert at.text_area(key="score.text").value == address


def test_too_few_samples_look_uncertain(workbench: Workbench, client: Traitbench, new: str) -> None:
    client.traits.add(new, [TraitInput(name="Warmth")])
    poles = (("Thank you!", 1.0), ("Go away.", 0.0))
    client.samples.add(new, [SampleInput(trait="warmth", text=text, quality=quality) for text, quality in poles])
    train(client, new)
    at = workbench.open("score", model=new, numbers="true", text=KIND)
    assert at.metric[0].value.startswith("≈")
    assert "of 100). Few of your samples have a score near this one. Add some that are like this text." in plain(at)
    ((row,),) = bars(at)
    assert (row["words"], row["sure"]) == ("leans to positive", "leans")
    assert row["note"] == REASONS["few_samples"].less_sure


def test_a_text_that_is_unlike_the_samples_leans_and_has_no_side_in_the_figures(
    workbench: Workbench, trained: Trained
) -> None:
    at = typed(workbench.open("score", model=trained.handle, numbers="true"), GIBBERISH)
    ((row,),) = bars(at)
    assert (row["how"], row["sure"], row["note"]) == ("leans to", "leans", UNLIKE.less_sure)
    assert at.dataframe[0].value["Why not high"].tolist() == ["unlike the samples"]
    assert "No clear side" in plain(at)
    at = workbench.open("score", model=trained.handle, text=KIND, against=GIBBERISH)
    assert [rows[0]["how"] for rows in bars(at)[1:]] == ["clearly", "leans to"]


def test_one_key_teaches_a_text_that_leans_and_nothing_is_stored_until_it_is_kept(
    workbench: Workbench, client: Traitbench, ready: str
) -> None:
    at = typed(workbench.open("score", model=ready), GIBBERISH)
    before, counted = bars(at)[0][0]["score"], len(list(client.samples.list(ready)))
    at.button(key="score.teaching.teach.1").click().run()
    ((row,),) = bars(at)
    assert (row["how"], row["was"]) == ("taught as", before)
    assert row["score"] > before
    assert f"**Was {before}, now {row['score']}. Keep this text for your model?**" in words(at)
    assert len(list(client.samples.list(ready))) == counted
    at.button(key="score.teaching.undo").click().run()
    assert (bars(at)[0][0]["score"], bars(at)[0][0]["was"]) == (before, None)
    at.button(key="score.teaching.teach.0").click().run()
    at.button(key="score.teaching.keep").click().run()
    (kept,) = [sample for sample in client.samples.list(ready) if sample.text == GIBBERISH]
    assert (kept.quality, kept.pending) == (0.0, True)
    assert f"Kept as a correction of **{ready}**." in plain(at)
    at.button(key="score.teaching.unkeep").click().run()
    assert len(list(client.samples.list(ready))) == counted


def test_a_text_taught_to_a_demo_goes_into_a_copy_of_ones_own(
    monkeypatch: pytest.MonkeyPatch, service: Service, bundle: Bundle, namespace: str
) -> None:
    demo, own = f"demo.{namespace}", f"{namespace}.{namespace}"
    key = service.issue(namespaces=("demo", namespace))
    with Traitbench(service.base_url, key) as client:
        client.models.import_(bundle, handle=demo)
        for number, text in enumerate((GIBBERISH, GIBBERISH[::-1]), start=1):
            at = typed(Workbench(monkeypatch, service, key).open("score", model=demo), text)
            at.button(key="score.teaching.teach.1").click().run()
            assert f"It goes into a copy of {demo} that is yours." in plain(at)
            at.button(key="score.teaching.keep").click().run()
            assert f"Kept as a sample of **{own}**. Train it to use it." in plain(at)
            of_demo, of_own = ({each.text for each in client.samples.list(handle)} for handle in (demo, own))
            assert len(of_own - of_demo) == number, "the second text goes into the same copy"
        client.models.delete(demo)


@pytest.mark.parametrize("text", [KIND, ""], ids=["has a side", "is empty"])
def test_only_a_text_that_leans_is_taught(workbench: Workbench, trained: Trained, text: str) -> None:
    assert not buttons(typed(workbench.open("score", model=trained.handle), text), "score.teaching")


def test_a_long_text_lights_its_sentences_and_says_so(workbench: Workbench, trained: Trained) -> None:
    at = typed(workbench.open("score", model=trained.handle), f"{KIND} " * 6)
    assert "This text has 66 words, so its sentences are lit." in words(at)


def test_a_version_before_0_2_0_says_why_it_does_not_score(workbench: Workbench, service: Service, ready: str) -> None:
    make_outdated(service.context, ready)
    assert "so it cannot be scored here" in words(workbench.open("score", model=ready, text=KIND))


# ---- versions and drafts ---------------------------------------------------------------------------------------------


def test_a_chosen_version_scores(workbench: Workbench, twice: Trained) -> None:
    at = workbench.open("score", model=twice.handle, numbers="true", text=UNKIND)
    for version in ("v1", "v2"):
        at.selectbox(key="version").set_value(version).run()
        composite = twice.client.scores.score(f"{twice.handle}@{version}", UNKIND).composite
        assert at.metric[0].value.removeprefix("≈ ") == str(composite)


def test_a_draft_scores_as_a_training_would(workbench: Workbench, client: Traitbench, draft: str) -> None:
    at = workbench.open("score", model=draft, numbers="true", text=KIND)
    assert "**Preview from 20 samples.**" in words(at)
    assert "once the model is trained" in words(at)
    assert not at.get("segmented_control"), "a draft is taught by samples, not by feedback"
    result = at.metric[0].value
    assert bars(typed(at, GIBBERISH))[0][0]["note"] == UNLIKE.less_sure
    assert client.models.get(draft).state == "draft"
    train(client, draft, effort=None)
    assert str(client.scores.score(draft, KIND).composite) == result


def test_a_large_draft_is_read_when_one_asks_for_it(workbench: Workbench, client: Traitbench, draft: str) -> None:
    client.samples.add(draft, [SampleInput(trait="warmth", text=KIND, quality=1.0)] * AT_ONCE)
    at = workbench.open("score", model=draft, text=KIND)
    assert not bars(at)
    at.button(key="score.rehearse").click().run()
    assert "Preview from 2,020 samples" in words(at)
    assert "Preview from 2,020 samples" in words(typed(at, UNKIND)), "what was read stays"


def test_while_the_first_training_runs_it_rehearses(workbench: Workbench, service: Service, draft: str) -> None:
    progress = Progress(phase="learning", done=0, total=1, fraction=0.5, elapsed_s=3.0, eta_s=3.0)
    run_id = hold_busy(service.context, draft, progress)
    at = workbench.open("score", model=draft, text=KIND)
    assert "Not trained yet" not in words(at)
    assert "Training: about 3 s left." in words(at)
    assert (next_step(at), len(bars(at))) == ("Watch", 1)
    end_badly(service.context, run_id, "The disk is full.")
    at.run()
    assert "**The training failed.** The disk is full\\." in words(at)
    assert next_step(at) == "See why"


def test_the_main_trait_is_first(workbench: Workbench, client: Traitbench, draft: str) -> None:
    client.traits.add(draft, [TraitInput(name="Haste")])
    poles = (("Hurry up, now!", 1.0), ("Take all the time you need.", 0.0))
    client.samples.add(draft, [SampleInput(trait="haste", text=text, quality=quality) for text, quality in poles])
    client.models.update(draft, main_trait="haste")
    assert [row["name"] for row in bars(workbench.open("score", model=draft, text=KIND))[0]] == ["Haste", "Warmth"]


# ---- the text field --------------------------------------------------------------------------------------------------


def test_a_sample_can_be_taken_as_the_text(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("score", model=trained.handle)
    at.button(key="score.take").click().run()
    first = at.text_area(key="score.text").value
    assert first in {sample.text for sample in trained.client.samples.list(trained.handle)}
    at.button(key="score.take").click().run()
    assert at.text_area(key="score.text").value != first


def test_what_was_typed_is_there_when_the_service_is_back(
    monkeypatch: pytest.MonkeyPatch, service: Service, trained: Trained
) -> None:
    key = service.issue(namespaces=("trained",))
    at = typed(Workbench(monkeypatch, service, key).open("score", model=trained.handle), KIND)
    away(monkeypatch, service)
    assert "The service does not answer" in words(at.run())
    Workbench(monkeypatch, service, key)
    assert at.run().text_area(key="score.text").value == KIND
