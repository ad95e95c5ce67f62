"""What the tests of promotions do with a model and its fork."""

from typing import Any

from sqlalchemy import select

from tests.contexts import AUTHOR, done_here
from tests.operations.test_forking import add_test_samples, fork, samples_of, trained
from traitbench.contract.models import PromoteRequest, TrainRequest
from traitbench.contract.samples import SampleInput, SamplesCreate
from traitbench.contract.versions import Version
from traitbench.errors import PromotionConflict
from traitbench.operations import promotion, samples, training, versions
from traitbench.operations.context import Context
from traitbench.store import tables
from traitbench.store.database import reading

REFIT = TrainRequest(effort="low", reoptimize_params=True)


def promote(context: Context, handle: str, origin: str, **options: bool) -> Version:
    return promotion.promote(context, AUTHOR, handle, PromoteRequest.model_validate({"from": origin, **options}))


def refit(context: Context, handle: str) -> Version:
    done_here(context, training.start(context, AUTHOR, handle, REFIT)[0].run_id)
    return versions.get(context, AUTHOR, handle, "active")


def improved(context: Context, handle: str) -> str:
    """A trained fork with samples of its own."""
    copy = fork(context, handle).handle
    sent = [SampleInput(trait="warmth", text=f"so glad {number}", quality=1.0) for number in range(3)]
    samples.add(context, AUTHOR, copy, SamplesCreate(samples=sent))
    samples.delete(context, AUTHOR, copy, samples_of(context, copy)[0].id)
    add_test_samples(context, copy)
    trained(context, copy)
    return copy


def activations(context: Context, handle: str) -> list[tuple[Any, ...]]:
    columns = tables.activations.c
    shown = select(columns.version_no, columns.previous_version_no, columns.cause, columns.by)
    joined = shown.join(tables.models, tables.models.c.id == columns.model_id)
    with reading(context.engine) as connection:
        rows = connection.execute(joined.where(tables.models.c.handle == handle).order_by(columns.id))
        return [tuple(row) for row in rows]


def reasons(error: PromotionConflict) -> list[str]:
    return [each["reason"] for each in error.details["reasons"]]


def after(call: Any, then: Any) -> Any:
    def both_of(*arguments: Any) -> Any:
        result = call(*arguments)
        then()
        return result

    return both_of
