"""Training and versions on the command line: trained, activated, tagged, promoted from a fork."""

import json

from tests.cli.asking import Ask, cells
from tests.conftest import Trained, make_draft
from traitbench.client import Traitbench


def test_a_training_that_is_not_waited_for_names_its_run(ask: Ask, client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.trained"
    make_draft(client, handle)
    code, out, _ = ask("train", handle, "--effort", "low", "--json")
    assert (code, json.loads(out)["state"]) == (0, "busy")
    client.models.wait(handle)
    assert ask("train", handle)[:2] == (0, f"{handle} is ready; nothing to do\n")


def test_versions_are_shown_by_number_and_by_tag_with_its_note(ask: Ask, trained: Trained) -> None:
    assert ask("versions", "tag", trained.handle, "shown", "--note", "Approved by the editors.")[0] == 0
    assert ["note", "of", "shown", "Approved", "by", "the", "editors."] in cells(
        ask("versions", "show", trained.handle, "shown")[1]
    )
    assert ask("versions", "activate", trained.handle, "v1", "--json")[0] == 0
    assert ask("versions", "untag", trained.handle, "shown")[0] == 0
    code, _, err = ask("versions", "show", trained.handle, "shown")
    assert (code, "[req_" in err) == (1, True)


def test_a_fork_is_made_trained_and_promoted(ask: Ask, client: Traitbench, own: str) -> None:
    handle, copy = own, f"{own}-next"
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


def test_a_model_is_trained_with_the_encoder_that_is_named(ask: Ask, client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.switched"
    make_draft(client, handle)
    code, out, err = ask("train", handle, "--effort", "low", "--encoder", "oracle", "--wait")
    assert (code, out) == (1, "")
    assert '"oracle" is not known; use multilingual, minilm-full, minilm, static, ngrams' in err
    code, _, err = ask("train", handle, "--effort", "low", "--encoder", "ngrams", "--wait")
    assert code == 0, err
    assert "ngrams-2" in ask("versions", "show", handle)[1]
    assert ask("score", handle, "Thanks a lot.")[0] == 0
