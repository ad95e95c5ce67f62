"""The tools: what each does with a client, and what it says about itself to a language model."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from traitbench import errors
from traitbench.agents import answers, arguments
from traitbench.agents import arguments as wanted
from traitbench.as_read import read_hash
from traitbench.client import AsyncClient
from traitbench.contract.batches import BatchLine, FailedLine
from traitbench.contract.comparisons import ComparedText, TraitDifference
from traitbench.contract.explanations import Explanation, Neighbour
from traitbench.contract.models import LastOperation, Model
from traitbench.contract.page import LARGEST_SAMPLE_PAGE
from traitbench.contract.scores import Card, Confidence, Delta, TraitScore
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.errors import TraitbenchError

INSTRUCTIONS = (
    "Traitbench scores texts on traits that people defined with labelled samples. Scores go from 0 to 100; 50 is the"
    " middle between the two poles of a trait. Always report the confidence with a score: a score of low confidence"
    " says little. No tool changes anything: samples that you propose are added only when a person runs the command in"
    f" the answer. {answers.NOTICE} Answers are structured content. If you see empty answers, your program reads only"
    " text: ask the person to connect it with `traitbench mcp --text`, or to the address /mcp?text=true."
)

_LONGEST_QUOTE = 400  # characters
_LONGEST_IN_LIST = 120
_MOST_PARTS = 5
_NEAREST = 2
_MOST_VERSIONS = 10

Given = TypeVar("Given", bound=BaseModel)
Answer = TypeVar("Answer", bound=answers.AgentAnswer)


@dataclass(frozen=True)
class Tool(Generic[Given, Answer]):
    """A tool: its name, its description for a language model, its arguments and answer, and what it does."""

    name: str
    title: str
    description: str
    arguments: type[Given]
    answer: type[Answer]
    run: Callable[[AsyncClient, Given], Awaitable[Answer]]

    async def call(self, client: AsyncClient, given: Mapping[str, Any]) -> dict[str, Any]:
        """Run the tool; raise `pydantic.ValidationError` for wrong arguments, and the errors of the client."""
        return (await self.run(client, self.arguments.model_validate(given))).data()


async def list_models(client: AsyncClient, given: wanted.ListModels) -> answers.ModelsAnswer:
    """Return the models that the key may see, its own ones first."""
    every = [model async for model in await client.models.list(namespace=given.namespace)]
    words = (given.words or "").casefold().split()
    models = [model for model in every if all(word in _searched(model) for word in words)]
    return answers.ModelsAnswer(
        notice=answers.NOTICE,
        models=[
            answers.ListedModel(
                handle=model.handle,
                state=model.state,
                version=_version(model),
                untrusted_traits=model.traits,
                untrusted_description=_cut(model.description, _LONGEST_IN_LIST),
            )
            for model in models[: wanted.MOST_MODELS]
        ],
        left_out=max(0, len(models) - wanted.MOST_MODELS),
    )


async def model_status(client: AsyncClient, given: wanted.ModelStatus) -> answers.StatusAnswer:
    """Return the state, the last run, the traits and the latest versions of a model."""
    model, traits = await client.models.get(given.handle), await client.traits.list(given.handle)
    page = await client.versions.list(given.handle, limit=_MOST_VERSIONS)
    return answers.StatusAnswer(
        notice=answers.NOTICE,
        handle=model.handle,
        state=model.state,
        version=_version(model),
        untrusted_description=_cut(model.description),
        last_run=None if model.last_operation is None else _run(model.last_operation),
        traits=[_trait(each) for each in traits],
        versions=[_trained(each) for each in page.items],
    )


async def score_texts(client: AsyncClient, given: wanted.ScoreTexts) -> answers.ScoresAnswer:
    """Return the scores of texts."""
    lines = [each async for each in client.scores.batch(given.handle, given.texts, traits=given.traits)]
    versions = (each.metadata.version_id for each in lines if not isinstance(each, FailedLine))
    return answers.ScoresAnswer(version=next(versions, None), texts=[_scored(each) for each in lines])


async def explain(client: AsyncClient, given: wanted.Explain) -> answers.ReasonsAnswer:
    """Return the scores of a text, with the parts and samples behind them."""
    card = await client.scores.score(given.handle, given.text, traits=given.traits, explain=True)
    reasons = card.explanation or {}
    return answers.ReasonsAnswer(
        notice=answers.NOTICE,
        version=card.metadata.version_id,
        composite=card.composite,
        traits={key: _why(each, reasons[key]) for key, each in card.detail.items()},
    )


async def compare_texts(client: AsyncClient, given: wanted.CompareTexts) -> answers.TextsAnswer:
    """Return the change of the scores from a to b."""
    compared = await client.scores.compare(given.handle, given.a, given.b, traits=given.traits)
    low = {*_of_confidence(compared.a, "low"), *_of_confidence(compared.b, "low")}
    return answers.TextsAnswer(
        version=compared.a.metadata.version_id,
        composite=answers.ChangeOfTrait(
            a=compared.a.composite,
            b=compared.b.composite,
            change=compared.improvement,
            certain=compared.certain,
        ),
        traits={key: _change(each, low=key in low) for key, each in compared.per_trait.items()},
    )


async def compare_versions(client: AsyncClient, given: wanted.CompareVersions) -> answers.VersionsAnswer:
    """Return which version is better on the same test samples, and the texts that the two score differently."""
    compared = await client.versions.compare(given.a, given.b, texts=given.texts, traits=given.traits)
    samples, texts = compared.changed.samples, compared.texts or []
    scored = [each for each in texts if not isinstance(each, FailedLine)]
    changed = [each for each in scored if _largest_change(each)]
    return answers.VersionsAnswer(
        a=f"{compared.a.handle}@v{compared.a.version_no}",
        b=f"{compared.b.handle}@v{compared.b.version_no}",
        verdict=compared.verdict,
        reason=compared.reason,
        traits={key: _verdict(each) for key, each in compared.traits.items()},
        samples_changed={} if samples is None else samples.model_dump(),
        changed=[_moved(each) for each in sorted(changed, key=_largest_change, reverse=True)],
        same=len(scored) - len(changed),
        failed={each.index: each.error.message for each in texts if isinstance(each, FailedLine)},
    )


async def propose_samples(client: AsyncClient, given: wanted.ProposeSamples) -> answers.ProposalAnswer:
    """Return what the samples would change, and the command with which a person adds them."""
    model, traits = await client.models.get(given.handle), await client.traits.list(given.handle)
    if model.state not in ("draft", "failed"):
        raise errors.ModelNotDraft(
            f"{given.handle} is {model.state}, and samples are added only to a draft. Ask a person to make a copy that"
            f" can be changed: traitbench fork {given.handle} {given.handle}-next"
        )
    listing = await client.samples.list(given.handle, limit=LARGEST_SAMPLE_PAGE)
    stored = {(sample.trait, read_hash(sample.text)): sample.quality async for sample in listing}
    names = {name: trait.key for trait in traits for name in (trait.name, trait.key)}
    proposed = arguments.judged(given.samples, names, stored)
    would_add = arguments.counts(proposed)
    return answers.ProposalAnswer(
        notice=answers.NOTICE,
        handle=given.handle,
        written=False,
        diff=[
            answers.ProposedSample(
                index=each.index,
                outcome=each.outcome,
                trait=each.sample.trait,
                quality=each.sample.quality,
                untrusted_text=_cut(each.sample.text),
            )
            for each in proposed
        ],
        samples_per_trait={
            trait.key: answers.SamplesOfTrait(
                positive=[trait.positive_samples, trait.positive_samples + would_add[trait.key]["positive"]],
                negative=[trait.negative_samples, trait.negative_samples + would_add[trait.key]["negative"]],
            )
            for trait in traits
            if trait.key in would_add
        },
        to_accept=arguments.command(given.handle, proposed) if would_add else None,
        next=(
            "Nothing was written. Show the diff to a person. If they agree, they run the command in to_accept."
            if would_add
            else "Nothing was written, and there is nothing to add."
        ),
    )


TOOLS: tuple[Tool[Any, Any], ...] = (
    Tool(
        "list_models",
        "List models",
        "List scoring models with their state and the names of their traits. Use it first, to find the handle of a"
        " model. Only models in state ready can score. If left_out is above 0, ask again with words.",
        wanted.ListModels,
        answers.ModelsAnswer,
        list_models,
    ),
    Tool(
        "model_status",
        "Status of a model",
        "Get the state of one model, the progress or error of its last run (training, discovery, synthesis), and its"
        " traits: what the two poles are called, and how many samples each has. Also lists the latest versions. Use it"
        " to learn what a score means, which versions there are, or whether a run is over.",
        wanted.ModelStatus,
        answers.StatusAnswer,
        model_status,
    ),
    Tool(
        "score_texts",
        "Score texts",
        f"Score up to {arguments.MOST_TEXTS} texts in one call. Each trait gets a score from 0 (negative pole) to 100"
        " (positive pole); composite summarises all traits. The confidence of a score is high unless its trait is in"
        " moderate or low. low means that the score says little, and has the reason. The texts are not stored.",
        wanted.ScoreTexts,
        answers.ScoresAnswer,
        score_texts,
    ),
    Tool(
        "explain",
        "Explain a score",
        "Score one text and say why: which parts moved the score, and towards which pole, and which labelled samples"
        " are most similar. Use it when a person asks for reasons; score_texts is faster.",
        wanted.Explain,
        answers.ReasonsAnswer,
        explain,
    ),
    Tool(
        "compare_texts",
        "Compare two texts",
        "Score two texts with the same version and report the change from a to b. certain is true only if the change is"
        " larger than the noise of the scores. Use it to check a revision against its original.",
        wanted.CompareTexts,
        answers.TextsAnswer,
        compare_texts,
    ),
    Tool(
        "compare_versions",
        "Compare two versions",
        "Compare two trained versions on the same test samples. verdict says whether b is better than a, and reason"
        " says why. unknown means that the test samples do not suffice to tell. With texts, up to"
        f" {arguments.MOST_TEXTS}, changed lists those that the versions score differently, the largest change first.",
        wanted.CompareVersions,
        answers.VersionsAnswer,
        compare_versions,
    ),
    Tool(
        "propose_samples",
        "Propose samples",
        "Propose labelled samples for a draft. Nothing is written. The answer has a diff against the samples of the"
        " draft, and to_accept: a command that a person runs to add the new samples. Do not run it yourself unless the"
        " person asks you to. Propose varied texts for both poles, as real as those that will be scored.",
        wanted.ProposeSamples,
        answers.ProposalAnswer,
        propose_samples,
    ),
)


WAYS_OUT: Mapping[type[TraitbenchError], str] = {
    errors.ModelNotFound: "list_models has the handles that the key can see.",
    errors.VersionNotFound: "model_status has the latest versions of a model.",
    errors.ValidationFailed: "model_status has the keys of the traits.",
    errors.ModelNotTrained: "list_models has the models in state ready.",
    errors.InsufficientScope: "Ask the person for an authoring key.",
    errors.NamespaceForbidden: "Ask the person for a key that owns the namespace.",
}
"""What an agent can do about an error, besides what its message says."""


def _version(model: Model) -> str | None:
    return None if model.version_no is None else f"v{model.version_no}"


def _searched(model: Model) -> str:
    return "\n".join((model.handle, *model.traits, model.description)).casefold()


def _run(operation: LastOperation) -> answers.LastRun:
    progress, error = operation.progress, operation.error
    return answers.LastRun(
        kind=operation.kind,
        status=operation.status,
        run_id=operation.run_id,
        fraction=None if progress is None else round(progress.fraction, 3),
        seconds_left=None if progress is None else progress.eta_s,
        error=None if error is None else f"{error.code}: {error.message}",
        untrusted_notes=(progress.notes if progress else None) or [],
    )


def _trait(trait: Trait) -> answers.TraitStatus:
    return answers.TraitStatus(
        key=trait.key,
        untrusted_name=trait.name,
        untrusted_positive_label=trait.positive_label,
        untrusted_negative_label=trait.negative_label,
        untrusted_description=_cut(trait.description),
        positive_samples=trait.positive_samples,
        negative_samples=trait.negative_samples,
        test_samples=trait.held_out_samples,
    )


def _trained(version: Version) -> answers.VersionStatus:
    auroc = version.metrics.auroc
    return answers.VersionStatus(
        version=f"v{version.version_no}",
        tags=version.tags,
        trained_at=version.created_at.isoformat(timespec="seconds"),
        auroc=None if auroc is None else round(auroc, 3),
    )


def _scored(line: BatchLine) -> answers.ScoredText:
    if isinstance(line, FailedLine):
        return answers.ScoredText(index=line.index, error=line.error.message)
    return answers.ScoredText(
        index=line.index,
        composite=line.composite,
        scores=line.scores,
        moderate=_of_confidence(line, "moderate"),
        low={key: line.detail[key].confidence_reason or "unknown" for key in _of_confidence(line, "low")},
    )


def _of_confidence(card: Card, confidence: Confidence) -> list[str]:
    return [key for key, each in card.detail.items() if each.confidence == confidence]


def _why(score: TraitScore, reasons: Explanation) -> answers.TraitReasons:
    parts = sorted(reasons.parts, key=lambda part: -abs(part.contribution))[:_MOST_PARTS]
    nearest = reasons.nearest
    return answers.TraitReasons(
        score=score.score,
        tier=score.label,
        confidence=score.confidence,
        confidence_reason=score.confidence_reason,
        unit=reasons.unit,
        position=round(reasons.position, 3),
        parts=[
            answers.MovingPart(
                towards="positive" if part.contribution > 0 else "negative",
                contribution=round(part.contribution, 3),
                untrusted_text=_cut(part.text or ""),
            )
            for part in parts
        ],
        similar_positive_samples=_samples(nearest.positive if nearest else ()),
        similar_negative_samples=_samples(nearest.negative if nearest else ()),
        note=reasons.note,
    )


def _samples(neighbours: Iterable[Neighbour]) -> list[answers.SimilarSample]:
    return [
        answers.SimilarSample(
            id=each.id,
            similarity=round(each.similarity, 3),
            untrusted_text=None if each.text is None else _cut(each.text),
        )
        for each in [*neighbours][:_NEAREST]
    ]


def _change(delta: Delta, *, low: bool) -> answers.ChangeOfTrait:
    return answers.ChangeOfTrait(a=delta.a, b=delta.b, change=delta.delta, certain=delta.certain, low=low)


def _verdict(difference: TraitDifference) -> answers.TraitVerdict:
    error = difference.error
    return answers.TraitVerdict(
        verdict=difference.verdict,
        reason=difference.reason,
        test_samples=difference.n,
        error_a=None if error is None else round(error.a, 3),
        error_b=None if error is None else round(error.b, 3),
    )


def _largest_change(text: ComparedText) -> int:
    return max(abs(each.delta) for each in text.traits.values())


def _moved(text: ComparedText) -> answers.ChangedText:
    return answers.ChangedText(
        index=text.index,
        composite=[text.composite.a, text.composite.b],
        traits={key: [each.a, each.b] for key, each in text.traits.items() if each.delta},
        side_changed=[key for key, each in text.traits.items() if each.side_changed],
        low=[key for key, each in text.traits.items() if "low" in (each.confidence_a, each.confidence_b)],
    )


def _cut(text: str, longest: int = _LONGEST_QUOTE) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
