"""From a file: what is found in it, the model that it makes, and what happens when the file or the service is not as it
should be.
"""

import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.cli.asking import asking
from tests.conftest import Service
from tests.pages.drive import (
    Workbench,
    bars,
    buttons,
    end_badly,
    ending,
    frame,
    hold_busy,
    html,
    labelled,
    labeller,
    links,
    plain,
    press,
    texts,
    upload,
    words,
)
from tests.patience import PATIENCE_S
from traitbench.client import Traitbench
from traitbench.errors import Unavailable
from traitbench_app.workspace import pool

HAPPY = ("The soup was lovely", "What a kind welcome", "I smiled all evening", "Thank you for the warm help", "So good")
SAD = ("The soup was cold", "Nobody greeted us", "I left in anger", "Your help made it worse", "So bad")


def file_of(moods: Sequence[str] = ("happy", "unhappy"), *, rows: int = 24, detail: Sequence[str] = ()) -> str:
    """A CSV file of reviews with an id, a mood, and a second label if `detail` has kinds."""
    lines = ["id,review,mood" + (",detail" if detail else "")]
    for row in range(rows):
        side, turn = row % len(moods), row // len(moods)
        words = (HAPPY, SAD)[side % 2][turn % 5]
        more = f",{detail[turn % len(detail)]}" if detail else ""
        lines.append(f"{1000 + row},{words} on day {row}.,{moods[side]}{more}")
    return "\n".join(lines) + "\n"


def drop(workbench: Workbench, content: str | bytes, name: str = "reviews.csv") -> AppTest:
    return upload(workbench.open("from_file"), name, content)


def title(at: AppTest) -> str:
    return str(at.title[0].value)


def test_two_labels_become_a_trained_model_and_a_scored_text_in_two_clicks(
    workbench: Workbench, client: Traitbench, namespace: str
) -> None:
    at = drop(workbench, file_of(rows=60) + "2000,Hm.,\n")  # the first click
    assert title(at) == "1 trait found in 61 reviews"
    assert "reviews.csv, 3 columns. Texts are in “review”, labels in “mood”." in plain(at)
    assert "id: Identifies each row" in plain(at).replace("*", "")
    assert "1 row: has no label (line 62)" in plain(at).replace("*", "")
    press(at, "from_file.create")  # the second one
    handle = f"{namespace}.reviews"
    assert at.query_params["made"] in (handle, [handle])
    client.models.wait(handle)
    at.run()
    assert "right" in title(at) or "guess" in title(at)
    praised = title(at).endswith("on texts it has not seen")
    assert ("st-key-primary_link" in html(at)) == praised, "no primary button for what may be luck"
    assert "60 of 61 rows in reviews.csv became samples." in plain(at)
    assert len(bars(at)) == 1
    assert at.text_area[0].value == "Hm."
    samples = list(client.samples.list(handle))
    assert (len(samples), sum(each.held_out for each in samples)) == (60, 20)
    (trait,) = client.traits.list(handle)
    assert (trait.name, trait.negative_label, trait.positive_label) == ("Mood", "unhappy", "happy")


SURVEY = [("5", "price;staff"), ("1", "staff"), ("4", "price"), ("99", "NA")]


@pytest.mark.parametrize(
    "content",
    [
        file_of(rows=60) + "2000,Hm.,nan\n",
        "conversation,answer,stars,topics\n"
        + "".join(
            f"c{row % 12},{(HAPPY, SAD)[row % 2][row % 5]} on {row}.,{','.join(SURVEY[row % 4])}\n" for row in range(72)
        ),
    ],
)
def test_the_command_makes_the_model_of_the_page(
    workbench: Workbench, service: Service, client: Traitbench, namespace: str, tmp_path: Path, content: str
) -> None:
    press(drop(workbench, content), "from_file.create")
    (tmp_path / "reviews.csv").write_text(content, encoding="utf-8")
    ask = asking(service, tmp_path, namespace)
    code, _, err = ask("models", "create", f"{namespace}.twin", "--from", str(tmp_path / "reviews.csv"))
    assert code == 0, err
    made, twin = (
        (
            [(each.name, each.negative_label, each.positive_label) for each in client.traits.list(handle)],
            [
                (each.trait, each.text, each.quality, each.held_out, each.group)
                for each in client.samples.list(handle, limit=500)
            ],
        )
        for handle in (f"{namespace}.reviews", f"{namespace}.twin")
    )
    assert made[0] == twin[0]
    assert sorted(made[1]) == sorted(twin[1])
    assert len(made[1]) > 50


def test_a_reading_is_said_and_can_be_changed(workbench: Workbench, client: Traitbench, namespace: str) -> None:
    content = "answer,rating\n" + "".join(f"{HAPPY[i % 5]} {i},{(1, 2, 3, 4, 5, 99)[i % 6]}\n" for i in range(36))
    at = drop(workbench, content)
    rating = labelled(at.selectbox, "rating")
    assert (rating.value, rating.help.replace("\\", "")) == (
        "scale",
        "A scale from 1 to 5. “99” means no answer (6 rows).",
    )
    assert "6 rows: “rating” says “99”, which means no answer" in plain(at).replace("*", "")
    labelled(at.number_input, "Border").set_value(4.5).run()
    press(at, "from_file.create")
    samples = client.samples.list(f"{namespace}.reviews")
    assert {round(each.quality, 3) for each in samples if each.quality > 0.5} == {1.0}


def test_several_columns_become_several_traits_with_names_and_sides_of_your_own(
    workbench: Workbench, client: Traitbench, namespace: str
) -> None:
    at = drop(workbench, file_of(detail=("vague", "concrete", "")))
    assert title(at) == "2 traits found in 24 reviews"
    assert "16 unhappy" not in html(at)
    assert "8 rows have no label here." in plain(at)
    next(each for each in at.text_input if each.value == "Detail").set_value("Detail level")
    press(at, next(key for key in buttons(at) if key.endswith("3.sides.0.swap")))
    assert [each.value for each in at.text_input if str(each.key).endswith((".negative", ".positive"))] == [
        *("unhappy", "happy"),
        *("vague", "concrete"),
    ]
    press(at, "from_file.create")
    detail = next(each for each in client.traits.list(f"{namespace}.reviews") if each.name == "Detail level")
    assert (detail.negative_label, detail.positive_label) == ("vague", "concrete")
    own = [each for each in client.samples.list(f"{namespace}.reviews") if each.trait == detail.key]
    assert {each.text: each.quality for each in own}["The soup was lovely on day 0."] == 0.0


@pytest.mark.parametrize(("shape", "names"), [("each", ["Food", "Price", "Staff"]), ("order", ["Mood"])])
def test_more_than_two_labels_are_one_question(
    workbench: Workbench, client: Traitbench, namespace: str, shape: str, names: list[str]
) -> None:
    at = drop(workbench, file_of(("price", "staff", "food")))
    assert title(at) == "3 traits found in 24 reviews"
    (question,) = at.radio
    assert "“mood” has 3 kinds" in question.label
    question.set_value(shape).run()
    press(at, "from_file.create")
    assert sorted(each.name for each in client.traits.list(f"{namespace}.reviews")) == names
    qualities = {each.quality for each in client.samples.list(f"{namespace}.reviews")}
    assert qualities == ({0.0, 1.0} if shape == "each" else {0.0, 0.5, 1.0})


def test_a_value_that_is_neither_side_is_counted_and_decided(
    workbench: Workbench, client: Traitbench, namespace: str
) -> None:
    at = drop(workbench, file_of() + "1,It was a day.,mixed\n2,It was a week.,mixed\n")
    assert "“mood” says “mixed” in 2 rows. It is neither unhappy nor happy." in plain(at)
    assert "has only labels that are left out (lines 26 and 27)" in plain(at)
    ending(at.button_group, "mixed").set_value("Middle").run()
    assert "left out (lines" not in plain(at)
    press(at, "from_file.create")
    assert sum(each.quality == 0.5 for each in client.samples.list(f"{namespace}.reviews")) == 2


def test_every_row_without_a_sample_is_named_with_its_reason(workbench: Workbench) -> None:
    odd = "1,,happy\n2,The soup was lovely on day 0.,happy\n3,The soup was cold on day 1.,happy\n"
    said = plain(drop(workbench, file_of() + odd)).replace("*", "")
    assert "1 row: “review” is empty (line 26)." in said
    assert "1 row: repeats a text with the same label; one copy stays (line 27)." in said
    assert "2 rows: has a text that another row labels otherwise (lines 3 and 28)." in said


def test_a_row_of_another_shape_is_named_and_the_others_are_used(
    workbench: Workbench, client: Traitbench, namespace: str
) -> None:
    at = drop(workbench, file_of() + "1,Too many cells.,happy,a,b,c\n")
    assert title(at) == "1 trait found in 25 reviews"
    assert "(line 26)" in plain(at)
    assert any(each.proto.label == "Download these rows" for each in at.get("download_button"))
    press(at, "from_file.create")
    assert len(texts(client, f"{namespace}.reviews")) == 24


def test_what_a_cell_says_is_shown_as_it_is(workbench: Workbench) -> None:
    at = drop(workbench, file_of(("<b>good</b>", "*bad*")) + "1,<script>alert(1)</script> is **bold**.,*bad*\n")
    assert "&lt;b&gt;good&lt;/b&gt;" in html(at)
    assert "<b>good" not in html(at)
    assert title(at) == "1 trait found in 25 reviews"


def test_markup_in_texts_is_said_and_read_as_text_on_a_persons_word(workbench: Workbench) -> None:
    content = file_of().replace("The soup was cold", "<p>The soup&nbsp;was cold</p>").replace("So good", "So gÃ¶od")
    at = drop(workbench, content)
    assert "3 of 24 texts have HTML." in plain(at)
    assert "such as “gÃ¶od” for “göod”" in plain(at)
    assert "&lt;p&gt;The soup" in html(at)
    labelled(at.toggle, "Read HTML as text").set_value(True).run()
    assert "&lt;p&gt;" not in html(at)
    assert not at.button(key="from_file.create").disabled


def test_a_training_that_failed_says_why_and_can_be_repeated(
    workbench: Workbench, service: Service, draft: str, client: Traitbench
) -> None:
    end_badly(service.context, hold_busy(service.context, draft), "The disk is full.")
    at = workbench.open("from_file", made=draft)
    assert title(at) == "The training failed"
    assert "The disk is full. Its samples are safe." in " ".join(plain(at).split("\n"))
    press(at, "from_file.train")
    client.models.wait(draft)
    assert "right" in title(at.run()).lower() or "guess" in title(at)


def test_a_role_can_be_changed_and_an_order_added(workbench: Workbench) -> None:
    content = "review,mood,visits\n" + "".join(
        f"{HAPPY[i % 5]} {i},{('good', 'bad')[i % 2]},{i % 5}\n" for i in range(20)
    )
    at = drop(workbench, content)
    assert title(at) == "1 trait found in 20 reviews"
    press(at, next(key for key in buttons(at) if key.endswith(".add.2")))
    assert title(at) == "2 traits found in 20 reviews"
    labelled(at.selectbox, "mood").set_value("not_used").run()
    assert title(at) == "1 trait found in 20 reviews"
    assert "mood: You left it out." in plain(at).replace("*", "")
    labelled(at.selectbox, "mood").set_value("text").run()
    assert labelled(at.selectbox, "review").value == "not_used", "one column has the texts"


def test_of_two_columns_of_texts_one_is_chosen(workbench: Workbench) -> None:
    content = "What do you like?,change,again\n" + "".join(
        f"{HAPPY[i % 5]} {i}.,{SAD[i % 5]} on day {i} of it.,{('No', 'Maybe', 'Definitely')[i % 3]}\n"
        for i in range(24)
    )
    at = drop(workbench, content)
    assert "Texts are in “change”, labels in “again”." in plain(at)
    question = labelled(at.radio, "Which column has the texts?")
    assert question.options == ["What do you like?", "change"]
    question.set_value("What do you like?").run()
    assert "Texts are in “What do you like?”, labels in “again”." in plain(at)


def test_several_people_lose_no_row(workbench: Workbench, client: Traitbench, namespace: str) -> None:
    rows = [(text, who, "bad" if text in SAD else "good") for text in (*HAPPY, *SAD) for who in ("ana", "ben")]
    at = drop(workbench, "text,annotator,mood\n" + "".join(f"{','.join(row)}\n" for row in rows))
    assert "2 people labelled the same 10 texts. All agree on 10 and differ on 0." in plain(at)
    press(at, "from_file.create")
    assert len(texts(client, f"{namespace}.reviews")) == 10


def test_a_file_without_labels_leads_to_label_with_its_texts(
    workbench: Workbench, client: Traitbench, namespace: str
) -> None:
    at = drop(workbench, "id,review\n" + "".join(f"{i},{text}\n" for i, text in enumerate(HAPPY)), "notes.csv")
    assert title(at) == "No labels found"
    assert not buttons(at, "from_file.create")
    press(at, "from_file.label")
    assert ending(at.text_input, "name").value == "notes"
    ending(at.text_input, "negative_label").set_value("sad")
    ending(at.text_input, "positive_label").set_value("glad")
    press(at, "catalog.create")
    assert at.selectbox(key="model").value == f"{namespace}.notes"
    assert any("soup" in each or "welcome" in each for each in plain(at).split("\n")) or "5 texts" in plain(at)
    assert "Add texts to label" not in plain(at)


def test_a_failure_in_the_middle_loses_nothing_and_creates_nothing_twice(
    workbench: Workbench, client: Traitbench, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = drop(workbench, file_of())
    with monkeypatch.context() as away:
        away.setattr("traitbench.client._sync.samples.Samples.add", _refuse)
        press(at, "from_file.create")
        assert title(at).replace("\\", "") == f"{namespace}.reviews is not trained yet"
        assert "overloaded" in at.error[0].value
        assert "1 trait and 0 samples" in plain(at)
        assert "Open the draft" in links(at)
        press(at, "from_file.go_on")
    assert "1 trait and 0 samples" in plain(at)
    press(at, "from_file.go_on")
    assert [each.handle for each in client.models.list(namespace=namespace)] == [f"{namespace}.reviews"]
    assert len(texts(client, f"{namespace}.reviews")) == 24
    assert client.models.get(f"{namespace}.reviews").state in ("busy", "ready")


def test_a_creation_that_a_second_click_interrupted_is_completed(
    workbench: Workbench, client: Traitbench, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = drop(workbench, file_of())
    with monkeypatch.context() as interrupted:
        interrupted.setattr("traitbench.client._sync.traits.Traits.add", _refuse)
        press(at, "from_file.create")
    del at.session_state["from_file.failed"]  # the script ended without an error
    at.run()
    assert len(texts(client, f"{namespace}.reviews")) == 24
    assert client.models.get(f"{namespace}.reviews").state in ("busy", "ready")


def test_names_that_give_no_key_or_the_same_one_are_created(
    workbench: Workbench, client: Traitbench, namespace: str
) -> None:
    at = drop(workbench, file_of(("\N{PEACH}", "\N{PEAR}", "\N{FIRE}")))
    press(at, "from_file.create")
    assert len(client.traits.list(f"{namespace}.reviews")) == 3
    assert client.models.get(f"{namespace}.reviews").state in ("busy", "ready")


def _refuse(*_: object) -> None:
    raise Unavailable("The service is overloaded.")


def test_a_taken_name_is_said_and_a_free_one_is_proposed(
    workbench: Workbench, client: Traitbench, namespace: str
) -> None:
    client.models.create(f"{namespace}.reviews")
    at = drop(workbench, file_of())
    name = labelled(at.text_input, "Name")
    assert name.value == "reviews-2"
    name.set_value("reviews").run()
    press(at, "from_file.create")
    assert at.error
    assert "made" not in at.query_params


def test_after_a_reload_the_file_is_asked_for_again(workbench: Workbench, new: str) -> None:
    at = workbench.open("from_file", file="reviews.csv")
    assert "reviews.csv is not in this session any more. Drop it again." in plain(at).replace("*", "")
    assert at.file_uploader
    at = workbench.open("from_file", file="reviews.csv", made=new)
    assert "It is a draft with 0 traits and 0 samples." in plain(at)


def test_a_file_that_cannot_be_read_says_why(workbench: Workbench) -> None:
    at = drop(workbench, b"\x00\x01\x02", "a.xlsx")
    assert "cannot be read" in title(at)
    assert at.error
    press(at, "from_file.again")
    assert at.file_uploader


def test_forty_columns_show_the_texts_and_labels_first(workbench: Workbench) -> None:
    many = [f"n{i}" for i in range(38)]
    content = ",".join([*many, "review", "mood"]) + "\n"
    content += "".join(
        ",".join([*map(str, range(i, 38 + i)), f"{HAPPY[i % 5]} {i}", "ab"[i % 2]]) + "\n" for i in range(20)
    )
    at = drop(workbench, content)
    assert title(at) == "1 trait found in 20 reviews"
    assert "34 more columns" in [each.label for each in at.expander]


# ---- a file by two words ---------------------------------------------------------------------------------------------


def test_a_file_by_two_words_is_not_tested_and_leads_to_label(
    workbench: Workbench, client: Traitbench, namespace: str
) -> None:
    own = [f"{words} on day {day}." for day in range(6) for words in (*HAPPY, *SAD)]
    at = workbench.open("from_file", negative="unhappy", positive="happy")
    upload(at, "days.csv", "text\n" + "\n".join(own) + f"\n{own[0]}\n")
    at = await_button(at, "from_file.label_first")
    assert "nearer to happy" in title(at)
    assert "not tested" in words(at)
    assert len(frame(at, "Score, not tested")) == 61, "each row, also a repeated one"
    first = {text for text in own if f"[{text}]" in plain(at)}
    assert len(first) == 20
    press(at, "from_file.label_first")
    assert [each.value for each in at.title] == ["Label"]
    handle = f"{namespace}.unhappy-or-happy"
    (trait,) = client.traits.list(handle)
    assert (trait.negative_label, trait.positive_label) == ("unhappy", "happy")
    assert at.selectbox(key="queue").value == "informative"
    pool.session_of(handle).wait(30)
    at = workbench.open("label", model=handle, queue="Most informative")
    assert labeller(at)["items"][0]["text"] in first, "its texts come first on Label"


def test_a_file_by_one_word_or_without_a_text_says_what_is_missing(workbench: Workbench) -> None:
    at = upload(workbench.open("from_file", negative="same", positive="Same"), "a.csv", "text\nHello there, you.\n")
    assert "Both sides have the same name" in words(at)
    at = upload(workbench.open("from_file", negative="cold", positive="warm"), "a.csv", "id,text\n1,\n2,\n")
    assert "no texts" in words(at) or "No column looks like texts" in words(at)


def await_button(at: AppTest, key: str) -> AppTest:
    """The page once it has this button, when the work in its background has ended."""
    until = time.monotonic() + PATIENCE_S
    while not buttons(at, key):
        assert time.monotonic() < until
        assert not at.exception
        at.run()
    return at
