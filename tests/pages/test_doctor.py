"""The sample doctor: what it shows, how it mends, what may be undone or ignored; on the Train page in a line."""

import re

import pytest
from streamlit.testing.v1 import AppTest

from tests.conftest import COLD, WARM, not_none, train
from tests.pages.drive import Workbench, buttons, copied_link, labelled, links, listed, plain, press, texts, words
from traitbench.client import Traitbench
from traitbench.contract.samples import SampleInput
from traitbench.contract.traits import TraitInput
from traitbench.local import preview


@pytest.fixture
def messy(client: Traitbench, draft: str) -> str:
    """The same with two copies, and with a text at both poles."""
    add(client, draft, (WARM[0], 1.0), (COLD[0].upper(), 0.0), (WARM[1], 0.0))
    return draft


def add(client: Traitbench, handle: str, *samples: tuple[str, float]) -> list[int]:
    return client.samples.add(handle, [SampleInput(trait="warmth", text=text, quality=q) for text, q in samples])


def check(workbench: Workbench, handle: str) -> AppTest:
    return workbench.open("samples", model=handle, task="Check")


# ---- what is found ---------------------------------------------------------------------------------------------------


def test_findings_stand_in_order_of_severity_with_texts_and_fixes(workbench: Workbench, messy: str) -> None:
    at = check(workbench, messy)
    said = plain(at)
    assert "Same text at both poles, and 1 smaller problem" in said
    assert "looked for in 23 samples" in said
    conflict, copies = f"“{WARM[1]}” stands under warm and under cold.", "2 texts of Warmth are there more than once"
    assert conflict in said
    assert [each.value for each in at.header[1:]] == ["Same text at both poles", copies]
    assert {"Keep warm", "Keep cold", "Remove 2 texts", "Remove the duplicate"} <= {each.label for each in at.button}
    assert said.index(copies) < said.index(f"“{WARM[0]}” stands twice under warm."), "a few are open below"
    assert copied_link(at) == {"model": messy, "task": "Check"}
    at = workbench.open("train", model=messy)
    assert conflict in plain(at)
    assert any("findings: review before you train" in link for link in links(at))


def test_texts_in_several_languages_are_counted_by_language(
    workbench: Workbench, client: Traitbench, draft: str
) -> None:
    assert "Languages:" not in plain(check(workbench, draft))
    german = (
        "Danke, das ging wirklich schnell!",
        "Kommen Sie herein, die Suppe ist noch heiß.",
        "Bis bald, ihr Lieben!",
    )
    add(client, draft, *((text, 1.0) for text in german), ("Das Paket kam viel zu spät.", 0.0))
    assert "German (4)" in plain(check(workbench, draft))


def test_where_nothing_is_wrong_it_says_what_was_looked_for_and_what_is_next(workbench: Workbench, draft: str) -> None:
    at = check(workbench, draft)
    said = plain(at)
    assert "Nothing to fix in 20 samples" in said
    assert "Same text at both poles" in said
    assert "10 + 10 samples." in said
    assert "Train" in links(at)


def test_no_figure_of_an_expert_is_on_the_page(workbench: Workbench, marked: str) -> None:
    for at in (check(workbench, marked), workbench.open("train", model=marked)):
        assert "AUROC" not in "\n".join([plain(at), *(each.value for each in at.warning)])


def test_a_pole_without_samples_is_an_error_that_leads_to_a_form(workbench: Workbench, empty: str) -> None:
    at = check(workbench, empty)
    assert "Warmth has no cold texts, so it cannot be trained." in plain(at)
    labelled(at.button, "Add 10 cold texts").click().run()
    assert "0 cold and 0 warm texts" in plain(at)


def test_a_label_that_only_denies_is_to_be_renamed(workbench: Workbench, client: Traitbench, new: str) -> None:
    client.traits.add(new, [TraitInput(name="Warmth", positive_label="warm", negative_label="not warm")])
    add(client, new, *((text, 1.0) for text in WARM), *((text, 0.0) for text in COLD))
    at = check(workbench, new)
    assert "“not warm” only says what a text of Warmth is not, so it gathers whatever is left." in plain(at)
    assert "Rename the pole" in links(at)


def test_a_fix_on_a_version_in_use_opens_its_draft(workbench: Workbench, client: Traitbench, messy: str) -> None:
    train(client, messy)
    before = texts(client, messy)
    at = check(workbench, messy)
    assert {"Samples", "Traits", "Check"} <= {*links(at)}
    press(labelled(at.button, "Keep cold").click().run(), "samples.doctor.yes")
    assert texts(client, messy) == before
    assert (WARM[1], 1.0) not in texts(client, f"{messy}-next")
    assert len(texts(client, f"{messy}-next")) == len(before) - 1
    assert at.selectbox(key="model").value == f"{messy}-next"


# ---- a shortcut: a token, and not the trait, separates the poles -----------------------------------------------------


@pytest.fixture
def marked(client: Traitbench, empty: str) -> str:
    """A draft whose labels follow nothing but a token before each text of one pole."""
    mixed = [text for pair in zip(WARM, COLD, strict=True) for text in pair]
    add(client, empty, *((f"Zylor: {text}", 1.0) if at % 4 < 2 else (text, 0.0) for at, text in enumerate(mixed)))
    return empty


def test_check_names_the_token_and_what_is_left_without_it(workbench: Workbench, marked: str) -> None:
    at = check(workbench, marked)
    said = plain(at)
    assert (
        "“zylor” occurs in 10 of 10 warm texts and in 0 of 10 cold ones: a model may learn that instead of Warmth."
        in said
    )
    assert "Without the word “zylor”, a model gets only " in said
    assert "If not, change these texts, or add cold ones with it." in said
    assert "The word “zylor” gives Warmth away" in at.header[0].value.replace("\\", "")
    drawn = "\n".join(str(each.proto.body) for each in at.get("html"))
    assert re.search(r"<b>\d+ of 20</b><span>right with it hidden, \d+ as it is\.</span>", drawn)
    assert at.button(key="head.add").label == "Add texts"
    assert labelled(at.button, "Add cold texts with it")
    assert "“zylor” occurs" in workbench.open("train", model=marked).warning[0].value.replace("\\", "")


def test_two_marks_of_the_same_texts_are_two_findings(workbench: Workbench, client: Traitbench, empty: str) -> None:
    """One of them is in some texts of the other pole, too."""
    for number in range(24):
        text = f"Letter {number} of the {['lamp', 'river', 'coat', 'bread'][number % 4]} and the {WARM[number % 10]}"
        add(client, empty, (f"Zylor blorb {text}", 1.0), (f"{'blorb ' if number < 6 else ''}{text}", 0.0))
    at = check(workbench, empty)
    said = plain(at)
    assert "“zylor” occurs in 24 of 24 warm texts and in 0 of 24" in said
    assert "“blorb” occurs in 24 of 24 warm texts and in 6 of 24" in said
    press(at, "doctor.ignore.shortcut")
    assert "“blorb” occurs" in plain(at)


def test_every_page_says_the_shortcut_before_any_praise(workbench: Workbench, client: Traitbench, marked: str) -> None:
    train(client, marked)
    metrics = client.versions.get(marked).metrics
    shortcut = not_none(metrics.traits["warmth"].shortcut)
    assert (shortcut.kind, shortcut.auroc, shortcut.in_tests) == ("token", 1.0, None)
    assert not_none(shortcut.base) - not_none(shortcut.without) >= 0.1
    assert "zylor" not in metrics.model_dump_json().casefold(), "no text in a version"
    for page, view in (("train", None), ("model", None), ("versions", None), ("versions", "Details")):
        at = workbench.open(page, model=marked, **({} if view is None else {"view": view, "version": "v1"}))
        said = "\n".join([*(each.value for each in at.warning), words(at)]).replace("\\", "")
        assert "Warmth: One word alone gets 10 of 10 warm and 10 of 10 cold texts right." in said, page
        assert "but only on texts that have the same shortcut" in said, page
        assert "on texts it has not seen" not in said, page
    assert "One word alone" in words(workbench.open("catalog"))


# ---- mending ---------------------------------------------------------------------------------------------------------


def test_a_fix_that_deletes_asks_first_and_can_be_undone(workbench: Workbench, client: Traitbench, messy: str) -> None:
    before = texts(client, messy)
    at = press(check(workbench, messy), "doctor.fix.conflict")
    assert "You can undo this." in words(at)
    assert texts(client, messy) == before
    press(at, "samples.doctor.no")
    assert texts(client, messy) == before
    press(press(at, "doctor.fix.conflict"), "samples.doctor.yes")
    assert len(texts(client, messy)) == len(before) - 1
    assert not buttons(at, "doctor.fix.conflict"), "it looks again by itself"
    assert "Applied: 1 sample deleted." in [toast.value for toast in at.toast]
    press(at, "samples.undo_button")
    assert sorted(texts(client, messy)) == sorted(before)


def test_a_text_at_both_poles_can_be_kept_at_either(workbench: Workbench, client: Traitbench, messy: str) -> None:
    at = check(workbench, messy)
    labels = {button.label: str(button.key) for button in at.button}
    keys = {label: key for label, key in labels.items() if key.startswith("doctor.fix.conflict")}
    assert set(keys) == {"Keep warm", "Keep cold"}
    at = press(at, keys["Keep cold"])
    press(at, "samples.doctor.yes")
    assert [quality for text, quality in texts(client, messy) if text == WARM[1]] == [0.0]


def test_all_of_a_kind_are_mended_in_one_go(workbench: Workbench, client: Traitbench, messy: str) -> None:
    at = press(check(workbench, messy), "doctor.fix.duplicate:warmth:note")
    assert "You can undo this." in words(at)
    press(at, "samples.doctor.yes")
    assert len(texts(client, messy)) == 21
    assert not buttons(at, "doctor.fix.duplicate")


def test_more_than_a_few_findings_of_a_kind_are_one_click_away_a_page_at_a_time(
    workbench: Workbench, client: Traitbench, draft: str
) -> None:
    add(client, draft, *((f"{text}!", 1.0) for text in WARM), *((f"{text}?", 0.0) for text in COLD[:3]))
    at = check(workbench, draft)
    assert "13 texts of Warmth are there more than once" in plain(at)
    assert buttons(at, "doctor.fix.duplicate") == ["doctor.fix.duplicate:warmth:note"]
    press(at, "doctor.open.duplicate")
    assert len(buttons(at, "doctor.fix.duplicate")) == 1 + 10
    press(press(at, "doctor.ignore.duplicate:warmth:note"), "doctor.show_again")
    press(press(at, "doctor.fix.duplicate:warmth:note"), "samples.doctor.yes")
    assert len(texts(client, draft)) == 20


def test_a_label_is_turned_at_once_and_can_be_turned_back(workbench: Workbench, client: Traitbench, draft: str) -> None:
    wrong = "Thank you so much, my dear, you are always welcome, and I am so glad that you came to see me."
    (sample_id,) = add(client, draft, (wrong, 0.0))
    before = texts(client, draft)
    at = press(check(workbench, draft), f"doctor.fix.suspect:warmth:{sample_id}")
    assert (wrong, 1.0) in texts(client, draft)
    assert "Applied: 1 sample changed." in [toast.value for toast in at.toast]
    press(at, "samples.undo_button")
    assert sorted(texts(client, draft)) == sorted(before)


def test_a_finding_can_be_ignored_and_shown_again(workbench: Workbench, messy: str) -> None:
    at = press(check(workbench, messy), "doctor.ignore.conflict")
    assert not buttons(at, "doctor.ignore.conflict")
    assert "1 finding ignored" in words(at)
    assert buttons(press(at, "doctor.show_again"), "doctor.ignore.conflict")


def test_the_texts_of_a_finding_are_shown_in_the_table_by_a_link_that_holds(workbench: Workbench, messy: str) -> None:
    at = press(check(workbench, messy), "doctor.rows.conflict")
    assert {*listed(at)} == {WARM[1]}
    link = copied_link(at)
    assert set(link) == {"model", "rows"}
    at = workbench.open("samples", **link)
    assert len(listed(at)) == 2
    assert len(listed(press(at, "samples.clear"))) == 23


def test_findings_of_changed_samples_are_found_again(workbench: Workbench, client: Traitbench, messy: str) -> None:
    at = check(workbench, messy)
    client.samples.delete(messy, max(sample.id for sample in client.samples.list(messy)))
    press(at, "doctor.fix.conflict")
    assert not buttons(at, "doctor.fix.conflict")
    assert len(texts(client, messy)) == 22


# ---- what is read, and what is remembered ----------------------------------------------------------------------------


def test_many_texts_are_read_when_one_says_so(workbench: Workbench, client: Traitbench, empty: str) -> None:
    letters = ((f"Letter {number} of the check: {WARM[number % 10]}", float(number % 2)) for number in range(1_002))
    add(client, empty, *letters)
    at = check(workbench, empty)
    assert "1,002 texts must be read first" in words(at)
    assert not buttons(at, "doctor.fix.")
    assert "Check the samples before you train" in links(workbench.open("train", model=empty))


def test_vectors_are_forgotten_with_the_samples(workbench: Workbench, client: Traitbench, draft: str) -> None:
    check(workbench, draft)
    samples = list(client.samples.list(draft))
    assert not preview.unread(samples)
    preview.forget()
    assert len(preview.unread(samples)) == 20
