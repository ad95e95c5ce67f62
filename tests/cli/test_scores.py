"""Scores on the command line: a chart for people, a card for programs, and the reasons for both."""

import json
from pathlib import Path

from tests.cli.asking import Ask
from tests.conftest import COLD, WARM, Trained
from traitbench.display.words import REASONS


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


def test_of_a_long_text_the_parts_that_add_most_are_told(ask: Ask, trained: Trained) -> None:
    _, out, _ = ask("score", trained.handle, " ".join(f"{WARM[0]} {day}. {COLD[0]}" for day in range(60)), "--explain")
    assert "more parts)" in out
    assert len(out.splitlines()) < 60


def test_rows_of_a_file_are_not_explained(ask: Ask, trained: Trained) -> None:
    code, _, err = ask("score", trained.handle, "--batch", "-", "--explain", stdin="text\nhello\n")
    assert (code, "--explain" in err) == (2, True)


def test_a_score_is_a_chart_for_people_and_a_card_for_programs(ask: Ask, trained: Trained, tmp_path: Path) -> None:
    file = tmp_path / "text.txt"
    file.write_text(WARM[0])
    _, chart, _ = ask("score", trained.handle, "--file", str(file), "--traits", "warmth")
    assert chart == trained.client.scores.chart(trained.handle, WARM[0]).rstrip("\n") + "\n"
    assert ask("score", f"{trained.handle}@v1", "-", stdin=WARM[0])[1] == chart
    _, out, _ = ask("score", trained.handle, WARM[0], "--json")
    card = trained.client.scores.score(trained.handle, WARM[0])
    assert json.loads(out)["scores"] == card.scores
    code, _, err = ask("score", trained.handle, "text", "--traits", "warmth,colour")
    assert code == 1
    assert "traits.1" in err


def test_two_texts_are_compared(ask: Ask, trained: Trained, tmp_path: Path) -> None:
    file = tmp_path / "cold.txt"
    file.write_text(COLD[0])
    _, chart, _ = ask("compare", trained.handle, "--file-a", str(file), "-", stdin=WARM[0])
    drawn = trained.client.scores.compare_chart(trained.handle, COLD[0], WARM[0]).rstrip("\n")
    assert chart == f"{drawn}\n\nB is higher (sure): warmth.\n"
    assert "\n\nNo sure difference: warmth.\n" in ask("compare", trained.handle, COLD[0], COLD[1])[1]
    _, out, _ = ask("compare", f"{trained.handle}@v1", COLD[0], WARM[0], "--json")
    assert json.loads(out)["per_trait"]["warmth"]["delta"] > 0


def test_why_a_confidence_is_not_high_is_said_beside_the_chart(ask: Ask, trained: Trained) -> None:
    sentence = f"warmth: low confidence. {REASONS['unlike_samples'].sentence}\n"
    _, chart, err = ask("score", trained.handle, "qwpo xzzk vbnm lkjh asdf 48151")
    assert (sentence in err, "unlike" in chart) == (True, False)
    _, _, err = ask("compare", trained.handle, WARM[0], "qwpo xzzk vbnm lkjh asdf 48151")
    assert f"b: {sentence}" in err


def test_an_address_that_is_not_public_is_refused(ask: Ask) -> None:
    code, out, err = ask("extract", "http://127.0.0.1/secret")
    assert (code, out) == (1, "")
    assert "[req_" in err
