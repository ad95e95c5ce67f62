"""What tests do with a model, each in one call: by default as an author who owns it, with runs executed here."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from sqlalchemy import func, select

from tests.contexts import AUTHOR, COLD, WARM, done_here, new_handle
from traitbench.contract.explanations import Explanation
from traitbench.contract.models import (
    ForkRequest,
    LastOperation,
    Model,
    ModelCreate,
    ModelUpdate,
    PromoteRequest,
    TrainRequest,
)
from traitbench.contract.samples import Sample, SampleInput, SampleQuery, SamplesCreate
from traitbench.contract.scores import Card, ScoreRequest
from traitbench.contract.traits import TraitInput, TraitsCreate
from traitbench.contract.versions import Version, VersionActivate
from traitbench.operations import (
    model_runs,
    models,
    promotion,
    retraining,
    rules,
    samples,
    scores,
    training,
    traits,
    versions,
)
from traitbench.operations.access import Caller
from traitbench.operations.context import Context
from traitbench.sample_data import demo_models
from traitbench.store import models as stored
from traitbench.store import runs, tables
from traitbench.store.database import reading, writing
from traitbench.store.models import ModelRow

QUICK, REFIT = TrainRequest(effort="low"), TrainRequest(effort="low", reoptimize_params=True)
TEN = 10
"""So many pieces of feedback start a retrain."""

LETTERS = (
    ("Thank you so much. I will not forget it. It is lovely to hear from you.", 1.0),
    ("We are happy to help. Maybe we can begin at 9 tomorrow. Do not worry.", 0.9),
    ("The office is shut. It does not open until 8. Do not call again.", 0.0),
    ("Your request was not approved. You have 3 days to reply. There is no appeal.", 0.1),
    ("The meeting is at 10.", 0.5),
)
HEADLINES = next(model for model in demo_models() if model.handle == "demo.headlines")


# ---- models and samples ----------------------------------------------------------------------------------------------


def new_model(context: Context, *content: TraitInput, caller: Caller = AUTHOR, **fields: Any) -> str:
    """The handle of a new model with these traits."""
    handle = fields.pop("handle", None) or new_handle()
    models.create(context, caller, ModelCreate(handle=handle, **fields))
    if content:
        traits.add(context, caller, handle, TraitsCreate(traits=list(content)))
    return handle


def update(context: Context, handle: str, **fields: Any) -> Model:
    return models.update(context, AUTHOR, handle, ModelUpdate.model_validate(fields))


def get(context: Context, handle: str) -> Model:
    return models.get(context, AUTHOR, handle)


def add_samples(
    context: Context, handle: str, pairs: Iterable[tuple[str, float]], *, trait: str = "warmth", **marks: Any
) -> list[int]:
    """Add texts with their qualities; return the ids."""
    sent = [SampleInput(trait=trait, text=text, quality=quality, **marks) for text, quality in pairs]
    return samples.add(context, AUTHOR, handle, SamplesCreate(samples=sent)).ids


def samples_of(context: Context, handle: str, *, limit: int = 500, **asked: Any) -> list[Sample]:
    """The samples of all pages."""
    query = SampleQuery(**asked)
    page = samples.list_samples(context, AUTHOR, handle, query, limit=limit)
    items = list(page.items)
    while page.next_cursor:
        page = samples.list_samples(context, AUTHOR, handle, query, limit=limit, cursor=page.next_cursor)
        items += page.items
    return items


def headlines(context: Context) -> str:
    """A draft with the traits `clickbait` and `mood`, and texts on many subjects."""
    handle = new_model(context, TraitInput(name="Clickbait"), TraitInput(name="Mood"))
    every = [sample for sample in HEADLINES.samples if sample["trait"] in ("clickbait", "mood")]
    chosen = [SampleInput.model_validate(sample) for sample in every[:: max(1, len(every) // 120)][:120]]
    samples.add(context, AUTHOR, handle, SamplesCreate(samples=chosen))
    return handle


def warmth(context: Context, *pairs: tuple[str, float], **fields: Any) -> str:
    """A draft with a trait whose labels say what it measures, and these samples."""
    trait = TraitInput(name="Warmth", positive_label="warm, kind", negative_label="cold, harsh")
    handle = new_model(context, trait, **fields)
    if pairs:
        add_samples(context, handle, pairs)
    return handle


def row(context: Context, handle: str) -> ModelRow:
    """The model as it is stored."""
    with reading(context.engine) as connection:
        model = stored.find(connection, handle)
    assert model is not None
    return model


def vectors_of(context: Context, handle: str) -> int:
    """How many samples of a model have a vector."""
    joined = tables.vectors.join(tables.samples, tables.samples.c.id == tables.vectors.c.sample_id)
    counted = select(func.count()).select_from(joined).where(tables.samples.c.model_id == row(context, handle).id)
    with reading(context.engine) as connection:
        return connection.execute(counted).scalar_one()


# ---- scores ----------------------------------------------------------------------------------------------------------


def score(
    context: Context, handle: str, content: str = "Thank you, dear friend.", *, caller: Caller = AUTHOR, **fields: Any
) -> Card:
    return scores.score(context, caller, handle, ScoreRequest(content=content, **fields), request_id="req_1")


def explained(context: Context, handle: str, content: str, *, caller: Caller = AUTHOR) -> dict[str, Explanation]:
    """The reasons of a score, by trait."""
    result = score(context, handle, content, caller=caller, explain=True).explanation
    assert result is not None
    return result


def give_feedback(context: Context, handle: str, text: str = "See you soon.", **verdicts: float) -> int:
    """Give feedback on a text, on `warmth` unless verdicts are given; return the id of the sample."""
    (sample_id,) = score(context, handle, text, feedback=verdicts or {"warmth": 1.0}).metadata.sample_ids
    return sample_id


def say(context: Context, handle: str, *, times: int = 1, first: int = 0) -> list[int]:
    """Give feedback on different texts, for each pole in turn."""
    return [give_feedback(context, handle, f"said number {i}", warmth=i % 2) for i in range(first, first + times)]


def waiting(context: Context, handle: str) -> int:
    """How many pieces of feedback no version has learned."""
    return len(samples_of(context, handle, pending=True))


# ---- runs and versions -----------------------------------------------------------------------------------------------


def last_operation(context: Context, handle: str) -> LastOperation:
    operation = get(context, handle).last_operation
    assert operation is not None
    return operation


def finish(context: Context, handle: str) -> LastOperation:
    """Execute the run that a model waits for."""
    done_here(context, row(context, handle).run_id)
    return last_operation(context, handle)


def fail(context: Context, handle: str) -> str:
    """Make the model's run fail; return its id."""
    with writing(context.engine) as connection:
        run = runs.read(connection, str(row(context, handle).run_id))
        assert run is not None
        assert model_runs.fail(connection, run, code="internal_error", message="It failed.")
        assert not model_runs.fail(connection, run, code="internal_error", message="It has failed already.")
    return run.id


def train(context: Context, handle: str, body: TrainRequest = QUICK) -> Version:
    """Train or refit a model; return the version that is active then."""
    done_here(context, training.start(context, AUTHOR, handle, body)[0].run_id)
    assert get(context, handle).state == "ready", last_operation(context, handle).error
    return active(context, handle)


def refit(context: Context, handle: str) -> Version:
    return train(context, handle, REFIT)


def active(context: Context, handle: str, version: str = "active") -> Version:
    return versions.get(context, AUTHOR, handle, version)


def activate(context: Context, handle: str, version: str) -> None:
    versions.activate(context, AUTHOR, handle, VersionActivate(version=version))


def toned_model(context: Context) -> str:
    """A trained model of two traits, `warmth` and `coldness`, with the tag `first`."""
    both = (
        TraitInput(name="Warmth", positive_label="warm", negative_label="cold"),
        TraitInput(name="Cool", key="coldness", description="Little feeling | few words"),
    )
    handle = new_model(context, *both, description="How a message sounds.")
    texts = [(f"{text} {n}", quality) for quality, of in ((1.0, WARM), (0.0, COLD)) for text in of for n in range(3)]
    add_samples(context, handle, texts)
    add_samples(context, handle, [(text, 1 - quality) for text, quality in texts], trait="coldness")
    train(context, handle)
    versions.tag(context, AUTHOR, handle, "first")
    return handle


# ---- forks -----------------------------------------------------------------------------------------------------------


def fork(context: Context, handle: str, to: str | None = None) -> Model:
    return promotion.fork(context, AUTHOR, handle, ForkRequest(handle=to or new_handle()))


def promote(context: Context, handle: str, origin: str, **options: bool) -> Version:
    return promotion.promote(context, AUTHOR, handle, PromoteRequest.model_validate({"from": origin, **options}))


def add_test_samples(context: Context, handle: str) -> None:
    add_samples(context, handle, [("a warm test", 1.0)], held_out=True, must_pass=True)
    add_samples(context, handle, [("a cold test", 0.0)], held_out=True)


def improved(context: Context, handle: str) -> str:
    """A trained fork with samples of its own."""
    copy = fork(context, handle).handle
    add_samples(context, copy, [(f"so glad {number}", 1.0) for number in range(3)])
    samples.delete(context, AUTHOR, copy, samples_of(context, copy)[0].id)
    add_test_samples(context, copy)
    train(context, copy)
    return copy


# ---- retrains --------------------------------------------------------------------------------------------------------


def sweep(context: Context) -> None:
    """Start the retrains that are due, as the worker does every few seconds."""
    retraining.sweep(context.engine, context.runs, context.settings)


def retrains(context: Context, handle: str) -> list[str]:
    """The ids of the retrains of a model, whatever became of them."""
    of_model = select(tables.runs.c.id).where(tables.runs.c.model_id == row(context, handle).id)
    with reading(context.engine) as connection:
        return list(connection.execute(of_model.where(tables.runs.c.kind == "retrain")).scalars())


def let_wait(context: Context, handle: str, seconds: float) -> None:
    """Make pending feedback this old."""
    columns, then = tables.samples.c, rules.now() - timedelta(seconds=seconds)
    with writing(context.engine) as connection:
        mine = (columns.model_id == row(context, handle).id, columns.pending)
        connection.execute(tables.samples.update().where(*mine).values(created_at=then))
