"""Synthesis by a language model, over real HTTP: what it is asked, what is kept, and what happens when it fails."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.contexts import AUTHOR, ON_SQLITE, done_here
from tests.llm_endpoint import KEY, MODEL, LlmEndpoint, Reply, completion, llm_endpoint
from tests.operations.author import last_operation, new_model, samples_of, update, warmth
from traitbench.contract.models import LastOperation, SynthesisOutcome
from traitbench.contract.samples import Sample, SynthesizeRequest
from traitbench.contract.traits import TraitInput
from traitbench.errors import FeatureUnavailable
from traitbench.operations import synthesis
from traitbench.operations.context import Context
from traitbench.synthesis import language_model

pytestmark = ON_SQLITE

WARM = (
    "Come in, the soup is hot and your favourite chair is free.",
    "Grandma knitted these socks for your first winter up north.",
    "Stay as long as you like, we love having you around.",
    "Call me any time tonight, I am glad to listen.",
    "Your letter made me smile for the whole train ride.",
    "Take my coat, I do not want you to freeze out there.",
    "What a joy to see the twins again after all these years.",
    "We saved you the last piece of cake, with extra cherries.",
)
COLD = (
    "Your complaint was received and will not be answered.",
    "Visitors must leave the building at five without exception.",
    "Payment is due on Monday, otherwise the contract ends.",
    "I have no time for this, talk to somebody else.",
    "The application was rejected for formal reasons.",
    "Nobody asked for your opinion in this meeting.",
    "Keep your distance and do not call this number again.",
    "The office does not give information about single cases.",
)


def items(*pairs: tuple[str, float]) -> str:
    return json.dumps({"items": [{"text": text, "quality": quality} for text, quality in pairs]})


GOOD = items(*((text, 1.0) for text in WARM), *((text, 0.0) for text in COLD), ("Noted, thanks, see the form.", 0.5))


@pytest.fixture
def service() -> Iterator[LlmEndpoint]:
    with llm_endpoint(lambda _: GOOD) as service:
        yield service


def having(context: Context, service: LlmEndpoint) -> Context:
    return replace(context, settings=replace(context.settings, **service.settings))


def synthesized(context: Context, handle: str, **body: Any) -> tuple[list[Sample], LastOperation]:
    """The synthesized samples, and how the run ended."""
    request = SynthesizeRequest(**{"effort": "low", **body})
    done_here(context, synthesis.start(context, AUTHOR, handle, request).run_id)
    last = last_operation(context, handle)
    assert last.status == "succeeded", last.error
    return [sample for sample in samples_of(context, handle) if sample.provenance == "synthesized"], last


def notes(last: LastOperation) -> str:
    return " ".join((last.progress and last.progress.notes) or [])


def outcome_of(last: LastOperation) -> SynthesisOutcome:
    assert last.progress is not None
    assert last.progress.synthesis is not None
    return last.progress.synthesis


def test_texts_of_a_language_model_pass_the_exam_and_name_it(context: Context, service: LlmEndpoint) -> None:
    context = having(context, service)
    handle = warmth(context)
    plan = synthesis.plan(context, AUTHOR, handle, effort="low")
    assert (plan.generator, plan.host, plan.requests, plan.reason) == (MODEL, "127.0.0.1", 4, None)
    made, last = synthesized(context, handle)
    assert {sample.text for sample in made} == {*WARM, *COLD, "Noted, thanks, see the form."}
    assert {sample.generator for sample in made} == {MODEL}
    assert outcome_of(last).model_dump() == {
        "generator": MODEL,
        "added": 17,
        "rejected": {"copy": 51},
        "tokens": 200,
    }
    assert [plan.sent[0], plan.sent[1]] == [each["content"] for each in service.asked[0]["messages"]]
    assert 0 < plan.tokens < plan.most_tokens
    assert "warm, kind" in service.question(0)
    assert set(service.keys) == {KEY}


# Every failure has its sentence in `tests/synthesis/test_asking.py`.
@pytest.mark.parametrize(
    ("said", "why"),
    [
        (500, "answered with status 500"),
        ("No, thank you.", "without the JSON"),
        (Reply(wait=60), "did not answer within 2 seconds"),
    ],
)
def test_a_failure_falls_back_to_offline_and_says_so(
    context: Context, service: LlmEndpoint, said: Any, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient = language_model.Asker.__init__
    monkeypatch.setattr(patient, "__kwdefaults__", {**(patient.__kwdefaults__ or {}), "seconds_an_answer": 2.0})
    service.script = lambda _: said
    made, last = synthesized(having(context, service), warmth(context))
    assert {sample.generator for sample in made} == {"offline"}
    assert re.search(f"The language model {MODEL} .*{why}.*The texts for Warmth were made offline", notes(last))
    outcome = outcome_of(last)
    assert outcome.generator == "offline"
    assert outcome.failure is not None
    assert outcome.failure in notes(last)


def test_what_came_before_a_failure_is_kept(context: Context, service: LlmEndpoint) -> None:
    answers = iter([GOOD[: GOOD.index(COLD[5])], 500, 500, 500])
    service.script = lambda _: next(answers)
    made, last = synthesized(having(context, service), warmth(context))
    assert {sample.generator for sample in made} == {MODEL}
    assert len(made) == len(WARM) + 5
    assert "answered with status 500. 13 of its texts are kept." in notes(last)
    outcome = outcome_of(last)
    assert outcome.generator == MODEL
    assert outcome.failure == notes(last)


def test_variations_go_with_their_seeds(context: Context, service: LlmEndpoint) -> None:
    def varied(body: dict[str, Any]) -> str:
        numbers = [int(each) for each in re.findall(r"^Text (\d+) ", body["messages"][-1]["content"], re.MULTILINE)]
        texts = [*WARM[2:4], *COLD[2:4]]
        return json.dumps(
            {"items": [{"number": n, "text": texts[n - 1]} for n in numbers] + [{"number": 9, "text": "x"}]}
        )

    service.script = varied
    context = having(context, service)
    seeds = [(WARM[0], 1.0), (WARM[1], 0.9), (COLD[0], 0.0), (COLD[1], 0.1)]
    handle = warmth(context, *seeds)
    made, last = synthesized(context, handle, synth_type="diversify")
    by_id = {sample.id: sample for sample in samples_of(context, handle)}
    assert {(by_id[each.seed_sample_id or 0].text, each.text) for each in made} == {
        (WARM[0], WARM[2]),
        (WARM[1], WARM[3]),
        (COLD[0], COLD[2]),
        (COLD[1], COLD[3]),
    }
    assert outcome_of(last).rejected == {"invalid": 1}
    assert all(text in service.question(0) for text, _ in seeds)


def test_under_zero_retention_nothing_is_sent_unless_that_is_switched_on(
    context: Context, service: LlmEndpoint
) -> None:
    context = having(context, service)
    handle = warmth(context, zero_data_retention=True)
    plan = synthesis.plan(context, AUTHOR, handle)
    assert (plan.generator, plan.sent, plan.reason) == ("offline", [], "zero_retention")
    with pytest.raises(FeatureUnavailable, match="zero data retention"):
        synthesis.start(context, AUTHOR, handle, SynthesizeRequest(language_model=True))
    made, _ = synthesized(context, handle)
    assert {sample.generator for sample in made} == {"offline"}
    assert service.asked == []

    update(context, handle, language_model_allowed=True)
    assert synthesis.plan(context, AUTHOR, handle).generator == MODEL
    made, _ = synthesized(context, handle)
    assert MODEL in {sample.generator for sample in made}
    assert update(context, handle, language_model_allowed=None).language_model_allowed is False
    assert synthesis.plan(context, AUTHOR, handle).reason == "zero_retention"


def test_offline_is_a_choice_and_without_a_language_model_the_only_one(context: Context, service: LlmEndpoint) -> None:
    handle = warmth(context)
    assert synthesis.plan(context, AUTHOR, handle).model_dump(include={"generator", "tokens", "reason"}) == {
        "generator": "offline",
        "tokens": 0,
        "reason": None,
    }
    with pytest.raises(FeatureUnavailable, match="TRAITBENCH_LLM_URL"):
        synthesis.start(context, AUTHOR, handle, SynthesizeRequest(language_model=True))
    made, _ = synthesized(having(context, service), handle, language_model=False)
    assert made
    assert service.asked == []


def test_a_text_that_drifts_to_the_other_side_is_rejected(context: Context, service: LlmEndpoint) -> None:
    wrong = items(
        *((text, 1.0) for text in (*WARM, "I hate you, you cold, harsh man.")), *((text, 0.0) for text in COLD)
    )
    service.script = lambda _: Reply(body=completion(wrong))
    made, last = synthesized(having(context, service), warmth(context))
    assert "I hate you, you cold, harsh man." not in {sample.text for sample in made}
    assert outcome_of(last).rejected["wrong_side"] >= 1


@pytest.mark.parametrize("are_swapped", [False, True])
def test_many_texts_on_the_wrong_side_raise_an_alarm(
    context: Context, service: LlmEndpoint, *, are_swapped: bool
) -> None:
    pairs = [*((text, 1.0) for text in WARM), *((text, 0.0) for text in COLD)]
    answer = items(*((text, 1 - quality if are_swapped else quality) for text, quality in pairs))
    service.script = lambda _: answer
    made, last = synthesized(having(context, service), warmth(context))
    outcome = outcome_of(last)
    if not are_swapped:
        assert outcome.warning is None
        return
    wrong, kept = outcome.rejected["wrong_side"], sum(each.generator == MODEL for each in made)
    assert outcome.warning == (
        f"Warmth: {wrong} of {wrong + kept} made texts were on the wrong side. Check whether its poles are swapped."
    )
    assert outcome.warning in notes(last)


# ---- other languages -------------------------------------------------------------------------------------------------

GERMAN = {"Kommen Sie herein, die Suppe ist noch heiß.": 1.0, "Ihre Beschwerde wird nicht beantwortet.": 0.0}


def test_the_language_model_is_told_the_language_of_the_samples_and_the_plan_what_offline_lacks(
    context: Context, service: LlmEndpoint
) -> None:
    handle = warmth(context, *GERMAN.items())
    plan = synthesis.plan(having(context, service), AUTHOR, handle, effort="low")
    assert "Write every text in German" in plan.sent[1]
    offline = synthesis.plan(context, AUTHOR, handle, effort="low")
    assert offline.offline_warning == plan.offline_warning
    assert "in German. Offline, texts are written in English only" in str(offline.offline_warning)
    varied = synthesis.plan(having(context, service), AUTHOR, handle, synth_type="diversify", effort="low")
    assert "in the language of that text" in varied.sent[1]
    assert "words are varied in English only" in str(varied.offline_warning)
    ready = having(context, service)
    done_here(ready, synthesis.start(ready, AUTHOR, handle, SynthesizeRequest(effort="low")).run_id)
    assert "Write every text in German" in service.question(0)


def test_without_samples_the_labels_decide_and_in_english_nothing_is_lacking(
    context: Context, service: LlmEndpoint
) -> None:
    handle = new_model(
        context,
        TraitInput(
            name="Höflichkeit",
            positive_label="höflich",
            negative_label="unhöflich",
            description="Höflich: bittet und dankt. Unhöflich: befiehlt und schimpft.",
        ),
    )
    assert "Write every text in German" in synthesis.plan(having(context, service), AUTHOR, handle).sent[1]
    english = warmth(context, *((text, 1.0) for text in WARM))
    plan = synthesis.plan(having(context, service), AUTHOR, english)
    assert "Write every text in English" in plan.sent[1]
    assert plan.offline_warning is None
    both = warmth(context, *((text, 1.0) for text in WARM), *GERMAN.items())
    assert "each of these languages: English, German." in synthesis.plan(having(context, service), AUTHOR, both).sent[1]
