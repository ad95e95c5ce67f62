"""Which pole a question is about: what is named in whole words, in any script, and nothing else."""

from dataclasses import dataclass
from typing import Any

import pytest

from traitbench.contract.decisions import ChoiceQuestion, NoulQuestion, ScoreQuestion
from traitbench.doors import questions
from traitbench.doors.questions import Misfit, Names, Pole


@dataclass(frozen=True)
class Trait:
    """A trait with these names."""

    key: str
    negative_label: str
    positive_label: str
    name: str = ""


INSULT = Trait("insult_level", "friendly", "insulting", "Insult level")
CLARITY = Trait("clarity", "hard to follow", "clear", "Clarity")
HELP = Trait("help", "not helpful", "helpful", "Help")
LIKE_INSULT = Trait("offence", "friendly", "offending", "Offence")
CHINESE = Trait("语气", "友好", "侮辱", "语气")
HINDI = Trait("स्वर", "मित्रवत", "अपमानजनक", "स्वर")
EMOJI = Trait("mood", "👎", "👍", "Mood")
NAMES = Names([INSULT, CLARITY, HELP])
INSULTING, FRIENDLY = Pole(0, positive=True), Pole(0, positive=False)


def noul(instructions: Any, names: Names = NAMES, **criteria: Any) -> Pole:
    question = {"type": "noul", "instructions": instructions, **({"criteria": criteria} if criteria else {})}
    return questions.of_noul(names, NoulQuestion.model_validate(question))


def kind(ask: Any, *arguments: Any, **criteria: Any) -> str:
    with pytest.raises(Misfit) as refused:
        ask(*arguments, **criteria)
    return refused.value.kind


def choice(criteria: dict[str, Any], instructions: Any = "What is it?", names: Names = NAMES) -> Any:
    question = {"type": "choice", "instructions": instructions, "criteria": criteria}
    return [*questions.of_choice(names, ChoiceQuestion.model_validate(question))]


def score(criteria: list[Any], instructions: Any = None, names: Names = NAMES) -> Any:
    question = {"type": "score", "instructions": instructions, "criteria": criteria}
    return [*questions.of_score(names, ScoreQuestion.model_validate(question))]


@pytest.mark.parametrize(
    ("instructions", "pole"),
    [
        ("Is the message insulting?", INSULTING),
        ("IS IT\nINSULTING", INSULTING),
        ("Friendly?", FRIENDLY),
        ("insult_level", INSULTING),
        ("Judge the insult level.", INSULTING),
        ("Insult-level: answer yes or no", INSULTING),
        ("Answer yes or no. Is it insulting?", INSULTING),
        ("Is it insulting or not?", INSULTING),
        ("Not too long, please! Is it insulting?", INSULTING),
        ("Is it hard to follow?", Pole(1, positive=False)),
        ("Is it hard  to\tfollow?", Pole(1, positive=False)),
        ("Is it not helpful?", Pole(2, positive=False)),
        ({"task": "Decide", "about": ["whether it is", {"x": "insulting"}]}, INSULTING),
        (["Say whether it is", 7, None, "clear"], Pole(1, positive=True)),
    ],
)
def test_a_question_is_about_the_pole_that_it_names(instructions: Any, pole: Pole) -> None:
    assert noul(instructions) == pole


@pytest.mark.parametrize(
    ("instructions", "names", "positive"),
    [
        ("这条消息是侮辱吗？", Names([CHINESE]), True),
        ("语气如何？", Names([CHINESE]), True),
        ("क्या यह संदेश मित्रवत है?", Names([HINDI]), False),
        ("Would they send 👎 ?", Names([EMOJI]), False),
        ("IST ES GROSS?", Names([Trait("size", "klein", "groß")]), True),
        ("Is it re\u0301sume\u0301?", Names([Trait("cv", "letter", "r\u00e9sum\u00e9")]), True),
    ],
)
def test_names_are_known_in_every_script(instructions: str, names: Names, positive: bool) -> None:
    assert noul(instructions, names) == Pole(0, positive)


@pytest.mark.parametrize(
    "instructions",
    [
        "Is it NOT insulting?",
        "Isn’t it insulting?",
        "Is it not at all insulting?",
        "Is it non-insulting?",
        "Ist es nicht beleidigend oder insulting?",
        "Est-ce que ce n'est pas insulting ?",
        "It was never insulting",
    ],
)
def test_a_negated_pole_is_refused(instructions: str) -> None:
    assert kind(noul, instructions) == "negated_pole"


def test_a_negated_pole_is_refused_in_scripts_without_spaces_and_behind_the_pole() -> None:
    assert kind(noul, "它不友好吗？", Names([CHINESE])) == "negated_pole"
    assert kind(noul, "क्या यह मित्रवत नहीं है?", Names([HINDI])) == "negated_pole"


@pytest.mark.parametrize(
    "instructions",
    [None, "", "Do they want money back?", "Is it insultingly long?", "uninsulting", "insult", "insult_levels", [], {}],
)
def test_a_question_that_names_nothing_is_refused_with_what_there_is(instructions: Any) -> None:
    with pytest.raises(Misfit, match="insult_level \\(friendly or insulting\\); clarity") as refused:
        noul(instructions)
    assert refused.value.kind == "no_trait_named"


def test_many_traits_are_listed_up_to_a_limit() -> None:
    with pytest.raises(Misfit, match=r"and 54 more\.$"):
        noul("?", Names([Trait(f"trait_{number}", "a", "b") for number in range(64)]))


def test_several_traits_are_refused_unless_one_is_named() -> None:
    assert kind(noul, "Is it insulting and clear?") == "several_traits_named"
    both = Names([INSULT, LIKE_INSULT])
    assert kind(noul, "Is it friendly?", both) == "several_traits_named"
    assert noul("Offending?", both) == Pole(1, positive=True)
    assert noul("Offence: is it friendly?", both) == Pole(1, positive=False)
    assert kind(noul, "Offence: is it friendly or insulting?", both) == "several_traits_named"


def test_criteria_say_what_is_a_yes_where_the_instructions_do_not() -> None:
    assert noul("Rate the insult level", true="friendly words", false="insulting words") == FRIENDLY
    assert noul("Rate the insult level", false="insulting words") == FRIENDLY
    assert noul("Friendly or insulting?", true="insulting", false="not insulting") == INSULTING
    assert noul(None, true={"it": ["is insulting"]}) == INSULTING
    assert noul("Is it insulting?", true="The writer is rude", false="The text is not insulting") == INSULTING


def test_criteria_that_contradict_are_refused() -> None:
    assert kind(noul, "Is it insulting?", true="friendly") == "both_poles"
    assert kind(noul, "Friendly or insulting?") == "both_poles"
    assert kind(noul, "Rate it", true="friendly or insulting") == "both_poles"
    assert kind(noul, "Rate the insult level", true="not insulting") == "negated_pole"


def test_the_options_of_a_choice_are_poles_by_name_or_description() -> None:
    assert choice({"friendly": None, "insulting": None}) == [FRIENDLY, INSULTING]
    assert choice({"An INSULTING text": "", "Friendly": "not insulting"}) == [INSULTING, FRIENDLY]
    assert choice({"a": "friendly", "b": {"x": "insulting"}}) == [FRIENDLY, INSULTING]


@pytest.mark.parametrize(
    "criteria",
    [
        {"billing": "money", "bug": "fault"},
        {"friendly": None, "bug": None},
        {"friendly": None, "Friendly!": None},
        {"friendly": None, "insulting": None, "neither": None},
        {"friendly": None, "clear": None},
        {"friendly or insulting": None, "insulting": None},
        {str(number): None for number in range(255)},
    ],
)
def test_other_options_are_refused(criteria: dict[str, Any]) -> None:
    assert kind(choice, criteria) == "poles_not_named"


def test_options_that_negate_a_pole_are_refused() -> None:
    assert kind(choice, {"insulting": None, "not insulting": None}) == "negated_pole"


def test_the_instructions_decide_between_traits_with_the_same_poles() -> None:
    names = Names([Trait("a", "no", "yes", "First"), Trait("b", "no", "yes", "Second")])
    assert kind(choice, {"yes": None, "no": None}, "Well?", names) == "several_traits_named"
    assert choice({"yes": None, "no": None}, "The second?", names) == [Pole(1, positive=True), Pole(1, positive=False)]
    assert kind(choice, {"friendly": None, "insulting": None}, "Is it clear?") == "several_traits_named"


def test_the_ends_of_a_scale_are_poles() -> None:
    assert score(["friendly", "between", "insulting"]) == [FRIENDLY, INSULTING]
    assert score(["very insulting", ["not quite", "insulting"], {"it is": "friendly"}]) == [INSULTING, FRIENDLY]
    assert kind(score, ["calm", "angry"]) == "poles_not_named"
    assert kind(score, ["1", "2", "3"], "How insulting?") == "poles_not_named"
    assert kind(score, ["not insulting", "insulting"]) == "negated_pole"


def test_texts_are_read_in_order_without_keys_and_numbers() -> None:
    assert questions.text_of({"b": "one", "a": ["two", 3, True, None, {"c": "three"}]}) == "one\ntwo\nthree"
    deep: Any = "end"
    for _ in range(5_000):
        deep = [deep]
    assert questions.text_of(deep) == "end"


def test_long_instructions_are_refused_and_others_are_read_to_the_end() -> None:
    assert noul("insulting " * 2_000) == INSULTING
    assert noul(f"{'insultin g ' * 1_800}clear?") == Pole(1, positive=True)
    assert kind(noul, "insulting " * 2_001) == "too_long"
