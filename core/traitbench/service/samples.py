"""`/v1/models/{handle}/samples`: add, list, update, delete, plan a synthesis, synthesize."""

from typing import Annotated

from fastapi import APIRouter, Depends, Response

from traitbench.contract.models import ModelDeleted, RunStarted
from traitbench.contract.page import SamplePage
from traitbench.contract.samples import (
    RejectedTexts,
    SampleIds,
    SampleQuery,
    SamplesCreate,
    SamplesDelete,
    SamplesUpdate,
    SynthesisPlan,
    SynthesizeRequest,
)
from traitbench.operations import samples, synthesis
from traitbench.service import parameters
from traitbench.service.body import Body
from traitbench.service.caller import Called
from traitbench.service.parameters import Handle, SampleId, accepted

router = APIRouter(tags=["samples"])

Add = Annotated[SamplesCreate, Depends(Body(SamplesCreate, problems_of_parts=samples.problems_of_parts))]
Update = Annotated[SamplesUpdate, Depends(Body(SamplesUpdate))]
Delete = Annotated[SamplesDelete, Depends(Body(SamplesDelete))]
Synthesize = Annotated[SynthesizeRequest, Depends(Body(SynthesizeRequest, needed=False))]


@router.post("/v1/models/{handle}/samples", name="samples.add")
def add(call: Called, handle: Handle, body: Add) -> SampleIds:
    """Add labelled texts to a draft, all of them or none. Their ids ascend in the order sent."""
    return samples.add(call.context, call.caller, handle, body)


@router.get("/v1/models/{handle}/samples", name="samples.list")
def list_samples(
    call: Called,
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
) -> SamplePage:
    """List samples, sorted by id."""
    query = SampleQuery(trait, held_out, pending, provenance, pole, text, newest_first, offset, count)
    return samples.list_samples(call.context, call.caller, handle, query, limit=limit, cursor=cursor)


@router.patch("/v1/models/{handle}/samples", name="samples.update")
def update(call: Called, handle: Handle, body: Update) -> SampleIds:
    """Hold samples of a draft out as test samples, or mark those that must pass: all of them or none."""
    return samples.update(call.context, call.caller, handle, body)


@router.delete("/v1/models/{handle}/samples/{sample_id}", name="samples.delete")
def delete(call: Called, handle: Handle, sample_id: SampleId) -> ModelDeleted:
    """Remove one sample of a draft, or withdraw feedback that a ready model has not learned yet."""
    return samples.delete(call.context, call.caller, handle, sample_id)


@router.post("/v1/models/{handle}/samples/delete", name="samples.delete_many")
def delete_many(call: Called, handle: Handle, body: Delete) -> SampleIds:
    """Remove samples of a draft, or withdraw feedback that a ready model has not learned yet: all of it or none."""
    return samples.delete_many(call.context, call.caller, handle, body)


@router.get("/v1/models/{handle}/samples/synthesize", name="samples.plan")
def plan(
    call: Called,
    handle: Handle,
    synth_type: parameters.OfSynthType = "from_traits",
    effort: parameters.OfEffort = None,
    language_model: parameters.WithLanguageModel = None,
) -> SynthesisPlan:
    """Show what a synthesis would make, what it would cost, and what it would send to a language model."""
    return synthesis.plan(
        call.context, call.caller, handle, synth_type=synth_type, effort=effort, language_model=language_model
    )


@router.get("/v1/models/{handle}/samples/rejected", name="samples.rejected")
def rejected(call: Called, handle: Handle) -> RejectedTexts:
    """List texts that the last synthesis rejected, until the model's next run."""
    return synthesis.rejected(call.context, call.caller, handle)


@router.post("/v1/models/{handle}/samples/synthesize", name="samples.synthesize", status_code=202)
def synthesize(call: Called, handle: Handle, body: Synthesize, response: Response) -> RunStarted:
    """Start to make samples for a draft's traits. They exist when the model is a draft again."""
    return accepted(synthesis.start(call.context, call.caller, handle, body), response)
