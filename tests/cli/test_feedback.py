"""Feedback on the command line: given with a score, listed, withdrawn and learned."""

import json

from tests.cli.asking import Ask, cells
from traitbench.client import Traitbench


def test_feedback_is_given_with_a_score(ask: Ask, client: Traitbench, own: str) -> None:
    code, out, err = ask("score", own, "Thanks a lot.", "--feedback", "warmth=0.75")
    assert (code, out[:6]) == (0, "warmth")
    assert "for the next retraining" in err
    assert list(client.samples.list(own))[-1].quality == 0.75
    code, out, _ = ask("train", own, "--effort", "low", "--reoptimize", "--no-labels", "--wait", "--json")
    assert (code, json.loads(out)["version_no"]) == (0, 2)
    assert client.versions.get(own, "v2").metrics.use_labels is False


def test_feedback_is_listed_withdrawn_and_learned_now(ask: Ask, own: str) -> None:
    handle = own
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
    assert [(row[2], row[3], row[4]) for row in rows[1:4]] == [
        ("v1", "v2", "activate"),
        ("v2", "v1", "retrain"),
        ("v1", "-", "import"),
    ]
    listed = [json.loads(line) for line in ask("activations", handle, "--json")[1].splitlines()]
    assert [each["version_no"] for each in listed][:3] == [1, 2, 1]
    assert "hold if worse        on" in ask("models", "show", handle)[1]
