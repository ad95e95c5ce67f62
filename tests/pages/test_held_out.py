"""Test samples in the workbench: set aside in one click, undone, filtered, marked; and their figures come first."""

import io

import pytest
from streamlit.testing.v1 import AppTest

from tests.conftest import COLD, WARM, Service
from tests.pages.drive import Workbench, words
from traitbench.client import Traitbench
from traitbench.contract.samples import Sample, SampleInput
from traitbench.contract.traits import TraitInput

TOPICS = [
    *("the parcel", "your invoice", "our meeting", "this contract", "the garden", "that lecture", "a recipe"),
    *("the bridge", "his violin", "my passport", "the harbour", "their football club", "a telescope", "the bakery"),
    *("the museum", "a thunderstorm", "our dentist", "the elevator", "that novel", "a submarine", "the pension"),
]


def many(pole: str) -> list[str]:
    return [f"{pole} {topic}." for topic in TOPICS]


@pytest.fixture
def large(client: Traitbench, namespace: str) -> str:
    """A draft with twenty-one samples at each pole."""
    handle = f"{namespace}.large"
    client.models.create(handle)
    client.traits.add(handle, [TraitInput(name="Warmth", positive_label="warm", negative_label="cold")])
    rows = [(text, 1.0) for text in many("I would love to talk with you, dear friend, about")]
    rows += [(text, 0.0) for text in many("No further reply will be given on the matter of")]
    client.samples.add(handle, [SampleInput(trait="warmth", text=text, quality=quality) for text, quality in rows])
    return handle


def held_out_of(client: Traitbench, handle: str) -> list[Sample]:
    return list(client.samples.list(handle, held_out=True))


def test_one_click_sets_samples_aside_and_another_takes_it_back(
    workbench: Workbench, client: Traitbench, large: str
) -> None:
    at = workbench.open("samples", model=large)
    assert "No test samples" in words(at)
    at.button(key="samples.set_aside").click().run()
    assert not at.exception
    aside = held_out_of(client, large)
    assert sorted(sample.quality for sample in aside) == [0.0] * 10 + [1.0] * 10
    assert "20 test samples: no version learns from them." in words(at)
    assert "Just now: 20 samples set aside as test samples" in words(at)
    at.selectbox(key="use").set_value("test").run()
    assert "20 of 42 samples" in words(at)
    assert at.dataframe[0].value["held_out"].all()
    at.button(key="samples.undo_button").click().run()
    assert held_out_of(client, large) == []
    assert len(list(client.samples.list(large))) == 42
    at = workbench.open("samples", model=large)
    at.button(key="samples.set_aside").click().run()
    assert held_out_of(client, large) == aside


def test_too_few_samples_are_refused_with_the_number_that_is_needed(
    workbench: Workbench, client: Traitbench, draft: str
) -> None:
    at = workbench.open("samples", model=draft)
    at.button(key="samples.set_aside").click().run()
    said = words(at).replace("\\", "")
    assert "Nothing was set aside." in said
    assert "it needs 20 at each to set test samples aside (10 to test and 10 to train)" in said
    assert held_out_of(client, draft) == []


def edit(at: AppTest, rows: dict[int, dict[str, object]]) -> AppTest:
    """What the browser sends after edits in the table; row 0 is the newest sample."""
    at.session_state[str(at.dataframe[0].key)] = {"edited_rows": rows, "deleted_rows": [], "added_rows": []}
    return at.run()


def test_ticks_in_the_table_mark_samples_without_making_new_ones(
    workbench: Workbench, client: Traitbench, draft: str
) -> None:
    before = list(client.samples.list(draft))
    newest, second, third = before[:-4:-1]
    client.samples.update(draft, [third.id], held_out=True, must_pass=True)
    at = workbench.open("samples", model=draft)
    edit(at, {0: {"held_out": True}, 1: {"must_pass": True}, 2: {"held_out": False}})
    at.button(key="samples.save").click().run()
    assert {sample.id: sample.must_pass for sample in held_out_of(client, draft)} == {newest.id: False, second.id: True}
    assert [sample.id for sample in client.samples.list(draft)] == [sample.id for sample in before]
    at.button(key="samples.undo_button").click().run()
    assert [(sample.id, sample.must_pass) for sample in held_out_of(client, draft)] == [(third.id, True)]


def test_an_edited_or_restored_test_sample_stays_one(workbench: Workbench, client: Traitbench, draft: str) -> None:
    newest = list(client.samples.list(draft))[-1]
    client.samples.update(draft, [newest.id], held_out=True, must_pass=True)
    at = workbench.open("samples", model=draft)
    edit(at, {0: {"text": "Another text."}})
    at.button(key="samples.save").click().run()
    assert [(sample.text, sample.must_pass) for sample in held_out_of(client, draft)] == [("Another text.", True)]
    at.button(key="samples.undo_button").click().run()
    assert [(sample.text, sample.must_pass) for sample in held_out_of(client, draft)] == [(newest.text, True)]


def test_a_test_text_like_a_training_text_is_named_with_it_and_can_be_moved(
    workbench: Workbench, client: Traitbench, draft: str
) -> None:
    twin = SampleInput(trait="warmth", text=WARM[0] + "!", quality=1.0, held_out=True)
    client.samples.add(draft, [twin])
    at = workbench.open("samples", model=draft)
    assert "1 test sample resembles a training sample." in words(at)
    assert WARM[0][:40] in words(at)
    at.button(key="samples.test_too").click().run()
    assert {sample.text for sample in held_out_of(client, draft)} == {WARM[0], WARM[0] + "!"}
    assert "resembles" not in words(at)
    at.button(key="samples.undo_button").click().run()
    at.button(key="samples.train_instead").click().run()
    assert held_out_of(client, draft) == []


def test_a_column_of_a_file_marks_test_samples(workbench: Workbench, client: Traitbench, draft: str) -> None:
    at = workbench.open("samples", model=draft, task="Import a file")
    rows = "text,label,held_out,must_pass\nThe first.,warm,yes,yes\nThe second.,cold,no,\nThe third.,cold,1,0\n"
    at.file_uploader[0].set_value(("rows.csv", io.BytesIO(rows.encode()).getvalue(), "text/csv")).run()
    assert "Preview: 3 samples, 2 test samples among them" in words(at)
    at.button(key="samples.import_button").click().run()
    assert [(sample.text, sample.must_pass) for sample in held_out_of(client, draft)] == [
        ("The first.", True),
        ("The third.", False),
    ]


@pytest.fixture(scope="module")
def measured(service: Service) -> str:
    """A model whose two versions were measured on the same eight test samples."""
    with Traitbench(service.base_url, service.issue(namespaces=("trained",))) as client:
        handle = "trained.measured"
        client.models.create(handle)
        client.traits.add(handle, [TraitInput(name="Warmth", positive_label="warm", negative_label="cold")])
        rows = [(text, 1.0, at > 5) for at, text in enumerate(WARM)] + [
            (text, 0.0, at > 5) for at, text in enumerate(COLD)
        ]
        client.samples.add(
            handle,
            [
                SampleInput(trait="warmth", text=text, quality=quality, held_out=held_out, must_pass=held_out)
                for text, quality, held_out in rows
            ],
        )
        for reoptimize in (False, True):
            client.models.train(handle, effort="low", reoptimize_params=reoptimize)
            assert client.models.wait(handle).state == "ready"
    return handle


def test_figures_on_test_samples_come_before_those_out_of_fold(workbench: Workbench, measured: str) -> None:
    for page, query in (
        ("train", {}),
        ("versions", {"view": "Details"}),
    ):
        at = workbench.open(page, model=measured, figures="true", **query)
        assert not at.exception
        said = words(at)
        assert "on 8 test samples" in said
        assert 0 <= said.index("on 8 test samples") < said.index("Out of fold")
    at = workbench.open("versions", model=measured, figures="true")
    assert all("of 8 test samples" in each for each in at.dataframe[0].value["Right"])
    table = at.dataframe[1].value
    assert list(table["Test samples"]) == ["8, set A", "8, set A"]
    assert list(table.columns).index("Test AUROC") < list(table.columns).index("AUROC")


def test_the_card_the_catalog_and_the_traits_page_show_them_too(workbench: Workbench, measured: str) -> None:
    card = words(workbench.open("model", model=measured))
    assert card.index("On test samples") < card.index("Out of fold")
    assert "uncertain with 8 test samples" in words(workbench.open("catalog"))
    traits = workbench.open("traits", model=measured)
    assert "8 test samples" in str([each.proto for each in traits.get("html")])
