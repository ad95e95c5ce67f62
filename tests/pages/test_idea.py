"""Try an idea: two names give a text a side at once, six labels make a draft, and a negation is sent back."""

import pytest

from tests.pages.drive import Workbench, bars, buttons, press, words
from traitbench.client import Traitbench

pytestmark = pytest.mark.usefixtures("here")


def test_two_names_give_a_side_and_labelled_texts_make_a_draft(
    workbench: Workbench, client: Traitbench, namespace: str
) -> None:
    client.models.create(f"{namespace}.rude-or-polite")
    at = workbench.open("idea", either="rude", **{"or": "polite"})
    at.text_area(key="idea.text").set_value("Would you kindly take a seat?").run()
    assert "not tested" in str(bars(at))
    sides = [each for each in at.segmented_control if str(each.key).startswith("idea.side.")]
    assert len(sides) == 6
    assert at.button(key="idea.make").disabled
    at.text_area(key="idea.own").set_value("\n".join(f"Own text number {each}." for each in range(7))).run()
    own = [each for each in at.segmented_control if str(each.key).startswith("idea.side.")]
    own[0].set_value(0.0)
    own[1].set_value(1.0).run()
    assert "of your 2 labels" in words(at)
    press(at, "idea.make")

    handle = f"{namespace}.rude-or-polite-2"
    assert client.models.get(handle).state == "draft"
    samples = list(client.samples.list(handle))
    assert {each.quality for each in samples} == {0.0, 1.0}
    assert all(each.text.startswith("Own text number") and each.provenance == "authored" for each in samples)


def test_for_words_in_another_language_the_page_says_what_they_need(workbench: Workbench) -> None:
    """The encoder of these tests knows English only."""
    at = workbench.open("idea", either="unhöflich", **{"or": "höflich"})
    assert "knows English only" not in words(at)
    at.text_area(key="idea.text").set_value("Würden Sie mir bitte kurz mit dem Koffer helfen?").run()
    assert "These words are German, and the encoder here knows English only" in words(at)
    at.text_area(key="idea.text").set_value("Would you kindly help me with the suitcase?").run()
    assert "knows English only" not in words(at)


@pytest.mark.parametrize("pole", ["not ironic", "other", "none"])
def test_a_pole_that_is_a_negation_is_asked_for_its_opposite(workbench: Workbench, pole: str) -> None:
    at = workbench.open("idea", either=pole, **{"or": "ironic"})
    assert "only says what a text is not" in words(at)
    assert not buttons(at, "idea.make")


def test_without_two_different_names_nothing_is_claimed(workbench: Workbench) -> None:
    assert "Name both sides" in words(workbench.open("idea", either="rude"))
    assert "Both sides have the same name" in words(workbench.open("idea", either="rude", **{"or": "Rude"}))
