"""Which runs are the same (core/docs/contract.md, section 5): a table of what their keys consist of."""

from collections.abc import Callable

import pytest

from tests.benches import AUTHOR, draft
from traitbench.contract.models import OperationKind
from traitbench.contract.samples import SampleInput, SamplesCreate
from traitbench.contract.traits import TraitUpdate
from traitbench.lifecycle import samples, traits
from traitbench.lifecycle.bench import Bench
from traitbench.lifecycle.run_keys import run_key
from traitbench.store import models as stored
from traitbench.store.engine import reading


def _add_sample(bench: Bench, handle: str) -> None:
    sent = SamplesCreate(samples=[SampleInput(trait="warmth", text="hello", quality=1.0)])
    samples.add(bench, AUTHOR, handle, sent)


def _swap_sample(bench: Bench, handle: str) -> None:
    _add_sample(bench, handle)
    samples.delete(bench, AUTHOR, handle, samples.list_samples(bench, AUTHOR, handle).items[0].id)


def _rename(bench: Bench, handle: str) -> None:
    traits.update(bench, AUTHOR, handle, "warmth", TraitUpdate(positive_label="kind"))


def _redescribe(bench: Bench, handle: str) -> None:
    traits.update(bench, AUTHOR, handle, "warmth", TraitUpdate(description="how kind it is"))


EDITS: dict[str, Callable[[Bench, str], None]] = {
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
    bench: Bench, kind: OperationKind, others: set[str]
) -> None:
    found = set()
    for name, edit in EDITS.items():
        handle = draft(bench, warm=1, cold=1)
        before = _key(bench, handle, kind)
        assert _key(bench, handle, kind) == before
        edit(bench, handle)
        if _key(bench, handle, kind) != before:
            found.add(name)
    assert found == others


def test_effort_and_what_else_was_asked_make_another_run(bench: Bench) -> None:
    handle = draft(bench, warm=1, cold=1)
    keys = [
        _key(bench, handle, "synthesize"),
        _key(bench, handle, "synthesize", effort="max"),
        _key(bench, handle, "synthesize", synth_type="diversify"),
        _key(bench, handle, "train"),
        _key(bench, handle, "train", reoptimize=True),
        _key(bench, handle, "train", reoptimize=False),
    ]
    assert len(set(keys)) == len(keys)


def test_the_key_of_a_training_is_the_one_that_the_migration_gives_to_older_runs(bench: Bench) -> None:
    assert _key(bench, draft(bench), "train", reoptimize=False) == "train effort=low reoptimize=false"


def _key(bench: Bench, handle: str, kind: OperationKind, *, effort: str = "low", **options: object) -> str:
    with reading(bench.engine) as connection:
        model = stored.find(connection, handle)
        assert model is not None
        return run_key(connection, model.id, kind, effort=effort, options=options)
