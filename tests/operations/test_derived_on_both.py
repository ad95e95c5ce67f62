"""What a discovery and a synthesis store, on SQLite and on PostgreSQL; what they make is tested elsewhere."""

import pytest
from sqlalchemy import select

from tests.contexts import AUTHOR, done_here, draft, new_handle
from traitbench.contract.models import ModelCreate
from traitbench.contract.samples import SampleInput, SamplesCreate, SynthesizeRequest
from traitbench.contract.traits import DiscoverRequest, Trait, TraitUpdate
from traitbench.errors import DuplicateRun
from traitbench.operations import discovery, models, samples, synthesis, traits
from traitbench.operations.context import Context
from traitbench.sample_data import demo_models
from traitbench.store.database import reading
from traitbench.store.tables import run_texts

HEADLINES = next(model for model in demo_models() if model.handle == "demo.headlines")
UNLABELLED = DiscoverRequest(effort="low", texts=[sample["text"] for sample in HEADLINES.samples][::2][:120])
LETTERS = {
    "Thank you so much. I will not forget it. It is lovely to hear from you.": 1.0,
    "The office is shut. It does not open until 8. Do not call again.": 0.0,
}


def _discover(context: Context, handle: str) -> list[Trait]:
    done_here(context, discovery.start(context, AUTHOR, handle, UNLABELLED).run_id)
    assert models.get(context, AUTHOR, handle).state == "draft"
    return [trait for trait in traits.list_traits(context, AUTHOR, handle).traits if trait.kind == "intrinsic"]


def test_suggestions_are_kept_dismissed_recalled_and_replaced_and_the_texts_are_gone(context: Context) -> None:
    handle = new_handle()
    models.create(context, AUTHOR, ModelCreate(handle=handle))
    kept, dismissed, *others = _discover(context, handle)
    assert others
    with reading(context.engine) as connection:
        assert connection.execute(select(run_texts)).all() == []
    with pytest.raises(DuplicateRun):
        discovery.start(context, AUTHOR, handle, UNLABELLED)
    traits.delete(context, AUTHOR, handle, dismissed.key)
    [back] = traits.update(context, AUTHOR, handle, dismissed.key, TraitUpdate(suggestion=True)).traits
    assert back == dismissed
    traits.delete(context, AUTHOR, handle, dismissed.key)
    traits.update(context, AUTHOR, handle, kept.key, TraitUpdate(suggestion=False, flip=True))
    later = _discover(context, handle)
    assert (later[0].key, later[0].positive_label) == (kept.key, kept.negative_label)
    assert all(trait.discovered is not None for trait in later)


def test_rejected_texts_are_read_in_order_and_go_with_their_seed(context: Context) -> None:
    handle = draft(context)
    letters = [SampleInput(trait="warmth", text=text, quality=quality) for text, quality in LETTERS.items()]
    seeds = samples.add(context, AUTHOR, handle, SamplesCreate(samples=letters)).ids
    vary = SynthesizeRequest(effort="low", synth_type="diversify")
    done_here(context, synthesis.start(context, AUTHOR, handle, vary).run_id)
    listed = synthesis.rejected(context, AUTHOR, handle).items
    assert {each.seed_sample_id for each in listed} == {*seeds}
    samples.delete(context, AUTHOR, handle, seeds[0])
    left = synthesis.rejected(context, AUTHOR, handle).items
    assert left == [each for each in listed if each.seed_sample_id == seeds[1]]
    made = [each.id for each in samples.list_samples(context, AUTHOR, handle, limit=500).items if each.generator]
    for each in made:
        samples.delete(context, AUTHOR, handle, each)
    synthesis.start(context, AUTHOR, handle, vary)
    assert synthesis.rejected(context, AUTHOR, handle).items == []
