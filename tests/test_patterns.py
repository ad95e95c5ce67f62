"""Every regular expression of ours takes time in proportion to the text, whatever the text, and finds what it did.

The patterns are read from the source, so a new one is covered as soon as it is written.
"""

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.growth import LENGTHS, grows_too_fast
from tests.modules import ROOT, module_at, python_files
from tests.size import sized
from traitbench import definitions
from traitbench.encoders import style
from traitbench.fitting import pole_names
from traitbench.scoring import segments
from traitbench.synthesis import variations
from traitbench_app.model.foreign_markdown import _codes

Pattern = re.Pattern[Any]


def patterns() -> Iterator[tuple[str, Pattern]]:
    """Every pattern in the source, by file and line."""
    for file in python_files():
        where = file.relative_to(ROOT)
        source = file.read_text()
        if not re.search(r"\bre\.", source):
            continue
        tree = ast.parse(source)
        names = {id(node.value): node.targets[0] for node in tree.body if isinstance(node, ast.Assign)}
        for call in ast.walk(tree):
            if not isinstance(call, ast.Call) or not _is_of_re(call.func) or _calls(call, "escape"):
                continue
            place = f"{where}:{call.lineno}"
            if isinstance(call.args[0], ast.Constant):
                flags = re.IGNORECASE if "IGNORECASE" in ast.unparse(call) else 0
                yield place, re.compile(call.args[0].value, flags)
            else:
                target = names.get(id(call))
                assert isinstance(target, ast.Name), f"{place}: give the pattern a name at the top of the module"
                module = import_module(module_at(where))
                yield place, getattr(module, target.id)


def _is_of_re(call: ast.expr) -> bool:
    return isinstance(call, ast.Attribute) and isinstance(call.value, ast.Name) and call.value.id == "re"


def _calls(call: ast.Call, name: str) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == name


SIGNS = " \n\t.,:;!?…\"'”)(<>[]{}`*_#$|~=&/\\-–aA1é，。今\u0301😀"
WORDS = (
    *(
        "a.",
        ".\n",
        " \n",
        "\n ",
        ". ",
        ", ",
        "and ",
        " and",
        "no ",
        "or",
        "a'",
        "a: ",
        ". a: ",
        "May ",
        "1 of ",
        "do not ",
    ),
    *(
        "http://",
        "<meta",
        "<meta charset",
        "charset=",
        ";charset=",
        "at most 1 items ",
        "not 1",
        ":a",
        "- ",
        "\n- ",
        "\n|",
    ),
    *("tba_", "a@v", "else", "e.g. ", "0.0", "> ", "A", '…"', "!)", "。」", "`a", "a``", "~~~", "v1", "1."),
)
UNITS = (*SIGNS, *WORDS, *("".join(pair) for pair in product(" \n.,`", repeat=2)))
STEPS = "".join("`" * length + "a" for length in range(1, 200))
"""Runs of backticks, each longer than the one before: none is closed."""


def texts(begin: str, unit: str, end: str) -> Callable[[int], str]:
    return lambda length: begin + (unit * (length // len(unit))) + end


def too_slow(pattern: Pattern, lengths: Iterable[int] = LENGTHS) -> Iterator[str]:
    """The units of which a long run takes the pattern too long."""
    raw = isinstance(pattern.pattern, bytes)

    def find(text: str) -> None:
        for _ in pattern.finditer(text.encode() if raw else text):
            pass

    makers = {unit: texts("a: ", unit, "x") for unit in UNITS} | {"steps": lambda length: STEPS[:length]}
    return (unit for unit, make in makers.items() if grows_too_fast(find, make, lengths))


FOUND = dict(patterns())


def test_the_source_is_read() -> None:
    assert len(FOUND) > 35
    assert segments._SENTENCE_END in FOUND.values()


@pytest.mark.parametrize("place", FOUND)
def test_the_time_of_a_pattern_grows_with_the_text_and_no_faster(place: str) -> None:
    assert not list(too_slow(FOUND[place]))


# ---- what there was before -------------------------------------------------------------------------------------------

_CHARSET = import_module("traitbench.extract.fetch")._CHARSET
_CODE = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)")

BEFORE: Mapping[str, tuple[Pattern, Pattern]] = {
    "paragraph": (re.compile(r"\n[^\S\n]*\n\s*"), segments._PARAGRAPH_END),
    "phrase": (
        re.compile(r"[,;:)\u2013\u2014]+[\"'”’»]*\s+|[，、；：]\s*|\s+(?=(?:and|but|or|because|which|that|while)\s)"),
        segments._PHRASE_END,
    ),
    "sentence": (
        re.compile(r"[.!?…]+[\"'”’»)\]]*\s+|[。！？]+[」』”’）]*\s*|\s*\n\s*"),
        segments._SENTENCE_END,
    ),
    "sentence of a style": (re.compile(r"[.!?…]+(?:\s|$)|\n+|$"), style._SENTENCE),
    "parts of a label": (re.compile(r"\s*(?:,|;|/|\bor\b|\band\b)\s*", re.IGNORECASE), pole_names.PARTS),
    "charset": (re.compile(r";\s*charset\s*=\s*[\"']?([^\s;\"']+)", re.IGNORECASE), _CHARSET),
    "asked": (
        re.compile(variations._ASKED.pattern.replace(r"(?<!\s)\s++", r"\s+"), re.IGNORECASE),
        variations._ASKED,
    ),
    "swapped": (
        re.compile(variations._SWAPPED.pattern.replace("++", "+"), re.IGNORECASE),
        variations._SWAPPED,
    ),
}
ORDINARY = (
    *(
        "The",
        " ferry",
        " leaves",
        ". ",
        "! ",
        "?” ",
        ", ",
        " and ",
        "; ",
        "…\n",
        "\n\n",
        " – ",
        " but",
        "it's ",
        "5",
        "Mr. ",
    ),
)
PIECES = st.sampled_from((*SIGNS, *WORDS, *ORDINARY))
SHORT_TEXTS = st.lists(PIECES, max_size=30).map("".join)


def spans(pattern: Pattern, text: str) -> list[tuple[tuple[int, int], tuple[Any, ...]]]:
    return [(match.span(), match.groups()) for match in pattern.finditer(text)]


@pytest.mark.parametrize("name", BEFORE)
@settings(max_examples=sized(50, 150), deadline=None)
@given(text=SHORT_TEXTS)
def test_a_pattern_finds_what_it_found_before(name: str, text: str) -> None:
    before, now = BEFORE[name]
    assert spans(now, text) == spans(before, text)


def test_a_pattern_whose_time_grows_too_fast_is_noticed() -> None:
    assert next(too_slow(BEFORE["phrase"][0], LENGTHS[:1]), None)


@settings(max_examples=sized(50, 150), deadline=None)
@given(st.lists(st.sampled_from(["`", "``", "```", "a", " ", "a b", "$"]), max_size=25).map("".join))
def test_code_in_markdown_is_what_it_was(line: str) -> None:
    assert list(_codes(line)) == [match.span() for match in _CODE.finditer(line)]


@settings(max_examples=sized(50, 150), deadline=None)
@given(
    st.lists(
        st.sampled_from(["warm: ", "cold: ", "kind, soft", ". ", "; ", "\n", "\n\n  ", "no end", " ", "! ", "Cold"]),
        max_size=14,
    ).map("".join)
)
def test_what_a_description_says_of_its_poles_is_read_as_before(description: str) -> None:
    before = re.compile(r"(?:^|[.;!]\s+|\n\s*)([^.:;!\n]{1,60}):\s*(.+?)(?=[.;!]\s+[^.:;!\n]{1,60}:|\n|$)")

    def said(pattern: Pattern) -> dict[str, str]:
        matches = pattern.findall(description)
        return {label.strip().casefold(): result.strip(" .;") for label, result in matches if result.strip(" .;")}

    assert said(definitions.SECTION) == said(before)
