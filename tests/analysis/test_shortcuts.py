"""Marks that alone tell the poles apart: what is one, what is none, and what is left without it."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from traitbench.analysis.shortcuts import Accuracy, Mark, Shortcut, marks_of, shortcuts
from traitbench.scoring.inputs import Floats

GOOD = (
    "The {} from there was really lovely",
    "We always liked that {} very much",
    "My new {} makes every morning better",
)
BAD = (
    "The {} from there broke after days",
    "We always hated that {} and sent it back",
    "My new {} wastes good money daily",
)
THINGS = ("kettle", "lamp", "chair", "radio", "knife", "carpet", "mirror", "pillow")
HAPPY = [frame.format(thing) for thing in THINGS for frame in GOOD]
SAD = [frame.format(thing) for thing in THINGS for frame in BAD]
Y: Floats = np.array([1.0] * len(HAPPY) + [0.0] * len(SAD))
EMOJI = "🌸🐢🍋"


def of(change: Callable[[str, int], str], **more: object) -> list[Shortcut]:
    """The shortcuts after this change of the happy texts."""
    return shortcuts([*(change(text, at) for at, text in enumerate(HAPPY)), *SAD], Y, **more)  # type: ignore[arg-type]


def measured(area: float) -> Accuracy:
    return Accuracy(area, ((1, 1), (1, 1)))


def name_of(at: int) -> str:
    return "".join("bdfgk"[at // 5**digit % 5] + "aeiou"[digit] for digit in range(3))


def test_texts_without_a_mark_have_no_shortcut() -> None:
    assert of(lambda text, _: text) == []


@pytest.mark.parametrize(
    ("change", "kind", "says"),
    [
        (lambda text, _: f"zylor {text}", "token", "“zylor” occurs"),
        (lambda text, _: f"that {text}", "token", "The first word is “that”"),
        (lambda text, at: f"@{name_of(at)} {text}", "handle", "A handle occurs"),
        (lambda text, _: f"{text} thanks @zylor", "handle", "The handle “@zylor” occurs"),
        (lambda text, at: f"{text} https://{name_of(at)}.example/a", "link", "A link occurs"),
        (lambda text, at: f"{text} #{name_of(at)}", "hashtag", "A hashtag occurs"),
        (lambda text, at: f"{310 + 7 * at} {text}", "number", "A number is the first word"),
        (lambda text, at: f"{text} (ref A{310 + 7 * at})", "token", "“ref” occurs"),
        (lambda text, at: f"{text} {EMOJI[at % 3]}", "emoji", "An emoji occurs"),
        (lambda text, _: text.lower(), "spelling", "Capital letters are missing"),
        (lambda text, _: text.upper(), "spelling", "All letters are capitals"),
        (lambda text, _: text.title(), "spelling", "Most words begin with a capital letter"),
        (lambda text, _: f"{text}!", "spelling", "The character “!” occurs"),
        (lambda text, _: text.replace("e", "é"), "spelling", "A letter with an accent occurs"),
        (lambda text, _: text.replace(" ", "  ", 1), "spelling", "A double space occurs"),
    ],
)
def test_a_planted_mark_is_named(change: Callable[[str, int], str], kind: str, says: str) -> None:
    first = of(change)[0]
    assert (first.mark.kind, first.mark.says) == (kind, says)
    assert (first.counts, first.of, first.area) == ((24, 0), (24, 24), 1.0)
    assert first.has.tolist() == (Y > 0.5).tolist()


def test_a_mark_in_nine_of_ten_texts_and_in_some_of_the_others_is_named() -> None:
    texts = [text if at % 10 == 0 else f"zylor {text}" for at, text in enumerate(HAPPY)]
    others = [f"zylor {text}" if at % 12 == 0 else text for at, text in enumerate(SAD)]
    (only,) = shortcuts([*texts, *others], Y)
    assert (only.mark.value, only.counts) == ("zylor", (21, 2))


def test_all_marks_of_the_same_texts_are_one_shortcut_and_are_masked_together() -> None:
    masked: list[str] = []

    def measure(texts: Sequence[str]) -> Accuracy:
        masked.extend(texts)
        return measured(0.9)

    (only,) = of(lambda text, _: f"Praise zylor: {text}", measure=measure)
    assert {"praise", "zylor"} <= {mark.value for mark in only.marks}
    assert masked[-len(Y) :] == [*HAPPY, *SAD]


def test_words_that_a_label_names_are_no_shortcut() -> None:
    def changed(text: str, _at: int) -> str:
        return f"{text} pleasures"

    assert of(changed)[0].mark.value == "pleasures"
    assert of(changed, names=["Mood", "Pleasure", "Anger"]) == []


@pytest.mark.parametrize(("count", "named"), [(4, []), (6, []), (7, ["zylor"])], ids=["few", "some", "enough"])
def test_few_texts_are_no_evidence_for_one_of_many_marks(count: int, named: list[str]) -> None:
    few = [*(f"zylor {text}" for text in HAPPY[:count]), *SAD[:count]]
    found = shortcuts(few, np.array([1.0] * count + [0.0] * count))
    assert [each.mark.value for each in found] == named


@pytest.mark.parametrize(("without", "count"), [(0.95, 0), (0.8, 1)])
@pytest.mark.parametrize(
    ("change", "is_it"),
    [
        (lambda text, at: f"{text} {10 + at}", lambda mark: mark.kind == "number"),
        (lambda text, _: text.replace(" ", " and I ", 1), lambda mark: mark.value in ("i", "and")),
    ],
    ids=["numbers", "whoever takes the blame says I"],
)
def test_what_many_texts_have_counts_only_if_little_is_left_without_it(
    change: Callable[[str, int], str], is_it: Callable[[Mark], bool], without: float, count: int
) -> None:
    answers = iter(map(measured, (0.96, without)))
    found = of(lambda text, at: text if at < 4 else change(text, at), measure=lambda _: next(answers))
    assert len([each for each in found if is_it(each.mark)]) == count


@pytest.mark.parametrize(
    "text",
    [
        "Hello @zylor, see https://zylor.example/a #sale 4711 😀 Café!!",
        "ALL CAPITALS HERE",
        "all small",
        "Two  spaces\nand a line",
        "“Quoted”",
        "A1 b22",
    ],
)
def test_a_masked_text_has_lost_the_mark(text: str) -> None:
    natural = {"lower", "no punctuation", "no end", "first", "last"}
    for mark in marks_of(text):
        if mark.form not in natural:
            assert mark not in marks_of(mark.without(text)), mark


def test_marks_of_no_text() -> None:
    assert marks_of(" \n") == set()
    assert Mark("token", "ß").without("Straße ß") == "Straße ß"


@pytest.mark.parametrize(
    ("text", "form", "values"),
    [
        ("यह हिन्दी अच्छी है।", "token", {"यह", "हिन्दी", "अच्छी", "है"}),
        ("サービスがひどい。", "token", {"サービス", "が", "ひどい"}),
        ("พนักงานบริการดี", "token", {"พนักงาน", "บริการ", "ดี"}),
        ("サービスがひどい。", "first", {"サービス"}),
        ("「サービスがひどい。」", "last", {"ひどい"}),
        ("هل سأعود؟", "last", {"سأعود"}),
        ("Ça va 👨‍👩‍👧 🇩🇪👍🏽 ❤️", "one emoji", {"👨‍👩‍👧", "🇩🇪", "👍🏽", "❤️"}),
    ],
)
def test_marks_are_words_and_characters_of_every_script(text: str, form: str, values: set[str]) -> None:
    assert {mark.value for mark in marks_of(text) if mark.form == form} == values


@pytest.mark.parametrize(
    ("mark", "text", "without"),
    [
        (Mark("token", "हिन्दी"), "यह हिन्दी है।", "यह है।"),
        (Mark("token", "が"), "サービスがひどい。", "サービス ひどい。"),
        (Mark("first", "サービス"), "サービスがひどい。", "がひどい。"),
        (Mark("last", "ひどい"), "サービスがひどい。", "サービスが"),
        (Mark("emoji"), "Ça va 👨‍👩‍👧 🇩🇪👍🏽!", "Ça va !"),
    ],
)
def test_a_mark_is_removed_whole_in_every_script(mark: Mark, text: str, without: str) -> None:
    assert mark.without(text) == without


def test_markup_in_half_the_texts_of_one_side_is_a_shortcut_and_a_text_with_signs_is_not() -> None:
    sad = [f"<p>{text.replace(' ', '&nbsp;', 1)}</p>" if at % 2 else text for at, text in enumerate(SAD[:16])]
    y = np.array([1.0] * 16 + [0.0] * 16)
    first, *_ = shortcuts([*HAPPY[:16], *sad], y)
    assert (first.mark.name, first.mark.says, first.counts) == ("HTML", "A tag or entity of HTML occurs", (0, 8))
    assert first.mark.without(sad[1]) == SAD[1]
    signs = [f"{text} <3" if at % 2 else text for at, text in enumerate(SAD[:16])]
    assert not shortcuts([*HAPPY[:16], *signs], y)
