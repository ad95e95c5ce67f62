"""Test samples in the workbench: set aside in one click, undone, filtered, marked; and their figures come first."""

import pytest

from tests.conftest import COLD, WARM, Service, train
from tests.pages.drive import (
    Workbench,
    buttons,
    components,
    labelled,
    listed,
    pick,
    plain,
    press,
    retype,
    upload,
    words,
)
from traitbench.client import Traitbench
from traitbench.contract.samples import Sample, SampleInput
from traitbench.contract.traits import TraitInput

TOPICS = (
    *("the parcel", "your invoice", "our meeting", "this contract", "the garden", "that lecture", "a recipe"),
    *("the bridge", "his violin", "my passport", "the harbour", "their football club", "a telescope", "the bakery"),
    *("the museum", "a thunderstorm", "our dentist", "the elevator", "that novel", "a submarine", "the pension"),
)
POLES = (
    ("I would love to talk with you, dear friend, about", 1.0),
    ("No further reply will be given on the matter of", 0.0),
)


@pytest.fixture
def large(client: Traitbench, empty: str) -> str:
    """A draft with twenty-one samples at each pole."""
    rows = [(f"{start} {topic}.", quality) for start, quality in POLES for topic in TOPICS]
    client.samples.add(empty, [SampleInput(trait="warmth", text=text, quality=quality) for text, quality in rows])
    return empty


def held_out_of(client: Traitbench, handle: str) -> list[Sample]:
    return list(client.samples.list(handle, held_out=True))


def marked(client: Traitbench, handle: str) -> list[tuple[str, bool]]:
    """The text of each test sample, and whether it must pass."""
    return [(sample.text, sample.must_pass) for sample in held_out_of(client, handle)]


def test_samples_are_set_aside_and_taken_back_in_a_click(workbench: Workbench, client: Traitbench, large: str) -> None:
    at = workbench.open("samples", model=large)
    assert "No test samples" in words(at)
    press(at, "samples.set_aside")
    aside = held_out_of(client, large)
    assert sorted(sample.quality for sample in aside) == [0.0] * 10 + [1.0] * 10
    assert "20 test samples: no version learns from them." in words(at)
    assert "Set 20 samples aside" in words(at)
    at.pills(key="samples.chip").set_value("test").run()
    assert all(row["test"] == "test" for row in components(at, "samples")[0]["rows"])
    assert len(listed(at)) == 20
    press(at, "samples.undo_button")
    assert held_out_of(client, large) == []
    assert len(list(client.samples.list(large))) == 42
    press(workbench.open("samples", model=large), "samples.set_aside")
    assert [each.id for each in held_out_of(client, large)] == [each.id for each in aside]


def test_too_few_samples_are_refused_with_a_number(workbench: Workbench, client: Traitbench, draft: str) -> None:
    said = plain(press(workbench.open("samples", model=draft), "samples.set_aside"))
    assert "Nothing was set aside." in said
    assert "it needs 20 at each to set test samples aside (10 to test and 10 to train)" in said
    assert held_out_of(client, draft) == []


def test_a_mark_keeps_a_sample_and_an_edited_test_sample_stays_one(
    workbench: Workbench, client: Traitbench, draft: str
) -> None:
    newest = list(client.samples.list(draft))[-1]
    client.samples.update(draft, [newest.id], held_out=True, must_pass=True)
    at = retype(pick(workbench.open("samples", model=draft), client, draft, newest.text), "Another text.")
    assert marked(client, draft) == [("Another text.", True)]
    labelled(at.toggle, "Never get wrong").set_value(False).run()
    assert marked(client, draft) == [("Another text.", False)]
    press(press(at, "samples.undo_button"), "samples.undo_button")
    assert marked(client, draft) == [(newest.text, True)]
    assert list(client.samples.list(draft))[-1].id == newest.id


def test_a_test_text_like_a_training_text_can_be_moved(workbench: Workbench, client: Traitbench, draft: str) -> None:
    client.samples.add(draft, [SampleInput(trait="warmth", text=f"{WARM[0]}!", quality=1.0, held_out=True)])
    at = workbench.open("samples", model=draft, task="Check")
    assert f"The test text “{WARM[0]}!” is nearly the same as a training text." in plain(at)
    both, training = buttons(at, "doctor.fix.leak")
    press(at, both)
    assert {sample.text for sample in held_out_of(client, draft)} == {WARM[0], f"{WARM[0]}!"}
    assert not buttons(at, "doctor.fix.leak")
    press(press(at, "samples.undo_button"), training)
    assert held_out_of(client, draft) == []


def test_a_test_text_of_a_group_that_is_trained_with_can_be_moved(
    workbench: Workbench, client: Traitbench, draft: str
) -> None:
    for text, held_out in (("The first turn.", False), ("Quite another matter.", True)):
        own = SampleInput(trait="warmth", text=text, quality=1.0, held_out=held_out, group="conversation 7")
        client.samples.add(draft, [own])
    at = workbench.open("samples", model=draft, task="Check")
    assert "The test text “Quite another matter.” belongs to a group that is trained with." in plain(at)
    [training] = buttons(at, "doctor.fix.leak")
    press(at, training)
    assert held_out_of(client, draft) == []


def test_a_column_of_a_file_marks_test_samples(workbench: Workbench, client: Traitbench, draft: str) -> None:
    rows = "text,label,held_out,must_pass\nThe first.,warm,yes,yes\nThe second.,cold,no,\nThe third.,cold,1,0\n"
    at = upload(workbench.open("samples", model=draft, task="Import a file"), "rows.csv", rows)
    assert "Preview: 3 samples, 2 test samples among them" in words(at)
    press(at, "samples.import_button")
    assert marked(client, draft) == [("The first.", True), ("The third.", False)]


@pytest.fixture(scope="module")
def measured(service: Service) -> str:
    """A model whose two versions were measured on the same eight test samples."""
    handle = "trained.measured"
    samples = [
        SampleInput(trait="warmth", text=text, quality=quality, held_out=at > 5, must_pass=at > 5)
        for texts, quality in ((WARM, 1.0), (COLD, 0.0))
        for at, text in enumerate(texts)
    ]
    with Traitbench(service.base_url, service.issue(namespaces=("trained",))) as client:
        client.models.create(handle)
        client.traits.add(handle, [TraitInput(name="Warmth", positive_label="warm", negative_label="cold")])
        client.samples.add(handle, samples)
        for reoptimize in (False, True):
            train(client, handle, reoptimize_params=reoptimize)
    return handle


@pytest.mark.parametrize("link", ["train?figures=true", "versions?figures=true&view=Details"])
def test_figures_on_test_samples_come_before_those_out_of_fold(workbench: Workbench, measured: str, link: str) -> None:
    at = workbench.follow(link, model=measured)
    assert 0 <= words(at).index("on 8 test samples") < words(at).index("Out of fold")


def test_the_list_the_card_home_and_the_traits_page_show_them_too(workbench: Workbench, measured: str) -> None:
    at = workbench.open("versions", model=measured)
    assert all("of 8 test samples" in each for each in at.dataframe[0].value["Right"])
    assert "all on the same 8 test samples" in words(at)
    card = words(workbench.open("model", model=measured, part="Model card"))
    assert card.index("On test samples") < card.index("Out of fold")
    assert "from few test samples" in words(workbench.open("catalog"))
    assert "8 test samples" in words(workbench.open("traits", model=measured))
