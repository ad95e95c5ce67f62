"""`core/docs/contract.md` against the code: errors, access, states, scores, limits, admission control; and settings."""

import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import pytest

from tests.contract import access
from tests.contract.access import OWNED_READS, READS, WRITES
from tests.docs.markdown import ROOT, only_code, read, section, table, tables
from traitbench import errors
from traitbench.as_read import LONGEST_RUN
from traitbench.contract.samples import LONGEST_TEXT
from traitbench.contract.scores import FEEDBACK_WORDS, Confidence, ConfidenceReason
from traitbench.contract.states import TABLE, Outcome
from traitbench.errors import TraitbenchError, Unreachable
from traitbench.extract.fetch import CONTRACT_LIMITS
from traitbench.fitting.discover import FEWEST_TEXTS
from traitbench.scoring.card import band, breaks, ceiling
from traitbench.scoring.certainty import Reason
from traitbench.scoring.segments import TOKENS_PER_WORD
from traitbench.scoring.snapshot import Quartiles, TierBreaks
from traitbench.service.capacity import LONG, bounds_for
from traitbench.service.strict_json import MAX_DEPTH
from traitbench.settings import Settings, read_settings

PAGE = read("contract.md")
CELLS = {
    Outcome.PROCEED: "yes",
    Outcome.NOTHING: "nothing",
    Outcome.MATCH: "match",
    Outcome.IF_VERSION: "if trained",
    Outcome.WAIT: "wait",
}


def codes(root: type[TraitbenchError] = TraitbenchError) -> Iterator[type[TraitbenchError]]:
    """The errors that a response may have. Other modules define errors of runs, and may be imported here or not."""
    for error in root.__subclasses__():
        if "code" in vars(error) and error.__module__ == errors.__name__:
            yield error
        yield from codes(error)


def test_the_table_of_error_codes() -> None:
    rows = table(PAGE, "Error codes")
    listed = {(only_code(row["Code"]), int(row["Status"]), only_code(row["Class"])) for row in rows}
    assert listed == {(each.code, each.status, each.__name__) for each in codes() if each is not Unreachable}
    assert [int(row["Status"]) for row in rows] == sorted(int(row["Status"]) for row in rows)
    assert all(vars(errors)[only_code(row["Class"])] for row in rows)


def test_every_code_that_the_page_mentions_exists() -> None:
    known = {each.code for each in codes()}
    rows = tables(section(PAGE, "5. States"))[1]
    states = {only_code(cell) for row in rows for name, cell in row.items() if "_" in cell and name != "Operation"}
    assert states <= known


def test_the_table_of_access() -> None:
    """It says what `tests/contract/test_access_table.py` walks over a socket."""
    walked = {id(operations): columns for operations, key, columns in access.TABLE if key == "authoring"}
    groups = {"read": READS, "owned read": OWNED_READS, "write": WRITES}
    rows = table(PAGE, "3. Access")
    assert {only_code(row["Reach"]) for row in rows} == groups.keys()
    for row in rows:
        operations = groups[only_code(row["Reach"])]
        owned, public, other = walked[id(operations)][:3]
        assert [row[f"{name} namespace"] for name in ("Owned", "Public", "Other")] == [
            "yes" if each is None or each == access.OK else f"{each[0]} `{each[1]}`" for each in (owned, public, other)
        ]


def test_the_table_of_states() -> None:
    _, rows, _ = tables(section(PAGE, "5. States"))
    listed = {(only_code(row["Operation"]), state): row[state] for row in rows for state in row if state != "Operation"}
    assert listed == {
        (operation, state): CELLS[cell] if isinstance(cell, Outcome) else f"`{cell.code}`"
        for operation, row in TABLE.items()
        for state, cell in row.items()
    }


POLES = {
    "apart": (Quartiles(60, 70, 80), Quartiles(20, 30, 40)),
    "overlapping": (Quartiles(40, 60, 80), Quartiles(20, 30, 55)),
    "one pole without quartiles": (None, Quartiles(20, 30, 40)),
}
# The rows of the page by what their two cells begin with, and scores that each row is about, its borders among them.
SCORES = {
    ("apart", "between the two"): (40, 50, 59),
    ("apart", "elsewhere"): (0, 39, 60, 100),
    ("overlapping", "from the first"): (40, 50, 55),
    ("overlapping", "elsewhere"): (0, 39, 56, 100),
    ("one pole without quartiles", "any"): (0, 50, 100),
}


def test_the_tables_of_confidence() -> None:
    levels = {only_code(row["Confidence"]) for row in table(PAGE, "Confidence")}
    assert levels == set(get_args(Confidence))
    reasons = {only_code(row["`confidence_reason`"]) for row in tables(section(PAGE, "Confidence"))[1]}
    assert reasons == set(get_args(ConfidenceReason)) == set(get_args(Reason))


def test_the_table_of_what_quartiles_allow() -> None:
    rows = tables(section(PAGE, "Confidence"))[2]
    assert len(rows) == len(SCORES)
    for (poles, where), points in SCORES.items():
        [row] = [row for row in rows if row["Poles"].startswith(poles) and row["Score"].startswith(where)]
        expected: Any = only_code(row["At most"])
        assert {_at_most(poles, each) for each in points} == {expected}


def _at_most(poles: str, points: int) -> Confidence:
    positive, negative = POLES[poles]
    return ceiling(points, breaks(positive, negative), positive, negative)


def test_a_pole_without_quartiles() -> None:
    positive, negative = POLES["one pole without quartiles"]
    assert "the breaks are 50, 50, 50, the band is 0 to 100" in section(PAGE, "Score card").replace("\n", " ")
    assert breaks(positive, negative) == TierBreaks(50, 50, 50)
    assert band(70, positive, negative) == (0, 100)


def test_the_table_of_feedback_words() -> None:
    rows = table(PAGE, "Feedback")
    words = {word.strip().strip("`"): float(row["Quality"]) for row in rows for word in row["Words"].split(",")}
    assert words == dict(FEEDBACK_WORDS)


def test_the_limits_of_a_fetch() -> None:
    listed = {row["Limit"]: row["Value"] for row in table(PAGE, "Addresses")}
    assert listed == {
        "Total time of a fetch": f"{CONTRACT_LIMITS.seconds:g} s",
        "Body": f"{CONTRACT_LIMITS.body_bytes:,} bytes",
        "Redirects": str(CONTRACT_LIMITS.redirects),
        "Ports": ", ".join(map(str, sorted(CONTRACT_LIMITS.ports))),
        "Processor time to extract the text": f"{CONTRACT_LIMITS.reading_seconds:g} s",
        "Text returned": f"{CONTRACT_LIMITS.content_bytes:,} bytes",
    }


@pytest.mark.parametrize(
    ("heading", "sentence"),
    [
        ("Bodies", f"more than {MAX_DEPTH} levels of nesting"),
        ("Feedback", f"at most {LONGEST_TEXT:,} characters"),
        ("Runs", f"Discovery needs {FEWEST_TEXTS} different texts"),
        ("Sizes", f"more than {LONGEST_RUN} equal characters count as {LONGEST_RUN}"),
        ("Sizes", f"{ {2: 'two'}[TOKENS_PER_WORD] } tokens for each"),
        ("Admission control", f"more than {LONG:,} bytes"),
    ],
)
def test_a_number_in_a_sentence(heading: str, sentence: str) -> None:
    assert sentence in " ".join(section(PAGE, heading).split())


def test_the_table_of_admission_control() -> None:
    listed = {
        only_code(row["Kind"]): tuple(
            float(row[name].replace(",", "")) for name in ("Slots", "Waiting", "Bytes", "Seconds")
        )
        for row in table(PAGE, "Admission control")
    }
    bounds = bounds_for(read_settings({}), cores=2)
    assert listed == {kind: (each.slots, each.waiting, each.bytes, each.seconds) for kind, each in bounds.items()}


def test_the_table_of_settings_is_complete_and_in_use() -> None:
    listed = [only_code(row["Variable"]) for row in table(read("settings.md"), "Settings")]
    assert len(set(listed)) == len(listed) == len(fields(Settings))
    assert set(listed) == set(
        re.findall(r"TRAITBENCH_[A-Z_]+", (ROOT / "core" / "traitbench" / "settings.py").read_text("utf-8"))
    )


@pytest.mark.parametrize("row", table(read("settings.md"), "Settings"), ids=lambda row: only_code(row["Variable"]))
def test_the_default_of_a_setting(row: dict[str, str], tmp_path: Path) -> None:
    """Set to its default, a variable changes nothing; a number or word is the very value."""
    home = {"TRAITBENCH_HOME": str(tmp_path)}
    name, default = only_code(row["Variable"]), row["Default"]
    unset = read_settings(home if name != "TRAITBENCH_HOME" else {})
    attribute = {"TRAITBENCH_LOG": "log_form"}.get(name, name.removeprefix("TRAITBENCH_").lower())
    value = getattr(unset, attribute)
    if default.startswith("`"):
        assert value == getattr(read_settings({**home, name: default.strip("`")}), attribute)
        assert _written(value) == default.strip("`").replace("~", str(Path.home()))
    elif default == "none":
        assert value in (None, ())
    else:
        assert default == "SQLite in the home folder"
        assert value == f"sqlite:///{tmp_path}/traitbench.db"


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return ",".join(value) if isinstance(value, tuple) else str(value)
