"""`traitbench score --explain`."""

import json

from tests.app.asking import Ask
from tests.conftest import COLD, WARM, Trained


def test_reasons_are_told_below_the_chart(ask: Ask, trained: Trained) -> None:
    text = f"{WARM[0]} {COLD[0]}"
    code, out, _ = ask("score", trained.handle, text, "--explain")
    card = trained.client.scores.score(trained.handle, text, explain=True)
    result = (card.explanation or {})["warmth"]
    assert code == 0
    assert out.startswith(trained.client.scores.chart(trained.handle, text).rstrip("\n"))
    assert f"warmth {card.scores['warmth']}: " in out
    for part in result.parts:
        assert f"{part.contribution:+.2f}" in out
        assert str(part.text) in out
    assert result.nearest is not None
    for near in (*result.nearest.positive, *result.nearest.negative):
        assert f"{near.similarity:.2f}  {near.id}" in out
        assert str(near.text) in out


def test_without_the_word_there_is_the_chart_alone(ask: Ask, trained: Trained) -> None:
    assert "middle" not in ask("score", trained.handle, WARM[0])[1]


def test_programs_get_the_reasons_with_the_card(ask: Ask, trained: Trained) -> None:
    _, out, _ = ask("score", trained.handle, WARM[0], "--explain", "--json")
    assert json.loads(out)["explanation"]["warmth"]["parts"][0]["text"] == WARM[0]
    assert "explanation" not in json.loads(ask("score", trained.handle, WARM[0], "--json")[1])


def test_of_a_long_text_the_parts_that_add_most_are_told(ask: Ask, trained: Trained) -> None:
    _, out, _ = ask("score", trained.handle, " ".join(f"{WARM[0]} {day}. {COLD[0]}" for day in range(60)), "--explain")
    assert "more parts)" in out
    assert len(out.splitlines()) < 60


def test_rows_of_a_file_are_not_explained(ask: Ask, trained: Trained) -> None:
    code, _, err = ask("score", trained.handle, "--batch", "-", "--explain", stdin="text\nhello\n")
    assert (code, "--explain" in err) == (2, True)
