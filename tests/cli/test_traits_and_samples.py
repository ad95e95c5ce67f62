"""Traits and samples on the command line: listed, changed, imported and set aside for tests."""

import json
from pathlib import Path

import pytest

from tests.cli.asking import Ask, cells
from tests.conftest import Service, Trained, make_draft
from traitbench.client import Traitbench
from traitbench.contract.operations import SCORES_SCORE
from traitbench.operations import proposed
from traitbench.operations.access import Caller


def test_traits_are_listed_changed_and_removed(ask: Ask, client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.traits"
    client.models.create(handle)
    code, out, _ = ask("traits", "add", handle, "Warm / kind", "--key", "warm", "--aggregation", "max", "--json")
    assert (code, json.loads(out)["aggregation"]) == (0, "max")
    assert ask("traits", "update", handle, "warm", "--positive", "kind")[0] == 0
    _, out, _ = ask("traits", "list", handle)
    assert cells(out)[1] == ["warm", "Warm", "/", "kind", "negative", "kind", "0", "0", "0", "extrinsic", "-", "max"]
    _, out, _ = ask("traits", "list", handle, "--json")
    assert [json.loads(line)["key"] for line in out.splitlines()] == ["warm"]
    assert ask("traits", "delete", handle, "warm")[0] == 0
    assert client.traits.list(handle) == []


def test_a_name_that_gives_the_key_of_another_trait_is_refused_with_the_way_out(
    ask: Ask, client: Traitbench, namespace: str
) -> None:
    handle = f"{namespace}.languages"
    client.models.create(handle)
    assert ask("traits", "add", handle, "C++")[0] == 0
    code, _, err = ask("traits", "add", handle, "C#")
    assert code == 1
    assert '"C++"' in err
    assert err.rstrip().endswith("--key c_2")


def test_samples_come_out_as_they_can_go_in_again(ask: Ask, client: Traitbench, namespace: str) -> None:
    for name in ("a", "b"):
        client.models.create(f"{namespace}.{name}")
        ask("traits", "add", f"{namespace}.{name}", "Warmth")
    text = 'two\nlines, a "quote" and = no formula'
    given = ("--trait", "warmth", "--quality", ".25", "--group", "conversation 7", "--note", "Polite")
    assert ask("samples", "add", f"{namespace}.a", "-", *given, stdin=text)[0] == 0
    _, out, _ = ask("samples", "list", f"{namespace}.a", "--json")
    assert ask("samples", "import", f"{namespace}.b", "-", stdin=out)[0] == 0
    [sample] = client.samples.list(f"{namespace}.b")
    assert (sample.text, sample.quality, sample.group, sample.note) == (text, 0.25, "conversation 7", "Polite")
    client.samples.update(f"{namespace}.b", [sample.id], group="")
    assert ask("samples", "change", f"{namespace}.b", str(sample.id), "--sample-note", "")[0] == 0
    assert [(each.group, each.note) for each in client.samples.list(f"{namespace}.b")] == [(None, None)]
    _, out, _ = ask("samples", "list", f"{namespace}.b", "--trait", "warmth")
    assert cells(out)[1][1:6] == ["warmth", "0.25", "authored", "-", "two"]
    assert ask("samples", "delete", f"{namespace}.b", str(sample.id))[0] == 0
    assert client.samples.list(f"{namespace}.b").first() is None


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "They are kept together; --no-groups"),
        (("--read", "conversation=rows_together"), "Rows with the same “conversation” are kept together."),
        (("--read", "conversation=group"), ""),
        (("--no-groups",), ""),
    ],
)
def test_rows_that_belong_together_are_kept_together_and_said(
    ask: Ask, client: Traitbench, namespace: str, options: tuple[str, ...], said: str
) -> None:
    handle = f"{namespace}.together{len(said)}x{sum(map(len, options))}"
    client.models.create(handle)
    ask("traits", "add", handle, "Warmth")
    rows = "".join(f"conv {row // 4},Turn {row} says.,{row // 4 % 2}\n" for row in range(48))
    code, _, err = ask("samples", "import", handle, "-", *options, stdin=f"conversation,text,label\n{rows}")
    assert (code, said in err, "kept together" in err) == (0, True, bool(said))
    names = {each.group for each in client.samples.list(handle)}
    assert names == ({f"conv {number}" for number in range(12)} if said else {None})


def _tests(client: Traitbench, handle: str) -> dict[str, tuple[bool, bool]]:
    return {sample.text: (sample.held_out, sample.must_pass) for sample in client.samples.list(handle)}


def test_test_samples_are_added_imported_listed_and_put_back(ask: Ask, client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.tests"
    client.models.create(handle)
    ask("traits", "add", handle, "Warmth")
    base = ("samples", "add", handle)
    given = ("--trait", "warmth", "--quality", "1")
    assert ask(*base, "first", *given, "--held-out", "--must-pass")[0] == 0
    code, _, err = ask(*base, "second", *given, "--must-pass")
    assert (code, "samples.0.must_pass" in err) == (1, True)
    rows = "text,label,test,must_pass\nthird,1,yes,true\nfourth,0,no,\nfifth,0,1,no\nsixth,1,,x\n"
    code, _, err = ask("samples", "import", handle, "-", stdin=rows)
    assert (code, "line 5: must_pass is yes, but only test samples can be must-pass" in err) == (1, True)
    code, out, err = ask("samples", "import", handle, "-", "--skip-bad", stdin=rows)
    assert out == f"Added 3 samples to {handle}: 3 of warmth; 2 test samples\n"
    assert "test samples from test" in err
    assert _tests(client, handle) == {
        "first": (True, True),
        "third": (True, True),
        "fourth": (False, False),
        "fifth": (True, False),
    }
    _, out, _ = ask("samples", "list", handle, "--held-out")
    assert [row[4:6] for row in cells(out)[1:]] == [["must", "pass"], ["must", "pass"], ["yes", "fifth"]]
    _, out, _ = ask("samples", "list", handle, "--not-held-out", "--json")
    [training] = map(json.loads, out.splitlines())
    assert ask("samples", "hold-out", handle, str(training["id"]), "--must-pass")[0] == 0
    assert _tests(client, handle)["fourth"] == (True, True)
    code, out, _ = ask("samples", "put-back", handle, "--all")
    assert (code, out) == (0, f"{handle}: put 4 samples back.\n")
    assert set(_tests(client, handle).values()) == {(False, False)}
    assert ask("samples", "put-back", handle)[0] == 2


def test_samples_are_set_aside_at_random_and_never_from_too_few(ask: Ask, client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.aside"
    make_draft(client, handle)
    code, out, err = ask("samples", "set-aside", handle)
    assert (code, out) == (1, "")
    assert "Nothing was set aside. Warmth has 10 different texts at" in err
    assert "needs 20 at each to set test samples aside (10 to test and 10 to train)." in err
    code, out, _ = ask("samples", "set-aside", handle, "--at-least", "3", "--seed", "7")
    assert code == 0
    assert out.startswith("Set 6 samples aside as test samples: Warmth 3 ")
    once = _tests(client, handle)
    assert sum(held_out for held_out, _ in once.values()) == 6
    code, _, err = ask("samples", "set-aside", handle, "--at-least", "3")
    assert (code, "The model has enough test samples already." in err) == (1, True)
    assert ask("samples", "put-back", handle, "--all")[0] == 0
    ask("samples", "set-aside", handle, "--at-least", "3", "--seed", "7")
    assert _tests(client, handle) == once


def test_a_file_with_bad_rows_goes_in_only_when_that_is_said(
    ask: Ask, client: Traitbench, namespace: str, tmp_path: Path
) -> None:
    handle = f"{namespace}.partly"
    client.models.create(handle)
    ask("traits", "add", handle, "Warmth", "--positive", "warm", "--negative", "cold")
    file = tmp_path / "samples.csv"
    file.write_text("text,label\nGood day,warm\nGo away,lukewarm\n,cold\nLeave,cold\n")
    code, out, err = ask("samples", "import", handle, str(file))
    assert (code, out) == (1, "")
    assert err.splitlines()[3:5] == [
        "line 3: label is neither a number from 0 to 1 nor a known label",
        "line 4: text is empty",
    ]
    assert "Nothing was added: 2 bad rows" in err
    assert client.samples.list(handle).items == []
    assert ask("samples", "import", handle, str(file), "--word", "lukewarm=0.5", "--skip-bad")[0] == 0
    assert sorted(sample.quality for sample in client.samples.list(handle)) == [0.0, 0.5, 1.0]


def test_columns_can_be_named_when_they_cannot_be_guessed(ask: Ask, client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.named"
    client.models.create(handle)
    ask("traits", "add", handle, "Warmth")
    ask("traits", "add", handle, "Length")
    given = ("--no-header", "--text-column", "Column 2", "--trait", "length", "--quality", "1")
    assert ask("samples", "import", handle, "-", *given, stdin="1;kurz\n2;lang\n")[0] == 0
    assert [(sample.trait, sample.text) for sample in client.samples.list(handle)] == [
        ("length", "kurz"),
        ("length", "lang"),
    ]


def test_a_file_may_have_a_column_of_labels_for_each_trait(ask: Ask, client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.wide"
    client.models.create(handle)
    ask("traits", "add", handle, "Warmth", "--positive", "warm", "--negative", "cold")
    ask("traits", "add", handle, "Length", "--positive", "long", "--negative", "short")
    rows = "text,Warmth,Length,test\nThank you,warm,short,yes\nGo away,0,,no\n"
    code, out, err = ask("samples", "import", handle, "-", stdin=rows)
    assert (code, out) == (0, f"Added 3 samples to {handle}: 2 of warmth, 1 of length; 2 test samples\n")
    assert "texts from text, traits from their columns, qualities from Warmth, Length, test samples from test" in err


def test_what_the_service_refuses_is_told_field_by_field(ask: Ask, client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.refused"
    client.models.create(handle)
    code, _, err = ask("traits", "add", handle, "", "--key", "no key", "--description", "d" * 2_001)
    assert code == 1
    assert [line.split(":")[0] for line in err.splitlines()[1:]] == [
        "  traits.0.name",
        "  traits.0.key",
        "  traits.0.description",
    ]
    code, _, err = ask("samples", "add", handle, "a text", "--trait", "none", "--quality", "1.5")
    assert code == 1
    assert "samples.0.quality" in err


def test_a_synthesis_is_planned_and_what_it_rejected_is_listed(ask: Ask, client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.made"
    make_draft(client, handle)
    _, out, _ = ask("samples", "synthesize", handle, "--effort", "low", "--plan")
    assert out.splitlines()[0] == "Up to 16 texts per pole in about 3 s, made offline: nothing is sent."
    assert ask("samples", "synthesize", handle, "--type", "diversify", "--effort", "low", "--offline", "--wait")[0] == 0
    rejected = client.samples.rejected(handle)
    _, out, _ = ask("samples", "rejected", handle, "--json")
    assert [json.loads(line)["text"] for line in out.splitlines()] == [each.text for each in rejected]


def test_a_discovery_takes_a_table_of_texts_without_those_that_say_nothing(
    ask: Ask, client: Traitbench, namespace: str, tmp_path: Path
) -> None:
    handle, file = f"{namespace}.found", tmp_path / "answers.csv"
    client.models.create(handle)
    file.write_text("id,answer\n1,The parcel came late.\n2,n/a\n3,It was lovely there.\n4,no comment\n")
    code, _, err = ask("traits", "discover", handle, "--texts", str(file))
    assert (code, "2 texts left out, because they say nothing" in err) == (1, True)
    assert "texts from answer" in err or "answer (text)" in err
    assert f"{handle} has 2" in err, "too few to discover in"
    _, _, err = ask("traits", "discover", handle, "--texts", str(file), "--with-nothing")
    assert f"{handle} has 4" in err


def test_samples_change_together_and_a_change_is_taken_back(ask: Ask, client: Traitbench, namespace: str) -> None:
    draft = f"{namespace}.changed"
    make_draft(client, draft)
    one, two, *_ = client.samples.list(draft)
    ids = (str(one.id), str(two.id), str(one.id))
    code, out, _ = ask("samples", "change", draft, *ids, "--quality", ".25", "--held-out", "--note", "Read again")
    assert (code, out.startswith(f"Changed 2 samples of {draft}.")) == (0, True)
    changed = client.samples.list(draft, ids=[one.id, two.id]).items
    assert [(each.quality, each.held_out, each.text) for each in changed] == [
        (0.25, True, one.text),
        (0.25, True, two.text),
    ]
    undo = out.rpartition("traitbench ")[2].split()
    assert ask(*undo)[1].startswith(f"Undid change {undo[-1]} of {draft}.")
    assert [each.quality for each in client.samples.list(draft, ids=[one.id, two.id])] == [one.quality, two.quality]
    _, out, _ = ask("samples", "changes", draft, "--sample", str(one.id))
    assert [line.split()[-1] for line in out.splitlines()[1:3]] == ["-", "again"]
    assert "undone" in out.splitlines()[2]


def test_a_change_of_nothing_and_one_that_cannot_be_are_refused(ask: Ask, client: Traitbench, namespace: str) -> None:
    draft = f"{namespace}.unchanged"
    make_draft(client, draft)
    sample = str(client.samples.list(draft).items[0].id)
    code, _, err = ask("samples", "change", draft, sample)
    assert (code, "Say what to change" in err) == (2, True)
    code, _, err = ask("samples", "change", draft, sample, "--quality", "2")
    assert (code, "quality" in err) == (1, True)
    code, _, err = ask("samples", "undo", draft, "999999999")
    assert (code, "no change 999999999" in err) == (1, True)


def test_an_attribute_gets_an_alias_and_loses_it(ask: Ask, trained: Trained) -> None:
    namespace = trained.handle.partition(".")[0]
    code, out, _ = ask("attributes", "set", namespace, "TOXICITY", f"{trained.handle}@v1", "Warmth")
    assert (code, out) == (0, f"In {namespace}, TOXICITY now means warmth of {trained.handle}@v1.\n")
    assert cells(ask("attributes", "list", namespace)[1])[1][:3] == ["TOXICITY", "warmth", f"{trained.handle}@v1"]
    code, _, err = ask("attributes", "set", namespace, "toxicity", trained.handle, "warmth")
    assert (code, "use A-Z, 0-9 and _" in err) == (1, True)
    code, out, _ = ask("attributes", "unset", namespace, "TOXICITY")
    again = out.rpartition("traitbench ")[2].split()
    assert ask("attributes", "unset", namespace, "TOXICITY")[0] == 1
    assert ask(*again)[0] == 0
    assert ask("attributes", "unset", namespace, "TOXICITY")[0] == 0


def test_texts_of_a_file_are_brought_listed_and_deleted(ask: Ask, trained: Trained, tmp_path: Path) -> None:
    file = tmp_path / "letters.csv"
    file.write_text('id,letter\n1,"How kind, of you"\n2,\n3,How kind\n', "utf-8")
    code, out, err = ask("texts", "add", trained.handle, str(file), "--column", "letter")
    assert (code, out) == (0, f"Added 2 texts to {trained.handle}.\n")
    assert "1 of 3 rows left out" in err
    assert "2 texts were there already" in ask("texts", "add", trained.handle, str(file), "--column", "letter")[1]
    rows = [json.loads(each) for each in ask("texts", "list", trained.handle, "--json")[1].splitlines()]
    assert [(each["text"], each["source"]) for each in rows] == [
        ("How kind, of you", "letters.csv"),
        ("How kind", "letters.csv"),
    ]
    assert ask("texts", "delete", trained.handle)[0] == 2
    assert ask("texts", "delete", trained.handle, str(rows[0]["id"]))[1].startswith("Deleted 1 text of")
    assert ask("texts", "delete", trained.handle, "--yes")[1].startswith("Deleted 1 text of")


def test_proposed_labels_are_listed_and_deleted(ask: Ask, service: Service, trained: Trained) -> None:
    author = Caller("key_author", "authoring", frozenset({trained.handle.partition(".")[0]}))
    for text in ("How kind\nof you", "Be gone \x1b[31m"):
        fields = {"trait": "warmth", "text": text}
        proposed.propose(service.context, author, SCORES_SCORE, trained.handle, value=0.25, **fields)
    _, out, _ = ask("proposed", "list", trained.handle)
    assert [row[1:3] for row in cells(out)[1:]] == [["warmth", "0.25"], ["warmth", "0.25"]]
    _, out, _ = ask("proposed", "list", trained.handle, "--json")
    newest, oldest = map(json.loads, out.splitlines())
    assert oldest.items() >= {"text": "How kind\nof you", "value": 0.25, "client_token": None}.items()
    assert ask("proposed", "delete", trained.handle)[0] == 2
    assert ask("proposed", "delete", trained.handle, str(newest["id"]))[1].startswith("Deleted 1 proposed label of")
    assert ask("proposed", "delete", trained.handle, "--yes")[1].startswith("Deleted 1 proposed label of")
