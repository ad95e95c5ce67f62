"""Names for discovered traits from a language model, over real HTTP: what it is sent, and what stays without it."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from tests.contexts import AUTHOR, ON_SQLITE, done_here
from tests.llm_endpoint import MODEL, LlmEndpoint, llm_endpoint
from tests.operations.author import HEADLINES, last_operation, new_model
from traitbench.contract.samples import text_hash
from traitbench.contract.traits import DiscoverRequest, Trait
from traitbench.errors import FeatureUnavailable
from traitbench.operations import discovery, traits
from traitbench.operations.context import Context

pytestmark = ON_SQLITE

TEXTS = [*dict.fromkeys(str(each["text"]) for each in HEADLINES.samples)][:120]


def _label(number: int) -> dict[str, str]:
    return {"name": f"Idea {number}", "positive_label": f"more {number}", "negative_label": f"less {number}"}


def names(body: dict[str, Any]) -> str:
    """A name for each axis of a question."""
    numbers = range(1, 1 + len(re.findall(r"^Axis \d+$", body["messages"][-1]["content"], re.MULTILINE)))
    return json.dumps({"items": [{"axis": n, **_label(n)} for n in numbers]})


def having(context: Context, service: LlmEndpoint) -> Context:
    return replace(context, settings=replace(context.settings, **service.settings))


def discovered(context: Context, *, zero_retention: bool = False, **body: Any) -> tuple[list[Trait], str]:
    """The suggestions for a new model, and the notes of the run."""
    handle = new_model(context, zero_data_retention=zero_retention)
    request = DiscoverRequest(**{"effort": "low", "texts": TEXTS, **body})
    done_here(context, discovery.start(context, AUTHOR, handle, request).run_id)
    last = last_operation(context, handle)
    assert last.status == "succeeded", last.error
    return traits.list_traits(context, AUTHOR, handle).traits, " ".join((last.progress and last.progress.notes) or [])


def test_the_language_model_names_traits_from_their_typical_texts(context: Context) -> None:
    with llm_endpoint(names) as service:
        found, notes = discovered(having(context, service))
    assert {(trait.name, trait.negative_label, trait.positive_label) for trait in found} == {
        (f"Idea {n}", f"less {n}", f"more {n}") for n in range(1, len(found) + 1)
    }
    assert f"{len(found)} of {len(found)} names are by {MODEL}." in notes
    shown = [trait.discovered.typical for trait in found if trait.discovered]
    typical = {digest for each in shown for digest in (*each.positive, *each.negative)}
    asked = " ".join(service.question(number) for number in range(len(service.asked)))
    assert all((" ".join(text.split())[:300] in asked) == (text_hash(text) in typical) for text in TEXTS)


@pytest.mark.parametrize("answer", [500, "no JSON", json.dumps({"items": []})], ids=["failure", "words", "nothing"])
def test_without_a_usable_answer_names_are_words_of_the_texts(context: Context, answer: int | str) -> None:
    with llm_endpoint(lambda _: answer) as service:
        found, notes = discovered(having(context, service))
    for trait in found:
        assert trait.discovered is not None
        assert trait.name == f"{trait.negative_label} – {trait.positive_label}"
    assert notes == f"{MODEL} gave no name that can be used. The names are words of the texts."


def test_nothing_is_sent_if_it_is_not_wanted_or_under_zero_retention(context: Context) -> None:
    with llm_endpoint(names) as service:
        own = having(context, service)
        discovered(own, language_model=False)
        discovered(own, zero_retention=True)
        assert service.asked == []
        with pytest.raises(FeatureUnavailable, match="under zero data retention"):
            discovered(own, zero_retention=True, language_model=True)
    with pytest.raises(FeatureUnavailable, match="has no language model"):
        discovered(context, language_model=True)
