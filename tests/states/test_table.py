"""The table of states, walked cell by cell through the socket: each operation on a model in each state.

A cell says the status and then the state that follows or, of an error, its code. An error changes nothing.

See core/docs/contract.md, section 5.
"""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from tests.contexts import ON_BOTH_IN_SOAK, ON_SQLITE, done_here
from tests.contract.world import Answer
from tests.size import sized
from tests.states.stage import BUSY, COLUMNS, LOW, RETRAIN_AFTER, Stage
from traitbench.contract.states import TABLE as IN_THE_PRODUCT
from traitbench.operations import retraining
from traitbench.operations.context import Context

TEXT = "What a lovely day"
ARCHIVED = "409 model_archived"
NOT_TRAINED = "409 model_not_trained"
NO_VERSION = "404 version_not_found"
RETUNE = {**LOW, "reoptimize_params": True}

Row = dict[str, str]
Request = tuple[str, str, Any]  # method, path under the model, body


def row(draft: str, busy: str, ready: str, failed: str, archived: str = ARCHIVED, **own: str) -> Row:
    """The cells of an operation; `own` are those of what a busy model is busy with, where they differ."""
    states = {"ready": ready, "failed": failed, "archived": archived}
    return {"draft": draft, **dict.fromkeys(BUSY, busy), **states, **own}


EDIT = row("200 draft", "409 model_busy", "409 model_not_draft", "200 draft")
WITHDRAW = row("200 draft", "409 model_busy", "200 ready", "200 draft")
TRAIN = row("202 busy", "409 model_busy", "200 ready", "202 busy", training="202 busy")
DERIVE = row("202 busy", "409 model_busy", "409 model_not_draft", "202 busy")
USE = row(NOT_TRAINED, NOT_TRAINED, "200 ready", NOT_TRAINED, retuning="200 busy", retraining="200 busy")
READ = row("200 draft", "200 busy", "200 ready", "200 failed", "200 archived")

# Each operation of the product's table by one request. `{pending}` and `{sample}` are ids of such samples.
TABLE: dict[str, tuple[Request, Row]] = {
    "edit": (("PATCH", "/traits/tone", {"description": "How warm."}), EDIT),
    "withdraw": (("DELETE", "/samples/{pending}", None), WITHDRAW),
    "train": (("POST", "/train", LOW), TRAIN),
    "retune": (
        ("POST", "/train", RETUNE),
        row("202 busy", "409 model_busy", "202 busy", "202 busy", retuning="202 busy"),
    ),
    "retrain_now": (
        ("POST", "/retrain", None),
        row(NOT_TRAINED, "409 model_busy", "202 busy", NOT_TRAINED, retraining="202 busy"),
    ),
    "discover": (("POST", "/traits/discover", LOW), DERIVE | {"discovering": "409 duplicate_run"}),
    "synthesize": (("POST", "/samples/synthesize", LOW), DERIVE | {"synthesizing": "409 duplicate_run"}),
    "use": (("POST", "/score", {"content": TEXT}), USE),
    "fork": (
        ("POST", "/fork", {"handle": "stage.fork-of-{name}"}),
        row("201 draft", "409 model_busy", "201 ready", "201 failed"),
    ),
    "promote": (
        ("POST", "/promote", {"from": "stage.ready", "force": True, "keep": True}),
        row(NOT_TRAINED, "409 model_busy", "201 ready", NOT_TRAINED),
    ),
    "update": (("PATCH", "", {"description": "Changed."}), row("200 draft", "200 busy", "200 ready", "200 failed")),
    "read": (("GET", "", None), READ),
    "delete": (("DELETE", "", None), row(*["200 archived"] * 5)),
    "restore": (("POST", "/restore", None), READ | {"archived": "200 ready"}),  # it was ready when it was archived
}
# Whether the automatic retrain, which nobody asks for, starts when enough feedback waits.
RETRAINS = row("no", "no", "yes", "no", "no")

# One condition in Python decides about all cells. What these write needs locks and conditions of SQL, of every kind.
ON_POSTGRESQL_TOO = (
    *(("edit", "draft"), ("train", "draft"), ("train", "training"), ("retune", "ready"), ("retrain_now", "ready")),
    *(("discover", "discovering"), ("use", "retraining"), ("promote", "ready"), ("delete", "training")),
    ("restore", "archived"),
)

# What else may be asked for, with the cells of its operation.
MORE: dict[str, tuple[Request, Row]] = {
    "add traits": (("POST", "/traits", {"traits": [{"name": "Tempo"}]}), EDIT),
    "delete a trait": (("DELETE", "/traits/tone", None), EDIT),
    "add samples": (("POST", "/samples", {"samples": [{"trait": "tone", "text": TEXT, "quality": 1}]}), EDIT),
    "hold samples out": (("PATCH", "/samples", {"ids": ["{sample}"], "held_out": True}), EDIT),
    "delete a sample": (("DELETE", "/samples/{sample}", None), EDIT),
    "delete samples": (("POST", "/samples/delete", {"ids": ["{sample}"]}), EDIT),
    "withdraw many": (("POST", "/samples/delete", {"ids": ["{pending}"]}), WITHDRAW),
    "train, harder": (("POST", "/train", {"effort": "max"}), TRAIN | {"training": "409 model_busy"}),
    "retrain without feedback": (
        ("POST", "/retrain", None),
        row(NOT_TRAINED, "409 model_busy", "200 ready", NOT_TRAINED, retraining="202 busy"),
    ),
    "discover, harder": (("POST", "/traits/discover", {"effort": "xhigh"}), DERIVE),
    "synthesize, harder": (("POST", "/samples/synthesize", {"effort": "xhigh"}), DERIVE),
    "synthesize variations": (("POST", "/samples/synthesize", {**LOW, "synth_type": "diversify"}), DERIVE),
    "give feedback": (("POST", "/score", {"content": TEXT, "feedback": {"tone": "good"}}), USE),
    "compare": (("POST", "/compare", {"a": TEXT, "b": "Go away"}), USE),
    "score a batch": (("POST", "/score/batch", {"contents": [TEXT, "Go away"]}), USE),
    "tag": (("POST", "/versions/good", None), {name: cell.replace("200", "201") for name, cell in USE.items()}),
    "untag": (("DELETE", "/versions/best", None), USE),
    "activate": (("PUT", "/versions/active", {"version": "v1"}), USE),
    # The run is cancelled. A first training has then failed, the others leave what was there before.
    "turn zero retention on": (
        ("PATCH", "", {"zero_data_retention": True}),
        row("200 draft", "200 draft", "200 ready", "200 failed")
        | {"training": "200 failed", "retuning": "200 ready", "retraining": "200 ready"},
    ),
    "export": (("GET", "/export", None), READ),
    "list traits": (("GET", "/traits", None), READ),
    "read a trait": (("GET", "/traits/tone", None), READ),
    "list samples": (("GET", "/samples", None), READ),
    "list versions": (("GET", "/versions", None), READ),
    "list activations": (("GET", "/activations", None), READ),
    "read a version": (
        ("GET", "/versions/v1", None),
        row(NO_VERSION, NO_VERSION, "200 ready", NO_VERSION, "200 archived")
        | {"retuning": "200 busy", "retraining": "200 busy"},
    ),
}
# Cells that answer 200 because there is nothing to do.
IDLE = {("delete", "archived"), *(("restore", column) for column in COLUMNS if column != "archived")}
CHANGES_NOTHING = {
    *("read", "use", "compare", "score a batch", "fork", "retrain without feedback", "export", "read a version"),
    *("list traits", "read a trait", "list samples", "list versions", "list activations"),
}


def each_cell(rows: dict[str, tuple[Request, Row]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        ("name", "column"),
        [pytest.param(name, column, id=f"{name}-{column}") for name in rows for column in COLUMNS],
    )


@ON_BOTH_IN_SOAK
@each_cell(TABLE)
def test_each_operation_answers_as_its_cell_says(stage: Stage, name: str, column: str) -> None:
    check(stage, name, *TABLE[name], column)


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
@pytest.mark.parametrize(("name", "column"), ON_POSTGRESQL_TOO)
def test_cells_that_lock_and_write_answer_the_same_on_postgresql(stage: Stage, name: str, column: str) -> None:
    check(stage, name, *TABLE[name], column)


@ON_SQLITE
@each_cell(MORE)
def test_each_request_answers_as_the_cell_of_its_operation_says(stage: Stage, name: str, column: str) -> None:
    check(stage, name, *MORE[name], column)


@ON_SQLITE
@pytest.mark.parametrize("column", COLUMNS)
def test_the_model_card_is_read_in_every_state(stage: Stage, column: str) -> None:
    handle = stage.shared(column)
    answer = stage.world.call("GET", f"/v1/models/{handle}", headers={"Accept": "text/markdown"})
    assert (answer.status, handle in answer.text) == (200, True)


@ON_SQLITE
def test_the_table_has_every_operation_of_the_product() -> None:
    assert {*TABLE, "retrain"} == set(IN_THE_PRODUCT)


def check(stage: Stage, name: str, request: Request, cells: Row, column: str) -> None:
    status, outcome = cells[column].split()
    changes = status < "400" and name not in CHANGES_NOTHING and (name, column) not in IDLE
    pending = "{pending}" in str(request) or name == "retrain_now"
    handle = stage.fresh(column, feedback=pending) if changes or pending else stage.shared(column)
    before = stage.model(handle)
    assert before["state"] == COLUMNS[column]
    answer = ask(stage, handle, request)
    after = stage.model(handle)
    assert (answer.status, answer.code or after["state"]) == (int(status), outcome)
    assert changes or after == before
    check_run(answer, after)


def ask(stage: Stage, handle: str, request: Request) -> Answer:
    method, path, body = request
    if "{pending}" in str(request) or "{sample}" in str(request):
        params = {"pending": "true"} if "{pending}" in str(request) else {}
        (sample, *_) = stage.world.call("GET", f"/v1/models/{handle}/samples", params=params).body["items"]
        path = path.format(sample=sample["id"], pending=sample["id"])
        body = body and {**body, "ids": [sample["id"]]}
    if path == "/fork":
        body = {"handle": body["handle"].format(name=handle.rpartition(".")[2])}
    return stage.world.call(method, f"/v1/models/{handle}{path}", json=body)


def check_run(answer: Answer, after: dict[str, Any]) -> None:
    """A caller who starts a run, meets one or is in its way learns which."""
    if answer.status == 202:
        assert answer.body == {"state": "busy", "run_id": after["last_operation"]["run_id"]}
        assert after["last_operation"]["status"] == "queued"
    if answer.status == 202 or answer.code in ("model_busy", "duplicate_run"):
        assert answer.headers["x-run-id"] == after["last_operation"]["run_id"]
    else:
        assert "x-run-id" not in answer.headers


@ON_BOTH_IN_SOAK
@pytest.mark.parametrize("column", COLUMNS)
def test_enough_feedback_retrains_a_model_that_is_ready_and_no_other(
    stage: Stage, context: Context, column: str
) -> None:
    handle = stage.fresh(column, feedback=True)
    before = stage.model(handle)["last_operation"]
    retraining.sweep(context.engine, context.runs, context.settings)
    after = stage.model(handle)
    assert ("yes" if after["last_operation"] != before else "no") == RETRAINS[column]
    if RETRAINS[column] == "yes":
        assert (after["state"], after["last_operation"]["kind"]) == ("busy", "retrain")


@pytest.mark.parametrize(("column", "starts"), [("ready", True), ("retuning", False)])
def test_the_feedback_that_is_enough_starts_the_retrain_unless_the_model_is_busy(
    stage: Stage, column: str, starts: bool
) -> None:
    handle = stage.fresh(column)
    before = stage.model(handle)
    for pending in range(RETRAIN_AFTER):
        now = stage.model(handle)
        assert now["retrain"]["pending"] == pending
        assert {**now, "retrain": None} == {**before, "retrain": None}
        assert ask(stage, handle, MORE["give feedback"][0]).status == 200
    assert (stage.model(handle)["last_operation"] or {}).get("kind") == ("retrain" if starts else "retune")


@ON_SQLITE
@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("side", ["a", "b"])
def test_versions_are_compared_where_both_models_score(stage: Stage, side: str, column: str) -> None:
    handle = stage.shared(column)
    before = stage.model(handle)
    body = {"a": "stage.ready", "b": "stage.ready", side: handle, "texts": [TEXT]}
    answer = stage.world.call("POST", "/v1/versions/compare", json=body)
    status, outcome = USE[column].split()
    assert (answer.status, answer.code or before["state"]) == (int(status), outcome)
    assert answer.code == "" or answer.details["side"] == side
    assert stage.model(handle) == before


@ON_SQLITE
def test_a_retune_of_a_draft_is_its_first_training(stage: Stage) -> None:
    handle = stage.fresh("draft")
    ask(stage, handle, TABLE["retune"][0])
    assert stage.model(handle)["last_operation"]["kind"] == "train"


# ---- ends of runs, and any order -------------------------------------------------------------------------------------

# How a run leaves its model when it succeeds and when it fails.
LEAVES = {
    "training": ("ready", "failed"),
    "retuning": ("ready", "ready"),
    "retraining": ("ready", "ready"),
    "discovering": ("draft", "draft"),
    "synthesizing": ("draft", "draft"),
}


@pytest.mark.parametrize("fails", [False, True], ids=["succeeds", "fails"])
@pytest.mark.parametrize("column", LEAVES)
def test_how_a_run_leaves_its_model(stage: Stage, context: Context, column: str, fails: bool) -> None:
    end(stage, context, stage.fresh(column), column, fails=fails)


def end(stage: Stage, context: Context, handle: str, column: str, *, fails: bool) -> None:
    run_id = stage.model(handle)["last_operation"]["run_id"]
    stage.world.fail(handle) if fails else done_here(context, run_id)
    after = stage.model(handle)
    assert (after["state"], after["last_operation"]["run_id"]) == (LEAVES[column][fails], run_id)
    assert after["last_operation"]["status"] == ("failed" if fails else "succeeded")


COLUMN_OF_KIND = {kind: column for column, (kind, _, _) in BUSY.items()}
STEPS = st.sampled_from(
    [*sorted(TABLE.keys() - {"withdraw", "retrain_now", "fork"}), *["the run ends", "it fails"] * 3]
)


@ON_BOTH_IN_SOAK
@examples(max_examples=sized(4, 200))
@given(steps=st.lists(STEPS, min_size=10, max_size=20))
def test_whatever_was_done_before_the_cell_decides(stage: Stage, context: Context, steps: list[str]) -> None:
    handle, archived_as = stage.fresh("draft"), ""
    for step in steps:
        before = stage.model(handle)
        busy = before["state"] == "busy"
        column = COLUMN_OF_KIND[before["last_operation"]["kind"]] if busy else before["state"]
        if step == "retune" and column in ("draft", "failed"):
            continue  # a first training by another name
        if step in TABLE:
            status, outcome = TABLE[step][1][column].split()
            answer = ask(stage, handle, TABLE[step][0])
            after = stage.model(handle)
            expected = archived_as if (step, column) == ("restore", "archived") else outcome
            assert (answer.status, answer.code or after["state"]) == (int(status), expected), (step, column)
            check_run(answer, after)
            if step == "delete" and column != "archived":
                archived_as = LEAVES[column][1] if busy else column
        elif busy:
            # A discovery is only let fail: one that has succeeded is not repeated, whatever the table says.
            end(stage, context, handle, column, fails=step == "it fails" or column == "discovering")
