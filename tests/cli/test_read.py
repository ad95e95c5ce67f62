"""`traitbench read` says what the workbench makes of a file, and takes a word about it."""

import json
from pathlib import Path

from tests.cli.asking import call

ROWS = "id,answer,rating,area\n" + "".join(
    f"{row},This is what person {row} wrote.,{(1, 2, 3, 4, 5, 99)[row % 6]},{'NS'[row % 2]}\n" for row in range(36)
)


def read(home: Path, *arguments: str, content: str = ROWS) -> dict[str, object]:
    file = home / "survey.csv"
    file.write_text(content, encoding="utf-8")
    code, out, err = call(home, "read", str(file), "--json", *arguments)
    assert code == 0, err
    found: dict[str, object] = json.loads(out)
    return found


def test_the_answer_for_programs_has_its_shape(tmp_path: Path) -> None:
    found = read(tmp_path)
    assert [*found] == ["rows", "texts", "columns", "traits", "left_out", "notes"]
    assert (found["rows"], found["texts"]) == (36, {"column": "answer", "also": [], "turn": None})
    assert found["columns"][2] == {  # type: ignore[index]
        "name": "rating",
        "reading": "scale",
        "said": "A scale from 1 to 5. “99” means no answer (6 rows).",
    }
    assert found["traits"] == [
        {
            "name": "Rating",
            "negative_label": "low rating",
            "positive_label": "high rating",
            "negative": 12,
            "positive": 12,
            "between": 6,
            "unlabelled": 6,
        }
    ]
    assert found["left_out"] == [
        {"rows": [6, 12, 18, 24, 30, 36], "reason": "“rating” says “99”, which means no answer"}
    ]


def test_a_reading_that_is_given_is_taken(tmp_path: Path) -> None:
    found = read(tmp_path, "--read", "area=labels", "--read", "rating=not_used")
    assert [each["name"] for each in found["traits"]] == ["Area"]  # type: ignore[attr-defined]
    assert found["left_out"] == []


def test_a_reading_or_column_that_does_not_exist_names_the_choices(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(ROWS, encoding="utf-8")
    for option, said in (
        ("area=region", "rows_together"),
        ("mood=labels", "id, answer, rating, area"),
        ("area", "COLUMN"),
    ):
        code, out, err = call(tmp_path, "read", str(tmp_path / "a.csv"), "--read", option)
        assert (code, out) == (2, "")
        assert said in err


def test_people_get_the_reading_as_tables(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(ROWS, encoding="utf-8")
    code, out, _ = call(tmp_path, "read", str(tmp_path / "a.csv"))
    assert code == 0
    assert "area    group       A group to compare: N and S." in out
    assert "6 rows: “rating” says “99”, which means no answer (rows 6, 12, 18, 24, 30, 36)." in out
