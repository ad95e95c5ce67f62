"""Which runs are the same (core/docs/contract.md, section 5): a table of what their keys consist of."""

from collections.abc import Callable

import pytest

from tests.contexts import AUTHOR, draft
from traitbench.contract.models import OperationKind
from traitbench.contract.samples import SampleInput, SamplesCreate
from traitbench.contract.traits import TraitUpdate
from traitbench.operations import samples, traits
from traitbench.operations.context import Context
from traitbench.operations.model_runs import run_key
from traitbench.store import models as stored
from traitbench.store.database import reading


def _add_sample(context: Context, handle: str) -> None:
    sent = SamplesCreate(samples=[SampleInput(trait="warmth", text="hello", quality=1.0)])
    samples.add(context, AUTHOR, handle, sent)


def _swap_sample(context: Context, handle: str) -> None:
    _add_sample(context, handle)
    samples.delete(context, AUTHOR, handle, samples.list_samples(context, AUTHOR, handle).items[0].id)


def _rename(context: Context, handle: str) -> None:
    traits.update(context, AUTHOR, handle, "warmth", TraitUpdate(positive_label="kind"))


def _redescribe(context: Context, handle: str) -> None:
    traits.update(context, AUTHOR, handle, "warmth", TraitUpdate(description="how kind it is"))


EDITS: dict[str, Callable[[Context, str], None]] = {
    "a sample more": _add_sample,
    "another sample": _swap_sample,
    "another label": _rename,
    "another description": _redescribe,
}


@pytest.mark.parametrize(
    ("kind", "others"),
    [
        ("train", set()),
        ("retrain", set()),
        ("discover", {"a sample more", "another sample"}),
        ("synthesize", {"a sample more", "another sample", "another label", "another description"}),
    ],
)
def test_an_edit_makes_another_run_when_the_contract_says_so(
    context: Context, kind: OperationKind, others: set[str]
) -> None:
    result = set()
    for name, edit in EDITS.items():
        handle = draft(context, warm=1, cold=1)
        before = _key(context, handle, kind)
        assert _key(context, handle, kind) == before
        edit(context, handle)
        if _key(context, handle, kind) != before:
            result.add(name)
    assert result == others


def test_effort_and_what_else_was_asked_make_another_run(context: Context) -> None:
    handle = draft(context, warm=1, cold=1)
    keys = [
        _key(context, handle, "synthesize"),
        _key(context, handle, "synthesize", effort="max"),
        _key(context, handle, "synthesize", synth_type="diversify"),
        _key(context, handle, "train"),
        _key(context, handle, "train", reoptimize=True),
        _key(context, handle, "train", reoptimize=False),
    ]
    assert len(set(keys)) == len(keys)


def test_the_key_of_a_training_is_the_one_that_the_migration_gives_to_older_runs(context: Context) -> None:
    assert _key(context, draft(context), "train", reoptimize=False) == "train effort=low reoptimize=false"


def _key(context: Context, handle: str, kind: OperationKind, *, effort: str = "low", **options: object) -> str:
    with reading(context.engine) as connection:
        model = stored.find(connection, handle)
        assert model is not None
        return run_key(connection, model.id, kind, effort=effort, options=options)
