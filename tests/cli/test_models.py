"""Models on the command line: made, listed, changed, archived and restored."""

from pathlib import Path

import pytest

from tests.cli.asking import Ask, cells
from tests.conftest import make_draft
from traitbench.client import Traitbench
from traitbench.contract.models import Model, VersionRetentionPolicy


def test_models_are_listed_and_shown(ask: Ask, client: Traitbench, namespace: str) -> None:
    client.models.create(f"{namespace}.a", description="Ein schönes\nModell")
    client.models.create(f"{namespace}.b")
    _, out, _ = ask("models", "list", "--namespace", namespace)
    assert cells(out) == [
        ["HANDLE", "STATE", "VERSION", "TRAITS", "DESCRIPTION"],
        [f"{namespace}.a", "draft", "-", "Ein", "schönes", "Modell"],
        [f"{namespace}.b", "draft", "-"],
    ]
    _, every, _ = ask("models", "list")
    assert f"{namespace}." in every
    assert f"{namespace}." not in ask("models", "list", "--public")[1]
    assert ask("models", "list", "--public", "--namespace", namespace)[0] == 2
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


def test_forks_are_named_and_archived_ones_lose_their_texts_too(ask: Ask, client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.origin"
    make_draft(client, handle)
    left, living = f"{handle}-left", f"{handle}-living"
    for fork in (left, living):
        client.models.fork(handle, fork)
    client.models.delete(left)
    assert f"{left} (archived), {living} (draft)\n" in ask("models", "show", handle)[1]
    assert (
        f"archived forks lose their samples too: {left}." in ask("models", "update", handle, "--zero-data-retention")[2]
    )
    code, out, err = ask("models", "update", handle, "--zero-data-retention", "--yes")
    assert (code, out, client.models.get(handle).zero_data_retention) == (0, f"Updated {handle}.\n", True)
    assert f"Its fork {living} keeps its samples" in err
    assert [bool(client.samples.list(each).items) for each in (handle, left, living)] == [False, False, True]
    assert ask("models", "update", handle, "--data-retention")[0] == 0
    assert client.models.get(handle).zero_data_retention is False


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
