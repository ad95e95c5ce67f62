"""Values that another service recorded: which columns have them, and what becomes of each row."""

import io
import json

import pytest

from tests.tables.in_process import opened_here
from traitbench.tables.recorded_values import is_attribute, read_values, value_columns


@pytest.mark.parametrize(
    ("column", "attribute"),
    [
        ("TOXICITY", "TOXICITY"),
        (" severe toxicity", "SEVERE_TOXICITY"),
        ("identity-attack", "IDENTITY_ATTACK"),
        ("perspective_insult_score", "INSULT"),
        ("THREAT.summaryScore.value", "THREAT"),
        ("answer.attributeScores.PROFANITY.summaryScore.value", "PROFANITY"),
        ("scores.toxicity", "TOXICITY"),
        ("toxicity.value", "TOXICITY"),
        ("REASONING_EXPERIMENTAL", "REASONING_EXPERIMENTAL"),
        ("house_rules", "HOUSE_RULES"),
        ("attributeScores.TOXICITY.summaryScore.type", None),
        ("requestedAttributes.TOXICITY", None),
        ("score", None),
        ("value", None),
        ("", None),
        ("text", None),
        ("毒性", None),
    ],
)
def test_a_column_is_called_like_an_attribute(column: str, attribute: str | None) -> None:
    assert value_columns([column], ["HOUSE_RULES"]) == ({} if attribute is None else {attribute: [column]})


def test_columns_with_the_name_of_one_attribute_are_all_named() -> None:
    assert value_columns(["toxicity", "text", "TOXICITY"]) == {"TOXICITY": ["toxicity", "TOXICITY"]}


def test_the_name_of_an_attribute_is_in_capitals() -> None:
    assert [name for name in ("A", "A_1", "a", "1A", "_A", "", "A-B", "É", "A" * 65) if is_attribute(name)] == [
        "A",
        "A_1",
    ]


def test_each_row_of_a_file_is_read_or_counted() -> None:
    rows = [
        "text,TOXICITY,INSULT",
        '"You fool, 😀",0.9,"0,75"',
        "Thank you.,0,1",
        "No value.,,nan",
        "Percent.,83,0.5",
        "A word.,high,0.5",
        "Negative.,-0.1,inf",
        "n/a,0.5,0.5",
        ",0.5,0.5",
    ]
    source = opened_here("a.csv", io.BytesIO("\n".join(rows).encode()))
    columns = {"TOXICITY": "TOXICITY", "INSULT": "INSULT"}
    read = read_values(source.lines(), "text", columns)
    assert [(each.line, each.values) for each in read.rows] == [
        (2, {"TOXICITY": 0.9, "INSULT": 0.75}),
        (3, {"TOXICITY": 0.0, "INSULT": 1.0}),
        (4, {}),
        (5, {"INSULT": 0.5}),
        (6, {"INSULT": 0.5}),
        (7, {}),
    ]
    assert (read.nothing, read.blank, read.unreadable) == (1, 1, 0)
    assert (read.missing, read.invalid) == ({"TOXICITY": 1, "INSULT": 1}, {"TOXICITY": 3, "INSULT": 1})
    assert [(each.row, each.column) for each in read.problems] == [
        *((5, "TOXICITY"), (6, "TOXICITY"), (7, "TOXICITY"), (7, "INSULT")),
    ]
    assert len(read_values(source.lines(), "text", columns, whole=True).rows) == 7


def test_answers_of_the_service_are_read_as_they_were_recorded() -> None:
    lines = [
        {"comment": {"text": text}, "attributeScores": {"TOXICITY": {"summaryScore": {"value": value}}}}
        for text, value in (("You fool.", 0.9), ("Thank you.", 0.1))
    ]
    content = "\n".join(map(json.dumps, lines)) + "\nno json\n"
    source = opened_here("a.jsonl", io.BytesIO(content.encode()))
    found = value_columns(source.columns)
    assert found == {"TOXICITY": ["attributeScores.TOXICITY.summaryScore.value"]}
    read = read_values(source.lines(), "comment.text", {name: column for name, [column] in found.items()})
    assert [(each.text, each.values["TOXICITY"]) for each in read.rows] == [("You fool.", 0.9), ("Thank you.", 0.1)]
    assert read.unreadable == 1
    assert "You fool" not in str(read.problems)
