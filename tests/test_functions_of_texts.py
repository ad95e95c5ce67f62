"""Whatever reads a text that anybody can send takes time in proportion to it, whatever the text."""

import dataclasses
from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any

import numpy as np
import pytest

from tests.growth import grows_too_fast
from tests.nasty import FAMILIES
from tests.scoring.hand import axis, encode, snapshot
from tests.scoring.positions import positions
from traitbench.analysis import nuisance
from traitbench.contract.explanations import Explanation
from traitbench.contract.extracts import is_url
from traitbench.display import reasons
from traitbench.display import text as app_text
from traitbench.encoders import grams, ngrams, style
from traitbench.fitting import duplicates, negation, phrases, terms
from traitbench.operations import model_cards
from traitbench.scoring import language, segments, spelling
from traitbench.scoring.explain import explain
from traitbench.scoring.repeats import shorten
from traitbench.service import strict_json
from traitbench.synthesis import TraitPoles, sentences, variations
from traitbench_app.model import foreign_markdown

MODEL = snapshot(axis("warmth", vector=(2.0, 0.5), offset=0.1, aggregation="mean"), max_depth=3)


def _highlighted(text: str) -> str:
    """A text in which every tenth character begins a part."""
    parts = [{"start": at, "end": at + 2, "contribution": 0.5, "pieces": []} for at in range(0, len(text) - 2, 10)]
    fields = {"unit": "logit", "position": 1.0, "baseline": 0.0, "parts": parts, "refined": True, "decided_by": None}
    return reasons.highlighted(
        Explanation.model_validate(fields | {"nearest": None, "note": None}), text, by_pieces=True
    )


FUNCTIONS: Mapping[str, Callable[[str], Any]] = {
    "segments": segments.segments,
    "paragraphs": lambda text: segments.parts(text, 2),
    "sentences": lambda text: segments.parts(text, 3),
    "phrases": lambda text: segments.phrases(text, 50),
    "words": segments.count_words,
    "embedding": lambda text: segments.embed(encode, [text]),
    "positions": lambda text: positions(MODEL, encode, [text]),
    "shortening": shorten,
    "style": style.raw,
    "n-grams": lambda text: grams.rows([text]),
    "other n-grams": ngrams._cells,
    "language": nuisance.language,
    "another language": language.is_not_english,
    "spelling": lambda text: spelling.spelling([text]),
    "negation": negation.negates,
    "the rest": negation.names_the_rest,
    "terms": phrases.words,
    "affirmed phrases": phrases.phrases,
    "likeness": lambda text: terms.kernel([text, "a"]),
    "plain duplicates": duplicates.plain,
    "edits": lambda text: list(islice(variations._edited(text), 20)),
    "descriptions": lambda text: sentences._described(TraitPoles("", "name", "warm", "cold", text)),
    "labels": lambda text: sentences._phrases(text),
    "addresses": is_url,
    "block of a card": model_cards._block,
    "faults": lambda text: list(strict_json.faults({"content": text})),
    "markdown": foreign_markdown.shown,
    "escaped": app_text.plain,
    "excerpt": lambda text: app_text.shortened(text, 160),
    "highlights": _highlighted,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_time_grows_with_the_text_and_no_faster(name: str) -> None:
    assert [family for family, make in FAMILIES.items() if grows_too_fast(FUNCTIONS[name], make)] == []


@pytest.mark.parametrize("family", FAMILIES)
def test_the_time_of_an_explanation_is_bounded(family: str) -> None:
    asked: list[str] = []

    def counting(texts: Any) -> Any:
        asked.extend(texts)
        return encode(texts)

    text = FAMILIES[family](20_000)
    explain(MODEL, encode, text, look=counting)
    assert len(asked) <= 256
    assert sum(map(len, asked)) <= 250_000


def test_a_very_long_text_has_a_bounded_number_of_parts_that_still_add_up() -> None:
    text = " ".join(f"East {number} it is." for number in range(3_000))
    explanation = explain(MODEL, encode, text).traits["warmth"]
    assert len(explanation.parts) < 1_300
    assert not explanation.refined
    assert explanation.baseline + sum(part.contribution for part in explanation.parts) == pytest.approx(
        explanation.position, abs=1e-9
    )
    assert "".join(text[part.start : part.end] for part in explanation.parts).replace(" ", "") == text.replace(" ", "")


def test_the_parts_of_a_shortened_text_are_places_of_the_text_as_it_was_sent() -> None:
    text = (
        "east north. " + "." * 5_000 + " West it is.\n" + " " * 900 + "\nSouth \u201cand" + "!" * 700 + "\u201d east."
    )
    explanation = explain(MODEL, encode, text).traits["warmth"]
    result = [text[part.start : part.end] for part in explanation.parts]
    assert result[0] == "east north."
    assert "West it is." in result
    assert result[-1].endswith("east.")
    assert "".join("".join(result).split()) == "".join(text.split())
    assert explanation.baseline + sum(part.contribution for part in explanation.parts) == pytest.approx(
        explanation.position, abs=1e-9
    )


def test_a_shortened_text_is_scored_as_it_is_explained() -> None:
    text = "east north. " + "." * 5_000 + " west it is."
    assert np.array_equal(positions(MODEL, encode, [text]), positions(MODEL, encode, [shorten(text).text]))
    one, other = (explain(MODEL, encode, each).traits["warmth"] for each in (text, shorten(text).text))
    assert dataclasses.replace(one, parts=()) == dataclasses.replace(other, parts=())
