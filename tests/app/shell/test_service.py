"""A failure becomes a sentence that a person can act on, and stands beside the field that it is about."""

import pytest

from traitbench import errors
from traitbench_app.shell.service import complaints, explain


def classes(root: type[errors.TraitbenchError]) -> list[type[errors.TraitbenchError]]:
    return [result for cls in root.__subclasses__() for result in (cls, *classes(cls))]


# Those that are raised with words of their own never cross the wire as themselves.
ON_THE_WIRE = [each for each in classes(errors.TraitbenchError) if each.__init__ is errors.TraitbenchError.__init__]


@pytest.mark.parametrize("cls", ON_THE_WIRE)
def test_every_error_is_explained_with_its_message_and_request(cls: type[errors.TraitbenchError]) -> None:
    explanation = explain(cls("Something is wrong", request_id="req_1"))
    assert explanation.startswith("Something is wrong")
    assert "Request req_1" in explanation


def test_markup_in_a_message_is_shown_and_not_obeyed() -> None:
    assert explain(errors.NotFound("no *such* [thing](x)")).startswith(r"no \*such\* \[thing\]\(x\)")


def test_complaints_go_to_the_last_name_in_their_path() -> None:
    results = [
        {"loc": ["traits", 0, "name"], "type": "string_too_short", "msg": "String should have at least 1 character"},
        {"loc": ["samples", 3, "text"], "type": "too_long", "msg": "Value should have at most 50000 items"},
        {"loc": [], "type": "other", "msg": "It is wrong as a whole"},
    ]
    assert complaints(errors.ValidationFailed("No.", details={"errors": results})) == {
        "name": ["This field is required."],
        "text": ["At most 50,000 characters."],
        "": ["It is wrong as a whole"],
    }


@pytest.mark.parametrize(
    ("error", "field"),
    [
        (errors.HandleTaken("There is one."), "handle"),
        (errors.DuplicateTrait("There is one."), "name"),
        (errors.InvalidHandle("That is none.", details={"field": "handle"}), "handle"),
    ],
)
def test_an_error_that_names_no_path_still_finds_its_field(error: errors.TraitbenchError, field: str) -> None:
    assert complaints(error) == {field: [error.message]}


def test_an_explanation_says_nothing_twice_and_not_every_one_of_many() -> None:
    unknown = {"loc": ["samples", 0, "trait"], "type": "unknown_trait", "msg": 'no trait "x"', "sent": "x"}
    said = explain(errors.ValidationFailed('The samples: no trait "x".', details={"errors": [unknown] * 500}))
    assert said.count('"x"') == 1
    others = [{**unknown, "msg": f"no trait {name}", "sent": name} for name in "abcde"]
    said = explain(errors.ValidationFailed("The samples.", details={"errors": others}))
    assert 'no trait "c"' in said
    assert "and 2 more" in said
    assert 'no trait "d"' not in said


def test_samples_that_could_not_be_removed_again_are_told() -> None:
    error = errors.Unreachable("Gone.", details={"left_behind": [1, 2, 3]})
    assert "3 samples" in explain(error)
