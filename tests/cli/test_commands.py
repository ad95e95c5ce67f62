"""The command line from the first word of a model to its score."""

import json

from tests.cli.asking import Ask
from tests.conftest import COLD, WARM


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
    assert err == "stdin.jsonl: 19 rows\ntexts from text, traits from warmth, qualities from label\n"
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


def test_an_address_that_is_not_public_is_refused(ask: Ask) -> None:
    code, out, err = ask("extract", "http://127.0.0.1/secret")
    assert (code, out) == (1, "")
    assert "[req_" in err
