"""`/v1/models/{handle}/samples`: add, list, change, undo, delete, plan a synthesis, synthesize."""

from functools import partial

from fastapi import Response

from traitbench.contract import operations
from traitbench.contract.models import ModelDeleted, RunStarted
from traitbench.contract.page import SampleChangePage, SamplePage
from traitbench.contract.sample_changes import SampleChange, SampleFields, SamplesApply
from traitbench.contract.samples import (
    RejectedTexts,
    Sample,
    SampleIds,
    SampleQuery,
    SamplesCreate,
    SamplesDelete,
    SamplesUpdate,
    SynthesisPlan,
    SynthesizeRequest,
)
from traitbench.operations import sample_changes, samples, synthesis
from traitbench.service import parameters
from traitbench.service.body import Body
from traitbench.service.caller import Call
from traitbench.service.parameters import Handle, SampleId, accepted
from traitbench.service.routing import Router

router = Router(tags=["samples"])


@router.serve(operations.SAMPLES_ADD, body=partial(Body, problems_of_parts=samples.problems_of_parts))
def add(call: Call, handle: Handle, body: SamplesCreate) -> SampleIds:
    """Add labelled texts to a draft, all of them or none. Their ids ascend in the order sent."""
    return samples.add(call.context, call.caller, handle, body)


@router.serve(operations.SAMPLES_LIST)
def list_samples(
    call: Call,
    handle: Handle,
    trait: parameters.OfTrait = None,
    held_out: parameters.HeldOut = None,
    limit: parameters.SampleLimit = 100,
    cursor: parameters.Cursor = None,
    pending: parameters.Pending = None,
    provenance: parameters.OfProvenance = None,
    pole: parameters.OfPole = None,
    text: parameters.WithWords = None,
    newest_first: parameters.NewestFirst = False,
    offset: parameters.Offset = 0,
    count: parameters.WithCount = False,
    ids: parameters.OfIds = None,
    grouped: parameters.Grouped = None,
) -> SamplePage:
    """List samples, sorted by id."""
    chosen = parameters.ids_of(ids)
    query = SampleQuery(trait, held_out, pending, provenance, pole, text, newest_first, offset, count, chosen, grouped)
    return samples.list_samples(call.context, call.caller, handle, query, limit=limit, cursor=cursor)


@router.serve(operations.SAMPLES_UPDATE)
def update(call: Call, handle: Handle, body: SamplesUpdate) -> SampleIds:
    """Hold samples of a draft out as test samples, or mark those that must pass: all of them or none."""
    return samples.update(call.context, call.caller, handle, body)


@router.serve(operations.SAMPLES_CHANGE)
def change(call: Call, handle: Handle, sample_id: SampleId, body: SampleFields) -> Sample:
    """Change one sample of a draft, or feedback that a ready model has not learned yet. Id and origin stay."""
    return sample_changes.change(call.context, call.caller, handle, sample_id, body)


@router.serve(
    operations.SAMPLES_APPLY,
    body=partial(Body, problems_of_parts=partial(samples.problems_of_parts, name="adds")),
)
def apply(call: Call, handle: Handle, body: SamplesApply) -> SampleChange:
    """Add, change and delete up to 500 samples of a draft: all of it or none. It can be undone for 24 hours."""
    return sample_changes.apply(call.context, call.caller, handle, body)


@router.serve(operations.SAMPLES_CHANGES)
def changes(
    call: Call,
    handle: Handle,
    sample_id: parameters.OfSample = None,
    sample_ids: parameters.OfSamples = None,
    limit: parameters.ChangeLimit = 20,
    cursor: parameters.Cursor = None,
) -> SampleChangePage:
    """List who changed which samples when, newest first."""
    ids = parameters.ids_of(sample_ids)
    if sample_id is not None:
        ids = (*(ids or ()), sample_id)
    return sample_changes.history(call.context, call.caller, handle, sample_ids=ids, limit=limit, cursor=cursor)


@router.serve(operations.SAMPLES_UNDO)
def undo(call: Call, handle: Handle, change_id: parameters.ChangeId) -> SampleChange:
    """Undo a change of samples as a whole. It returns the change that did it, which can be undone too."""
    return sample_changes.undo(call.context, call.caller, handle, change_id)


@router.serve(operations.SAMPLES_DELETE)
def delete(call: Call, handle: Handle, sample_id: SampleId) -> ModelDeleted:
    """Remove one sample of a draft, or withdraw feedback that a ready model has not learned yet."""
    return samples.delete(call.context, call.caller, handle, sample_id)


@router.serve(operations.SAMPLES_DELETE_MANY)
def delete_many(call: Call, handle: Handle, body: SamplesDelete) -> SampleIds:
    """Remove samples of a draft, or withdraw feedback that a ready model has not learned yet: all of it or none."""
    return samples.delete_many(call.context, call.caller, handle, body)


@router.serve(operations.SAMPLES_PLAN)
def plan(
    call: Call,
    handle: Handle,
    synth_type: parameters.OfSynthType = "from_traits",
    effort: parameters.OfEffort = None,
    language_model: parameters.WithLanguageModel = None,
) -> SynthesisPlan:
    """Show what a synthesis would make, what it would cost, and what it would send to a language model."""
    return synthesis.plan(
        call.context, call.caller, handle, synth_type=synth_type, effort=effort, language_model=language_model
    )


@router.serve(operations.SAMPLES_REJECTED)
def rejected(call: Call, handle: Handle) -> RejectedTexts:
    """List texts that the last synthesis rejected, until the model's next run."""
    return synthesis.rejected(call.context, call.caller, handle)


@router.serve(operations.SAMPLES_SYNTHESIZE)
def synthesize(call: Call, handle: Handle, body: SynthesizeRequest, response: Response) -> RunStarted:
    """Start to make samples for a draft's traits. They exist when the model is a draft again."""
    return accepted(synthesis.start(call.context, call.caller, handle, body), response)
