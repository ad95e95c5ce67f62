"""Names for discovered traits from a language model, over real HTTP: what it is sent, and what stays without it."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.contexts import AUTHOR, ON_SQLITE, done_here, new_handle
from tests.llm_endpoint import MODEL, LlmEndpoint, llm_endpoint
from traitbench.contract.models import ModelCreate
from traitbench.contract.samples import text_hash
from traitbench.contract.traits import DiscoverRequest, Trait
from traitbench.errors import FeatureUnavailable
from traitbench.operations import discovery, models, traits
from traitbench.operations.context import Context
from traitbench.sample_data import demo_models

pytestmark = ON_SQLITE

HEADLINES = next(model for model in demo_models() if model.handle == "demo.headlines")
TEXTS = [*dict.fromkeys(str(each["text"]) for each in HEADLINES.samples)][:120]


def names(question: str) -> str:
    """A name for each axis of a question."""
    numbers = range(1, 1 + len(re.findall(r"^Axis \d+$", question, re.MULTILINE)))
    words = [{"name": f"Idea {n}", "positive_label": f"more {n}", "negative_label": f"less {n}"} for n in numbers]
    return json.dumps({"items": [{"axis": n, **word} for n, word in zip(numbers, words, strict=True)]})


@pytest.fixture
def service() -> Iterator[LlmEndpoint]:
    with llm_endpoint(lambda body: names(body["messages"][-1]["content"])) as service:
        yield service


def having(context: Context, service: LlmEndpoint) -> Context:
    return replace(context, settings=replace(context.settings, **service.settings))


def discovered(context: Context, *, zero_retention: bool = False, **body: Any) -> tuple[list[Trait], str]:
    """The suggestions for a new model, and the notes of the run."""
    handle = new_handle()
    models.create(context, AUTHOR, ModelCreate(handle=handle, zero_data_retention=zero_retention))
    request = DiscoverRequest(**{"effort": "low", "texts": TEXTS, **body})
    done_here(context, discovery.start(context, AUTHOR, handle, request).run_id)
    last = models.get(context, AUTHOR, handle).last_operation
    assert last is not None
    assert last.status == "succeeded", last.error
    return traits.list_traits(context, AUTHOR, handle).traits, " ".join((last.progress and last.progress.notes) or [])


def test_the_language_model_names_traits_from_their_typical_texts(context: Context, service: LlmEndpoint) -> None:
    found, notes = discovered(having(context, service))
    assert {trait.name for trait in found} == {f"Idea {n}" for n in range(1, len(found) + 1)}
    assert {(trait.negative_label, trait.positive_label) for trait in found} == {
        (f"less {n}", f"more {n}") for n in range(1, len(found) + 1)
    }
    assert f"{len(found)} of {len(found)} names are by {MODEL}." in notes
    shown = [trait.discovered.typical for trait in found if trait.discovered]
    typical = {digest for each in shown for digest in (*each.positive, *each.negative)}
    asked = " ".join(service.question(number) for number in range(len(service.asked)))
    assert all((" ".join(text.split())[:300] in asked) == (text_hash(text) in typical) for text in TEXTS)


@pytest.mark.parametrize("answer", [500, "no JSON", json.dumps({"items": []})], ids=["failure", "words", "nothing"])
def test_without_a_usable_answer_names_are_words_of_the_texts(context: Context, answer: int | str) -> None:
    plain, _ = discovered(context)
    with llm_endpoint(lambda _: answer) as service:
        found, notes = discovered(having(context, service))
    assert [trait.name for trait in found] == [trait.name for trait in plain]
    assert notes == f"{MODEL} gave no name that can be used. The names are words of the texts."


def test_nothing_is_sent_if_it_is_not_wanted_or_under_zero_retention(context: Context, service: LlmEndpoint) -> None:
    own = having(context, service)
    discovered(own, language_model=False)
    discovered(own, zero_retention=True)
    assert service.asked == []
    with pytest.raises(FeatureUnavailable, match="under zero data retention"):
        discovered(own, zero_retention=True, language_model=True)
    with pytest.raises(FeatureUnavailable, match="has no language model"):
        discovered(context, language_model=True)
