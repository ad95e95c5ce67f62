"""The API's verbs on the command line, against a real service: tables and sentences for people, JSON for programs."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.app.asking import Ask
from tests.conftest import COLD, WARM, Trained, make_draft
from traitbench.client import Traitbench
from traitbench.contract.confidence import REASONS
from traitbench.contract.models import Model, VersionRetentionPolicy


def cells(table: str) -> list[list[str]]:
    return [line.split() for line in table.splitlines()]


def test_a_model_goes_from_its_first_word_to_a_score_without_leaving_the_shell(ask: Ask, namespace: str) -> None:
    handle = f"{namespace}.shell"
    assert ask("models", "create", handle, "--description", "How warm")[:2] == (
        0,
        f"{handle} is a draft. Add traits and samples, then train it.\n",
    )
    assert ask("traits", "add", handle, "Warmth", "--positive", "warm", "--negative", "cold")[:2] == (
        0,
        f"{handle} has the trait warmth: cold … warm\n",
    )
    lines = [json.dumps({"text": text, "label": "warm"}) for text in WARM[1:]]
    lines += [json.dumps({"text": text, "label": "cold"}) for text in COLD]
    code, out, err = ask("samples", "import", handle, "-", stdin="\n".join(lines))
    assert (code, out) == (0, f"Added 19 samples to {handle}: 19 of warmth\n"), err
    assert err == "texts from text, traits from warmth, qualities from label\n"
    assert ask("samples", "add", handle, WARM[0], "--trait", "warmth", "--quality", "1")[0] == 0
    code, out, err = ask("train", handle, "--effort", "low", "--wait")
    assert (code, out) == (0, f"{handle} is ready: v1\n"), err
    code, out, _ = ask("score", handle, WARM[0])
    assert code == 0
    assert out.startswith("warmth  █")
    assert ask("versions", "tag", handle, "best")[:2] == (0, f"Tagged v1 of {handle} as best.\n")
    assert ask("score", f"{handle}@best", "-", stdin=WARM[0])[1] == out
    assert ask("models", "delete", handle, "--yes")[:2] == (0, f"Archived {handle}.\n")
    code, _, err = ask("score", handle, WARM[0])
    assert (code, "[req_" in err) == (1, True)


def test_models_are_listed_and_shown(ask: Ask, client: Traitbench, namespace: str) -> None:
    client.models.create(f"{namespace}.a", description="Ein schönes\nModell")
    client.models.create(f"{namespace}.b")
    _, out, _ = ask("models", "list", "--namespace", namespace)
    assert cells(out) == [
        ["HANDLE", "STATE", "VERSION", "TRAITS", "DESCRIPTION"],
        [f"{namespace}.a", "draft", "-", "Ein", "schönes", "Modell"],
        [f"{namespace}.b", "draft", "-"],
    ]
    _, out, _ = ask("models", "list", "--namespace", namespace, "--json")
    assert [Model.model_validate_json(line).handle for line in out.splitlines()] == [f"{namespace}.a", f"{namespace}.b"]
    _, out, _ = ask("models", "show", f"{namespace}.a", "--json")
    assert Model.model_validate_json(out) == client.models.get(f"{namespace}.a")
    _, out, _ = ask("models", "show", f"{namespace}.a")
    assert "zero data retention  off" in out
    assert "pruning              default: keeps 100 untagged and the first of each month" in out


def test_what_is_changed_is_what_was_given(ask: Ask, client: Traitbench, namespace: str, tmp_path: Path) -> None:
    handle = f"{namespace}.changed"
    client.models.create(handle, description="stays")
    readme = tmp_path / "readme.md"
    readme.write_text("\ufeff# Töne", "utf-8")
    assert ask("models", "update", handle, "--max-depth", "2", "--readme", str(readme))[:2] == (
        0,
        f"Updated {handle}.\n",
    )
    model = client.models.get(handle)
    assert (model.description, model.max_depth, model.readme_markdown) == ("stays", 2, "# Töne")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["models", "update", "{}"], "at least one field"),
        (["models", "update", "{}", "--keep-unnamed", "3", "--default-pruning"], "not both"),
        (["models", "update", "{}", "--max-depth", "9"], "9 is not in the range"),
        (["traits", "update", "{}", "warmth"], "at least one field"),
        (["samples", "add", "{}", "text", "--trait", "warmth"], "Missing option '--quality'"),
        (["samples", "import", "{}", "no-such-file.csv"], "does not exist"),
        (["samples", "import", "{}", "-", "--word", "fine"], "--word fine is not WORD=QUALITY"),
        (["samples", "import", "{}", "-", "--word", "fine=7"], "--word fine=7 is not WORD=QUALITY"),
        (["samples", "import", "{}", "-", "--text-column", "body"], "no column body; it has text, label"),
        (["compare", "{}", "one"], "Give two texts"),
        (["compare", "{}", "-", "-"], "Give two texts"),
        (["compare", "{}", "one", "two", "--file-a", "-"], "Give two texts"),
        (["score", "{}", "text", "--feedback", "good"], "--feedback good is not TRAIT=WORD"),
        (["score", "{}", "text", "--batch", "-"], "--batch does not take TEXT"),
        (["score", "{}", "text", "--column", "body"], "need --batch"),
        (["score", "{}", "--file", "-"], "is not UTF-8 text"),
        (["samples", "synthesize", "{}", "--type", "enrich"], "'enrich' is not one of"),
    ],
)
def test_what_is_asked_wrongly_is_told_and_exits_2(
    ask: Ask, client: Traitbench, namespace: str, arguments: list[str], sentence: str
) -> None:
    handle = f"{namespace}.wrong"
    client.models.create(handle)
    stdin = b"\xff" if "--file" in arguments else b"text,label\na,b"
    code, out, err = ask(*(argument.format(handle) for argument in arguments), stdin=stdin)
    assert (code, out) == (2, "")
    assert sentence in err


def test_what_is_taken_away_for_good_is_asked_about(ask: Ask, client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.precious"
    make_draft(client, handle)
    for arguments in (
        ["models", "delete", handle],
        ["traits", "delete", handle, "warmth"],
        ["models", "update", handle, "--zero-data-retention"],
    ):
        code, out, err = ask(*arguments, stdin="y\n")
        assert (code, out) == (2, "")
        assert "--yes" in err
    assert "deletes all samples" in err
    model = client.models.get(handle)
    assert (model.state, model.zero_data_retention, model.traits) == ("draft", False, ["Warmth"])
    assert ask("traits", "delete", handle, "warmth", "--yes")[:2] == (0, f"Deleted the trait warmth of {handle}.\n")


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


def test_samples_come_out_as_they_can_go_in_again(ask: Ask, client: Traitbench, namespace: str) -> None:
    for name in ("a", "b"):
        client.models.create(f"{namespace}.{name}")
        ask("traits", "add", f"{namespace}.{name}", "Warmth")
    text = 'two\nlines, a "quote" and = no formula'
    assert ask("samples", "add", f"{namespace}.a", "-", "--trait", "warmth", "--quality", ".25", stdin=text)[0] == 0
    _, out, _ = ask("samples", "list", f"{namespace}.a", "--json")
    assert ask("samples", "import", f"{namespace}.b", "-", stdin=out)[0] == 0
    [sample] = client.samples.list(f"{namespace}.b")
    assert (sample.text, sample.quality) == (text, 0.25)
    _, out, _ = ask("samples", "list", f"{namespace}.b", "--trait", "warmth")
    assert cells(out)[1][1:6] == ["warmth", "0.25", "authored", "-", "two"]
    assert ask("samples", "delete", f"{namespace}.b", str(sample.id))[0] == 0
    assert client.samples.list(f"{namespace}.b").first() is None


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
    assert err.splitlines()[1:3] == [
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
    assert ask("traits", "add", handle, "C#", "--key", "c_2")[0] == 0
    assert [trait.name for trait in client.traits.list(handle)] == ["C++", "C#"]
    code, _, err = ask("samples", "add", handle, "a text", "--trait", "Cpp", "--quality", "1")
    assert code == 1
    assert 'no trait "Cpp"' in err
    assert "Known traits: c, c_2." in err


def test_a_training_that_is_not_waited_for_names_its_run(ask: Ask, client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.trained"
    make_draft(client, handle)
    code, out, _ = ask("train", handle, "--effort", "low", "--json")
    assert (code, json.loads(out)["state"]) == (0, "busy")
    client.models.wait(handle)
    assert ask("train", handle)[:2] == (0, f"{handle} is ready; nothing to do\n")


def test_versions_are_listed_shown_and_activated(ask: Ask, trained: Trained) -> None:
    _, out, _ = ask("versions", "list", trained.handle)
    assert cells(out)[1][:3] == ["v1", "active", "train"]
    _, out, _ = ask("versions", "list", trained.handle, "--json")
    assert [json.loads(line)["version_no"] for line in out.splitlines()] == [1]
    _, out, _ = ask("versions", "show", trained.handle)
    assert out.startswith("version  v1")
    assert "out-of-fold" in out
    _, out, _ = ask("versions", "show", trained.handle, "v1", "--json")
    assert "snapshot" in json.loads(out)
    assert ask("versions", "tag", trained.handle, "shown")[0] == 0
    assert ask("versions", "activate", trained.handle, "shown")[1] == f"v1 of {trained.handle} now serves scores.\n"
    assert ask("versions", "activate", trained.handle, "v1", "--json")[0] == 0
    assert ask("versions", "untag", trained.handle, "shown")[1] == f"Removed the tag shown from {trained.handle}.\n"
    code, _, err = ask("versions", "show", trained.handle, "shown")
    assert (code, "[req_" in err) == (1, True)


def test_a_fork_is_made_trained_and_promoted(ask: Ask, trained: Trained, client: Traitbench, namespace: str) -> None:
    handle, copy = f"{namespace}.tone", f"{namespace}.tone-next"
    client.models.import_(trained.client.models.export(trained.handle), handle=handle)
    made = f"{copy} is a draft forked from v1 of {handle}. Change it, then train it.\n"
    assert ask("fork", handle, copy)[:2] == (0, made)
    _, out, _ = ask("fork", copy, f"{copy}-2", "--json")
    assert json.loads(out)["forked_from"] == {"handle": copy, "version_no": None}
    assert ["forked", "from", handle, "v1"] in cells(ask("models", "show", copy)[1])
    assert ask("train", copy, "--effort", "low", "--wait")[0] == 0
    client.scores.score(handle, "Said meanwhile.", feedback={"warmth": 1.0})
    code, out, err = ask("promote", handle, "--from", copy, "--keep")
    waits = "Waiting for the next retrain: 1 sample of feedback."
    assert (code, out) == (0, f"v2 of {handle} now serves scores. {waits}\n"), err
    code, out, err = ask("promote", handle, "--from", copy)
    assert (code, out) == (1, "")
    assert f"{handle} got v2 after {copy} was forked from it." in err
    code, out, _ = ask("promote", handle, "--from", copy, "--force", "--json")
    assert (code, json.loads(out)["metrics"]["promoted_from"]["handle"]) == (0, copy)
    assert client.models.get(copy).state == "archived"
    assert ask("promote", handle)[0] == 2


def test_a_score_is_a_chart_for_people_and_a_card_for_programs(ask: Ask, trained: Trained, tmp_path: Path) -> None:
    file = tmp_path / "text.txt"
    file.write_text(WARM[0])
    _, chart, _ = ask("score", trained.handle, "--file", str(file), "--traits", "warmth")
    assert chart == trained.client.scores.chart(trained.handle, WARM[0]).rstrip("\n") + "\n"
    _, out, _ = ask("score", trained.handle, WARM[0], "--json")
    card = trained.client.scores.score(trained.handle, WARM[0])
    assert json.loads(out)["scores"] == card.scores
    code, _, err = ask("score", trained.handle, "text", "--traits", "warmth,colour")
    assert code == 1
    assert "traits.1" in err


def test_a_pruning_policy_is_changed_key_by_key(ask: Ask, client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.pruned"
    client.models.create(handle)
    assert ask("models", "update", handle, "--keep-unnamed", "3")[0] == 0
    assert ask("models", "update", handle, "--drop-first-of-month")[0] == 0
    policy = client.models.get(handle).version_retention_policy
    assert policy == VersionRetentionPolicy(keep_unnamed=3, keep_first_of_month=False)
    assert "keeps 3 untagged\n" in ask("models", "show", handle)[1]
    assert ask("models", "update", handle, "--default-pruning")[0] == 0
    assert client.models.get(handle).version_retention_policy is None


def test_two_texts_are_compared(ask: Ask, trained: Trained, tmp_path: Path) -> None:
    file = tmp_path / "cold.txt"
    file.write_text(COLD[0])
    _, chart, _ = ask("compare", trained.handle, "--file-a", str(file), "-", stdin=WARM[0])
    drawn = trained.client.scores.compare_chart(trained.handle, COLD[0], WARM[0]).rstrip("\n")
    assert chart == f"{drawn}\n\nB is higher (sure): warmth.\n"
    assert "\n\nNo sure difference: warmth.\n" in ask("compare", trained.handle, COLD[0], COLD[1])[1]
    _, out, _ = ask("compare", f"{trained.handle}@v1", COLD[0], WARM[0], "--json")
    assert json.loads(out)["per_trait"]["warmth"]["delta"] > 0


def test_why_a_confidence_is_not_high_is_said_beside_the_chart(ask: Ask, trained: Trained) -> None:
    sentence = f"warmth: low confidence. {REASONS['unlike_samples'].sentence}\n"
    _, chart, err = ask("score", trained.handle, "qwpo xzzk vbnm lkjh asdf 48151")
    assert (sentence in err, "unlike" in chart) == (True, False)
    _, _, err = ask("compare", trained.handle, WARM[0], "qwpo xzzk vbnm lkjh asdf 48151")
    assert f"b: {sentence}" in err


def test_the_model_card_is_printed(ask: Ask, trained: Trained) -> None:
    code, out, _ = ask("models", "card", trained.handle)
    assert (code, out.strip()) == (0, trained.client.models.card(trained.handle).strip())


def test_an_address_that_is_not_public_is_refused(ask: Ask) -> None:
    code, out, err = ask("extract", "http://127.0.0.1/secret")
    assert (code, out) == (1, "")
    assert "[req_" in err


def test_traits_are_discovered_and_samples_synthesized(ask: Ask, client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.found"
    make_draft(client, handle)
    code, out, err = ask("traits", "discover", handle, "--effort", "low", "--wait")
    assert (code, cells(out)[1][:4]) == (0, ["warmth", "Warmth", "cold", "warm"]), err
    code, _, err = ask("traits", "discover", handle, "--effort", "low")
    assert (code, "run_" in err) == (1, True)
    code, out, err = ask("samples", "synthesize", handle, "--effort", "low", "--plan")
    assert (code, out.splitlines()[0]) == (0, "Up to 16 texts per pole in about 3 s, made offline: nothing is sent."), (
        err
    )
    code, out, err = ask("samples", "synthesize", handle, "--effort", "low", "--offline", "--wait")
    assert (code, cells(out)[0]) == (0, ["TRAIT", "+", "-"]), err
    assert int(cells(out)[1][1]) > len(WARM)
    _, out, _ = ask("samples", "list", handle, "--from", "synthesized", "--pole", "negative", "--json")
    assert {(each["provenance"], each["quality"]) for each in map(json.loads, out.splitlines())} == {
        ("synthesized", 0.0)
    }
    client.samples.synthesize(handle, synth_type="diversify", effort="low", language_model=False)
    client.models.wait(handle)
    rejected = client.samples.rejected(handle)
    _, out, _ = ask("samples", "rejected", handle, "--json")
    assert [json.loads(line)["text"] for line in out.splitlines()] == [each.text for each in rejected]


def test_feedback_is_given_with_a_score(ask: Ask, client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.fed"
    make_draft(client, handle)
    ask("train", handle, "--effort", "low", "--wait")
    code, out, err = ask("score", handle, "Thanks a lot.", "--feedback", "warmth=0.75")
    assert (code, out[:6]) == (0, "warmth")
    assert "for the next retraining" in err
    assert list(client.samples.list(handle))[-1].quality == 0.75
    code, out, _ = ask("train", handle, "--effort", "low", "--reoptimize", "--no-labels", "--wait", "--json")
    assert (code, json.loads(out)["version_no"]) == (0, 2)
    newest = client.versions.get(handle, "v2")
    assert newest.metrics.use_labels is False


def test_a_model_is_trained_with_the_encoder_that_is_named(ask: Ask, client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.switched"
    make_draft(client, handle)
    code, out, err = ask("train", handle, "--effort", "low", "--encoder", "oracle", "--wait")
    assert (code, out) == (1, "")
    assert '"oracle" is not known; use full, minilm, static, ngrams' in err
    code, _, err = ask("train", handle, "--effort", "low", "--encoder", "static", "--wait")
    assert code == 0, err
    assert "static-wsn" in ask("versions", "show", handle)[1]
    assert ask("score", handle, "Thanks a lot.")[0] == 0


def test_feedback_is_listed_withdrawn_and_learned_now(ask: Ask, client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.told"
    make_draft(client, handle)
    ask("train", handle, "--effort", "low", "--wait")
    assert ask("retrain", handle)[:2] == (0, f"{handle} is ready; nothing to do\n")
    for text in ("Thanks a lot.", "Go away."):
        ask("score", handle, text, "--feedback", "warmth=1")
    heads, first, second = cells(ask("samples", "list", handle, "--pending")[1])
    assert (heads, first[1:3]) == (["ID", "TRAIT", "QUALITY", "THEN", "TEXT"], ["warmth", "1"])
    assert 0 <= int(second[3]) <= 100
    assert ask("samples", "delete", handle, second[0])[0] == 0
    code, out, err = ask("retrain", handle, "--wait")
    assert (code, out) == (0, f"{handle} is ready: v2\n"), err
    assert ask("models", "update", handle, "--hold-if-worse")[0] == 0
    assert ask("versions", "activate", handle, "v1")[0] == 0
    rows = cells(ask("activations", handle)[1])
    assert [(row[2], row[3], row[4]) for row in rows[1:]] == [
        ("v1", "v2", "activate"),
        ("v2", "v1", "retrain"),
        ("v1", "-", "train"),
    ]
    listed = [json.loads(line) for line in ask("activations", handle, "--json")[1].splitlines()]
    assert [each["version_no"] for each in listed] == [1, 2, 1]
    assert "hold if worse        on" in ask("models", "show", handle)[1]


def test_what_keeping_no_texts_means_is_carried_out_when_it_is_meant(
    ask: Ask, client: Traitbench, namespace: str
) -> None:
    handle = f"{namespace}.forgetful"
    make_draft(client, handle)
    assert ask("models", "update", handle, "--zero-data-retention", "--yes")[:2] == (0, f"Updated {handle}.\n")
    assert client.samples.list(handle).items == []
    assert ask("models", "update", handle, "--zero-data-retention")[0] == 0
    assert ask("models", "update", handle, "--data-retention")[0] == 0
    assert client.models.get(handle).zero_data_retention is False


def test_a_model_moves_as_one_file(ask: Ask, client: Traitbench, namespace: str, tmp_path: Path) -> None:
    handle, file = f"{namespace}.moved", tmp_path / "model.json"
    make_draft(client, handle)
    ask("train", handle, "--effort", "low", "--wait")
    assert ask("export", handle, "-o", str(file))[::2] == (0, f"{file}: 1 trait, 20 samples, 1 version\n")
    code, out, err = ask("import", str(file), "--handle", f"{namespace}.copy")
    assert (code, out) == (0, f"{namespace}.copy is ready: v1\n"), err
    assert ask("score", f"{namespace}.copy", WARM[0]) == ask("score", handle, WARM[0])
    _, piped, _ = ask("export", handle)
    assert ask("import", "-", "--handle", f"{namespace}.piped", stdin=piped)[0] == 0


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            lambda document: document.replace("Thank you so much", "Thank you so little"),
            "changed since it was exported",
        ),
        (lambda document: document[:-100], "is not a model exported from Traitbench"),
        (lambda document: "[]", "is not a model exported from Traitbench"),
        (lambda document: document.replace("bundle-1", "bundle-9"), "is not a model exported from Traitbench"),
    ],
)
def test_a_file_that_was_changed_is_refused(
    ask: Ask, trained: Trained, namespace: str, change: Callable[[str], str], sentence: str
) -> None:
    _, document, _ = ask("export", trained.handle)
    code, out, err = ask("import", "-", "--handle", f"{namespace}.tampered", stdin=change(document.rstrip("\n")))
    assert (code, out) == (1, "")
    assert sentence in err
    assert "Thank you" not in err


def test_an_export_that_cannot_be_written_leaves_what_was_there(ask: Ask, trained: Trained, tmp_path: Path) -> None:
    code, _, err = ask("export", trained.handle, "-o", str(tmp_path / "none" / "model.json"))
    assert (code, "cannot be written: No such file" in err) == (1, True)
    assert list(tmp_path.iterdir()) == []


def test_an_archived_model_is_restored(ask: Ask, client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.back"
    client.models.create(handle)
    assert ask("models", "delete", handle, "--yes")[0] == 0
    assert "state                archived since 20" in ask("models", "show", handle)[1]
    assert ask("models", "restore", handle)[:2] == (0, f"{handle} is restored. Its state is draft.\n")
    assert client.models.get(handle).archived_at is None
    code, _, err = ask("models", "restore", f"{namespace}.never")
    assert (code, f"{namespace}.never" in err) == (1, True)


def test_the_main_trait_and_demo_texts_are_set_and_cleared(ask: Ask, client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.shown"
    make_draft(client, handle)
    assert (
        ask("models", "update", handle, "--main-trait", "Warmth", "--demo-text", "One.", "--demo-text", "Two.")[0] == 0
    )
    model = client.models.get(handle)
    assert (model.main_trait, model.demo_texts) == ("warmth", ["One.", "Two."])
    out = ask("models", "show", handle)[1]
    assert "main trait           warmth" in out
    assert "demo texts           2" in out
    code, _, err = ask("models", "update", handle, "--main-trait", "unknown")
    assert (code, "unknown" in err, client.models.get(handle).main_trait) == (1, True, "warmth")
    assert ask("models", "update", handle, "--main-trait", "", "--no-demo-texts")[0] == 0
    model = client.models.get(handle)
    assert (model.main_trait, model.demo_texts) == (None, [])


def test_a_tag_keeps_its_note_until_it_is_set_again(ask: Ask, client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.tagged"
    make_draft(client, handle)
    assert ask("train", handle, "--effort", "low", "--wait")[0] == 0
    note = "Approved by the editors."
    assert ask("versions", "tag", handle, "best", "--note", note)[0] == 0
    assert client.versions.get(handle).tag_notes == {"best": note}
    assert note in ask("versions", "show", handle)[1]
    assert ask("versions", "tag", handle, "best")[0] == 0
    assert note not in ask("versions", "show", handle)[1]
    code, _, err = ask("versions", "tag", handle, "best", "--note", "x" * 501)
    assert (code, "500" in err) == (1, True)
