"""Whatever reads a text that anybody can send takes time in proportion to it, and is stopped by no character."""

from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any

import pytest

from tests.code_points import assigned, failing, typical
from tests.growth import grows_too_fast
from tests.nasty import FAMILIES
from tests.scoring.hand import axis, encode, snapshot
from tests.scoring.positions import positions
from tests.size import sized
from traitbench.analysis import languages
from traitbench.as_read import as_read
from traitbench.contract.explanations import Explanation
from traitbench.contract.texts import is_url
from traitbench.display import reasons
from traitbench.display import text as app_text
from traitbench.encoders import grams, ngrams, style
from traitbench.fitting import duplicates, phrases, pole_names
from traitbench.operations import model_cards
from traitbench.scoring import language, segments, spelling
from traitbench.scoring.explain import explain
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
    "as read": lambda text: as_read(text).origin(len(text) // 2),
    "style": style.raw,
    "n-grams": lambda text: grams.rows([text]),
    "other n-grams": ngrams._cells,
    "language": languages.language,
    "another language": language.is_not_english,
    "spelling": lambda text: spelling.spelling([text]),
    "negation": phrases.negates,
    "the rest": phrases.names_the_rest,
    "terms": phrases.words,
    "affirmed phrases": phrases.phrases,
    "likeness": lambda text: phrases.kernel([text, "a"]),
    "plain duplicates": duplicates.plain,
    "edits": lambda text: list(islice(variations._edited(text), 20)),
    "descriptions": lambda text: sentences._described(TraitPoles("", "name", "warm", "cold", text)),
    "labels": lambda text: pole_names.phrases(text),
    "addresses": is_url,
    "block of a card": model_cards._block,
    "faults": lambda text: list(strict_json.faults({"content": text})),
    "markdown": foreign_markdown.shown,
    "escaped": app_text.plain,
    "excerpt": lambda text: app_text.shortened(text, 160),
    "highlights": _highlighted,
}


SLOW = ("n-grams", "other n-grams", "likeness", "positions", "edits")
"""They read a text through patterns that the others read it through as well, and take as long as all of them."""


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


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_character_stops_it(name: str) -> None:
    characters = typical() if name in SLOW else [*typical(), *assigned()[::10]]
    assert failing(FUNCTIONS[name], sized(characters, assigned())) == []
