"""What is printed: columns that line up, and nothing of a text that steers the reader's terminal."""

import pytest
from click.testing import CliRunner

from traitbench.cli.output import say_fields, say_table, say_text


def printed(say: object, *arguments: object) -> str:
    with CliRunner().isolation() as (out, *_):
        say(*arguments)  # type: ignore[operator]
        return out.getvalue().decode()


def test_columns_are_as_wide_as_what_a_terminal_shows_in_them() -> None:
    table = printed(say_table, ("NAME", "X"), [("温度", 1), ("é" + "e\u0301", 2), ("plain", 3)])
    assert table.splitlines() == ["NAME   X", "温度   1", "ée\u0301     2", "plain  3"]


@pytest.mark.parametrize("character", ["\x1b", "\x07", "\x9b", "\u202e", "\u2066", "\x00"])
def test_a_table_shows_no_character_that_steers(character: str) -> None:
    assert printed(say_table, ("A",), [(f"a{character}b",)]) == "A\na�b\n"
    assert printed(say_fields, [("a", f"a{character}b")]) == "a  a�b\n"


def test_a_cell_stays_on_its_line() -> None:
    assert printed(say_table, ("A", "B"), [("one\r\ntwo\u2028three", 2)]) == "A              B\none two three  2\n"


def test_a_text_in_a_pipe_is_exactly_itself() -> None:
    assert printed(say_text, "a\x1b[31m\tb\n") == "a\x1b[31m\tb\n"
    assert printed(say_text, "a") == "a\n"
