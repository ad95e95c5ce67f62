"""The table of states, walked cell by cell through the socket: every operation x every state.

A cell says the status and then the state that follows or, of an error, its code: an error changes nothing at all. What
a model is busy with are columns of their own.

See core/docs/contract.md, section 5.
"""

from typing import Any

import pytest

from tests.contract.conftest import RETRAIN_AFTER
from tests.contract.stage import LOW, STATES, StateFixtures
from tests.contract.world import Answer, World
from traitbench.contract.models import State
from traitbench.contract.states import TABLE, Operation, Outcome
from traitbench.errors import TraitbenchError, error_for

TEXT = "What a lovely day"
SAMPLES = {"samples": [{"trait": "tone", "text": TEXT, "quality": 1}]}

# Names of requests: method, path under the model, body; `{sample}` is the id of a sample of the model, `{pending}` that
# of feedback.
REQUESTS: dict[str, tuple[str, str, Any]] = {
    "traits.add": ("POST", "/traits", {"traits": [{"name": "Tempo"}]}),
    "traits.update": ("PATCH", "/traits/tone", {"description": "How warm."}),
    "traits.delete": ("DELETE", "/traits/tone", None),
    "samples.add": ("POST", "/samples", SAMPLES),
    "samples.update": ("PATCH", "/samples", {"ids": ["{sample}"], "held_out": True}),
    "samples.delete": ("DELETE", "/samples/{sample}", None),
    "samples.delete_many": ("POST", "/samples/delete", {"ids": ["{sample}"]}),
    "discover": ("POST", "/traits/discover", LOW),
    "discover, harder": ("POST", "/traits/discover", {"effort": "xhigh"}),
    "synthesize": ("POST", "/samples/synthesize", LOW),
    "synthesize, harder": ("POST", "/samples/synthesize", {"effort": "xhigh"}),
    "synthesize, of another type": ("POST", "/samples/synthesize", {**LOW, "synth_type": "diversify"}),
    "train": ("POST", "/train", LOW),
    "train, harder": ("POST", "/train", {"effort": "max"}),
    "retune": ("POST", "/train", {**LOW, "reoptimize_params": True}),
    "retrain": ("POST", "/retrain", None),
    "retrain, with feedback": ("POST", "/retrain", None),
    "withdraw": ("DELETE", "/samples/{pending}", None),
    "withdraw many": ("POST", "/samples/delete", {"ids": ["{pending}"]}),
    "score": ("POST", "/score", {"content": TEXT}),
    "score with feedback": ("POST", "/score", {"content": TEXT, "feedback": {"tone": "good"}}),
    "compare": ("POST", "/compare", {"a": TEXT, "b": "Go away"}),
    "batch": ("POST", "/score/batch", {"contents": [TEXT, "Go away"]}),
    "tag": ("POST", "/versions/good", None),
    "untag": ("DELETE", "/versions/best", None),
    "activate": ("PUT", "/versions/active", {"version": "v1"}),
    "update": ("PATCH", "", {"description": "Changed.", "version_retention_policy": {"keep_unnamed": 3}}),
    "turn zero retention on": ("PATCH", "", {"zero_data_retention": True}),
    "get": ("GET", "", None),
    "card": ("GET", "", None),
    "export": ("GET", "/export", None),
    "traits.list": ("GET", "/traits", None),
    "traits.get": ("GET", "/traits/tone", None),
    "samples.list": ("GET", "/samples", None),
    "versions.list": ("GET", "/versions", None),
    "activations": ("GET", "/activations", None),
    "versions.get": ("GET", "/versions/v1", None),
    "delete": ("DELETE", "", None),
    "restore": ("POST", "/restore", None),
    "fork": ("POST", "/fork", {"handle": "stage.fork-of-{name}"}),
    "promote": ("POST", "/promote", {"from": "mine.ready", "force": True, "keep": True}),
}
EDITS = (
    *("traits.add", "traits.update", "traits.delete"),
    *("samples.add", "samples.update", "samples.delete", "samples.delete_many"),
)
SCORES = ("score", "score with feedback", "compare", "batch")
READS = ("get", "card", "export", "traits.list", "traits.get", "samples.list", "versions.list", "activations")
FEEDBACK_FIRST = ("retrain, with feedback", "withdraw", "withdraw many")

EDIT = """200 draft | 409 model_busy | 409 model_busy | 409 model_busy | 409 model_busy
        | 409 model_not_draft | 200 draft | 409 model_archived"""
HARDER = """202 busy | 409 model_busy | 409 model_busy | 409 model_busy | 409 model_busy
        | 409 model_not_draft | 202 busy | 409 model_archived"""
USE = """409 model_not_trained | 409 model_not_trained | {0} busy | 409 model_not_trained | 409 model_not_trained
        | {0} ready | 409 model_not_trained | 409 model_archived"""
READ = "200 draft | 200 busy | 200 busy | 200 busy | 200 busy | 200 ready | 200 failed | 200 archived"

# The columns: draft | training | retuning | discovering | synthesizing | ready | failed | archived
ROWS: dict[str, str] = {
    **dict.fromkeys(EDITS, EDIT),
    "discover": """202 busy | 409 model_busy | 409 model_busy | 409 duplicate_run | 409 model_busy
        | 409 model_not_draft | 202 busy | 409 model_archived""",
    "discover, harder": HARDER,
    "synthesize": """202 busy | 409 model_busy | 409 model_busy | 409 model_busy | 409 duplicate_run
        | 409 model_not_draft | 202 busy | 409 model_archived""",
    "synthesize, harder": HARDER,
    "synthesize, of another type": HARDER,
    "train": """202 busy | 202 busy | 409 model_busy | 409 model_busy | 409 model_busy
        | 200 ready | 202 busy | 409 model_archived""",
    "train, harder": """202 busy | 409 model_busy | 409 model_busy | 409 model_busy | 409 model_busy
        | 200 ready | 202 busy | 409 model_archived""",
    "retune": """202 busy | 409 model_busy | 202 busy | 409 model_busy | 409 model_busy
        | 202 busy | 202 busy | 409 model_archived""",
    "retrain": """409 model_not_trained | 409 model_busy | 409 model_busy | 409 model_busy | 409 model_busy
        | 200 ready | 409 model_not_trained | 409 model_archived""",
    "retrain, with feedback": """409 model_not_trained | 409 model_busy | 409 model_busy | 409 model_busy
        | 409 model_busy | 202 busy | - | 409 model_archived""",
    **dict.fromkeys(
        ("withdraw", "withdraw many"),
        """200 draft | 409 model_busy | 409 model_busy | 409 model_busy | 409 model_busy
        | 200 ready | - | 409 model_archived""",
    ),
    **dict.fromkeys((*SCORES, "untag", "activate"), USE.format(200)),
    "tag": USE.format(201),
    "update": """200 draft | 200 busy | 200 busy | 200 busy | 200 busy
        | 200 ready | 200 failed | 409 model_archived""",
    # What runs is cancelled: a first training has failed with it, the others leave what was there before.
    "turn zero retention on": """200 draft | 200 failed | 200 ready | 200 draft | 200 draft
        | 200 ready | 200 failed | 409 model_archived""",
    **dict.fromkeys(READS, READ),
    "versions.get": """404 version_not_found | 404 version_not_found | 200 busy | 404 version_not_found
        | 404 version_not_found | 200 ready | 404 version_not_found | 200 archived""",
    "delete": " | ".join(["200 archived"] * 8),
    # The stage archives a ready model.
    "restore": READ.replace("200 archived", "200 ready"),
    "fork": """201 draft | 409 model_busy | 409 model_busy | 409 model_busy | 409 model_busy
        | 201 ready | 201 failed | 409 model_archived""",
    "promote": """409 model_not_trained | 409 model_busy | 409 model_busy | 409 model_busy | 409 model_busy
        | 201 ready | 409 model_not_trained | 409 model_archived""",
}
CELLS = [
    pytest.param(name, state, *cell.split(), id=f"{name}-{state}")
    for name, row in ROWS.items()
    for state, cell in zip(STATES, row.split("|"), strict=True)
    if cell.strip() != "-"
]
CHANGE_NOTHING = {*READS, "retrain", "fork", "score", "compare", "batch", "versions.get"}


@pytest.mark.parametrize(("name", "state", "status", "outcome"), CELLS)
def test_the_table(world: World, stage: StateFixtures, name: str, state: str, status: str, outcome: str) -> None:
    changes = status < "400" and name not in CHANGE_NOTHING
    feedback = name in FEEDBACK_FIRST
    handle = stage.fresh(state, feedback=feedback) if changes or feedback else stage.shared(state)
    before = model_of(world, handle)
    assert before["state"] == STATES[state]
    answer = ask(world, handle, name)
    after = model_of(world, handle)
    assert answer.status == int(status)
    if status >= "400":
        assert answer.code == outcome
    else:
        assert after["state"] == outcome
    if not changes:
        assert after == before
    check_run(answer, after)


def model_of(world: World, handle: str) -> dict[str, Any]:
    result: dict[str, Any] = world.call("GET", f"/v1/models/{handle}").body
    return result


def ask(world: World, handle: str, name: str) -> Answer:
    method, path, body = REQUESTS[name]
    asked = f"{path} {body}"
    if "{sample}" in asked or "{pending}" in asked:
        params = {"pending": "true"} if "{pending}" in asked else {}
        (sample, *_) = world.call("GET", f"/v1/models/{handle}/samples", params=params).body["items"]
        path = path.format(sample=sample["id"], pending=sample["id"])
        body = {**body, "ids": [sample["id"]]} if body else body
    if name == "fork":
        body = {"handle": body["handle"].format(name=handle.rpartition(".")[2])}
    headers = {"Accept": "text/markdown"} if name == "card" else {}
    return world.call(method, f"/v1/models/{handle}{path}", json=body, headers=headers)


def check_run(answer: Answer, after: dict[str, Any]) -> None:
    """Whoever starts a run, meets one or is in its way is told which."""
    if answer.status == 202:
        assert answer.body == {"state": "busy", "run_id": after["last_operation"]["run_id"]}
        assert after["last_operation"]["status"] == "queued"
    if answer.status == 202 or answer.code in ("model_busy", "duplicate_run"):
        assert answer.headers["x-run-id"] == after["last_operation"]["run_id"]
    else:
        assert "x-run-id" not in answer.headers


@pytest.mark.parametrize(("state", "cell"), [*zip(STATES, USE.format(200).split("|"), strict=True)])
@pytest.mark.parametrize("side", ["a", "b"])
def test_versions_are_compared_where_both_models_score(
    world: World, stage: StateFixtures, side: str, state: str, cell: str
) -> None:
    handle = stage.shared(state)
    before = model_of(world, handle)
    body = {"a": "mine.ready", "b": "mine.ready", side: handle, "texts": [TEXT]}
    answer = world.call("POST", "/v1/versions/compare", json=body)
    status, outcome = cell.split()
    assert (answer.status, answer.code or before["state"]) == (int(status), outcome)
    assert answer.code == "" or answer.details["side"] == side
    assert model_of(world, handle) == before


@pytest.mark.parametrize(
    ("name", "state", "kind"),
    [
        ("train", "draft", "train"),
        ("discover", "draft", "discover"),
        ("synthesize", "draft", "synthesize"),
        ("retune", "draft", "train"),
        ("retune", "ready", "retune"),
    ],
)
def test_the_model_says_what_it_is_busy_with(
    world: World, stage: StateFixtures, name: str, state: str, kind: str
) -> None:
    handle = stage.fresh(state)
    ask(world, handle, name)
    assert model_of(world, handle)["last_operation"]["kind"] == kind


def test_enough_feedback_retrains_a_ready_model_without_being_asked(world: World, stage: StateFixtures) -> None:
    handle = stage.fresh("ready")
    for _ in range(RETRAIN_AFTER):
        assert model_of(world, handle)["state"] == "ready"
        ask(world, handle, "score with feedback")
    after = model_of(world, handle)
    assert (after["state"], after["last_operation"]["kind"]) == ("busy", "retrain")
    assert ask(world, handle, "score").status == 200


def test_a_retrain_in_flight_is_met_and_not_started_twice(world: World, stage: StateFixtures) -> None:
    handle = stage.fresh("ready", feedback=True)
    first, second = (ask(world, handle, "retrain") for _ in range(2))
    assert (first.status, second.status) == (202, 202)
    assert first.body == second.body == {"state": "busy", "run_id": second.headers["x-run-id"]}
    assert model_of(world, handle)["last_operation"]["kind"] == "retrain"
    assert ask(world, handle, "train").code == "model_busy"


def test_the_automatic_retrain_waits_while_the_model_is_busy(world: World, stage: StateFixtures) -> None:
    handle = stage.fresh("retuning")
    before = model_of(world, handle)
    for _ in range(RETRAIN_AFTER + 1):
        ask(world, handle, "score with feedback")
    assert model_of(world, handle) == before


def test_a_completed_discovery_is_not_done_twice(world: World) -> None:
    before = model_of(world, "mine.discovered")
    answer = ask(world, "mine.discovered", "discover")
    assert (answer.status, answer.code) == (409, "duplicate_run")
    assert answer.headers["x-run-id"] == answer.details["run_id"] == before["last_operation"]["run_id"]
    assert model_of(world, "mine.discovered") == before


def test_a_completed_synthesis_has_added_samples_and_another_may_follow(world: World) -> None:
    before = model_of(world, "mine.synthesized")["last_operation"]
    answer = ask(world, "mine.synthesized", "synthesize")
    assert answer.status == 202
    assert before["status"] == "succeeded"
    assert answer.body["run_id"] != before["run_id"]


OF_STATES: dict[Operation, tuple[str, str]] = {
    "edit": ("traits.add", "training"),
    "train": ("train", "training"),
    "retune": ("retune", "retuning"),
    "withdraw": ("withdraw", "training"),
    "retrain_now": ("retrain, with feedback", ""),
    "discover": ("discover", "discovering"),
    "synthesize": ("synthesize", "synthesizing"),
    "use": ("score", "retuning"),
    "update": ("update", "training"),
    "read": ("get", "training"),
    "fork": ("fork", "training"),
    "promote": ("promote", "retuning"),
    "delete": ("delete", "training"),
    "restore": ("restore", "training"),
}


@pytest.mark.parametrize("operation", OF_STATES)
def test_the_table_that_the_service_reads_has_the_same_cells(operation: Operation) -> None:
    """But for the automatic retrain, which nobody asks for, and a retrain that meets one in flight (above)."""
    assert set(TABLE) == {*OF_STATES, "retrain"}
    name, busy = OF_STATES[operation]
    row = dict(zip(STATES, ROWS[name].split("|"), strict=True))
    columns: dict[State, str] = {state: state for state in ("draft", "ready", "failed", "archived")}
    if busy:
        columns["busy"] = busy
    for state, column in columns.items():
        if row[column].strip() == "-":
            continue
        status, outcome = row[column].split()
        assert_same(TABLE[operation][state], int(status), outcome)


def assert_same(cell: Outcome | type[TraitbenchError], status: int, outcome: str) -> None:
    if isinstance(cell, Outcome):
        assert status < 400 or (cell is Outcome.MATCH and outcome == "duplicate_run")
    else:
        assert cell is error_for(outcome, status)
