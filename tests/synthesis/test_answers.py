"""Objects in the answers of language models: what is read of good, wrapped, broken and hostile JSON."""

import pytest
from pydantic import BaseModel, Field

from traitbench.synthesis.language_model import read


class Item(BaseModel):
    text: str = Field(min_length=1)
    quality: float = Field(ge=0, le=1)


ONE, OTHER = '{"text": "Come in!", "quality": 1}', '{"text": "Go {away}.", "quality": 0}'


@pytest.mark.parametrize(
    ("content", "texts", "invalid"),
    [
        (f'{{"items": [{ONE}, {OTHER}]}}', ["Come in!", "Go {away}."], 0),
        (f"[{ONE}, {OTHER}]", ["Come in!", "Go {away}."], 0),
        (f"Sure!\n```json\n{{\"texts\": [{ONE}]}}\n```\nAnything else?", ["Come in!"], 0),
        (f'{{"items": [{ONE}, {{"text": "Half a te', ["Come in!"], 0),
        (f"{ONE}\n{OTHER}", ["Come in!", "Go {away}."], 0),
        (f'{{"items": [{ONE}, {{"text": "", "quality": 1}}, {{"text": "x", "quality": 7}}]}}', ["Come in!"], 2),
        ('{"items": []}', [], 1),
        ("I cannot help with that.", [], 0),
        ("{" * 999 + ONE, ["Come in!"], 0),
        ("{" * 1_000_000, [], 0),
        ('{"a":' * 50_000, [], 0),
        ("", [], 0),
    ],
)  # fmt: skip
def test_every_complete_object_that_fits_counts(content: str, texts: list[str], invalid: int) -> None:
    answer = read(content, Item)
    assert ([each.text for each in answer.items], answer.invalid) == (texts, invalid)
