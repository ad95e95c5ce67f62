"""Synthesis: `start` queues a run, `run` makes texts and adds those that pass the quality filter, all or none.

It needs a draft with an extrinsic trait and, to make variations, samples. The outcome of the run counts what was
rejected by reason. Some of the rejected texts are kept for those who may read the samples, until the next run of the
model; none under zero retention.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from sqlalchemy import Connection, Engine

from traitbench.analysis.languages import count_languages, language
from traitbench.contract import operations
from traitbench.contract.models import DEFAULT_EFFORT, RunStarted, SynthesisOutcome
from traitbench.contract.samples import (
    LONGEST_TEXT,
    MOST_REJECTED,
    OFFLINE,
    TEXTS_PER_POLE,
    RejectedTexts,
    SynthesisPlan,
    SynthesizeRequest,
    text_hash,
)
from traitbench.display.languages import ENGLISH, listed, main_languages, name_of
from traitbench.encoders import Encoder
from traitbench.errors import InsufficientSamples, TraitbenchError, UnsupportedSynthType, ValidationFailed
from traitbench.local.training import label_axes
from traitbench.operations import access, model_runs, rules
from traitbench.operations.access import Caller
from traitbench.operations.context import Context
from traitbench.operations.rules import language_model, permitted, sends_nothing
from traitbench.runs.execution import Execution, Fenced
from traitbench.scoring.inputs import Vocabulary
from traitbench.settings import Settings
from traitbench.store import models, rejected_texts, sample_changes, samples, traits
from traitbench.store.database import reading, writing
from traitbench.store.models import ModelRow
from traitbench.store.sample_changes import Author, Writes
from traitbench.synthesis import (
    SYNTH_TYPES,
    CannotSynthesize,
    Exemplar,
    Reject,
    Seed,
    Synthesis,
    TraitPoles,
)
from traitbench.synthesis.offline import swapped
from traitbench.synthesis.offline import synthesize as generate
from traitbench.synthesis.written import SECONDS_A_REQUEST, LanguageModelResult, budget, requests_for
from traitbench.synthesis.written import generate as generate_by_model

_SEEDS_PER_POLE = 1_000
_COMPARED = 2_000
_OFFLINE_SECONDS = 3
_ENGLISH = name_of(ENGLISH)


class NothingSynthesized(TraitbenchError, code="nothing_synthesized"):
    """No new text could be made."""


def start(context: Context, caller: Caller, handle: str, body: SynthesizeRequest) -> RunStarted:
    """Queue a synthesis of samples."""
    most = context.settings.max_samples
    with access.to_change(context, caller, operations.SAMPLES_SYNTHESIZE, handle) as (connection, model):
        _check_type(body.synth_type)
        return model_runs.begin(
            connection,
            context.runs,
            model,
            "synthesize",
            effort=body.effort,
            options={
                "synth_type": body.synth_type,
                **language_model(context.settings, model, wanted=body.language_model),
            },
            bounds={"max_samples": most},
            requested_by=caller.label,
            check=lambda: _check_samples(connection, model, body.synth_type, most),
        )


def plan(
    context: Context,
    caller: Caller,
    handle: str,
    *,
    synth_type: str = "from_traits",
    effort: str | None = None,
    language_model: bool | None = None,
) -> SynthesisPlan:
    """What a synthesis would do, and what it would send where."""
    effort = effort or DEFAULT_EFFORT
    with access.to_read(context, caller, operations.SAMPLES_PLAN, handle) as (connection, model):
        _check_type(synth_type)
        task = _task(connection, model.id, synth_type)
    asked, refusal = permitted(context.settings, sends_nothing=sends_nothing(model), wanted=language_model)
    requests = [request for trait in task.poles for request in requests_for(trait, task.own(trait), synth_type, effort)]
    requests = requests if asked else []
    return SynthesisPlan(
        generator=asked.model if asked else OFFLINE,
        host=asked.host if asked else None,
        texts_per_pole=TEXTS_PER_POLE[effort],
        requests=len(requests),
        tokens=sum(request.tokens for request in requests),
        most_tokens=budget(requests),
        seconds=len(requests) * SECONDS_A_REQUEST + len(task.traits) * _OFFLINE_SECONDS,
        sent=[requests[0].instructions, requests[0].question] if requests else [],
        reason=refusal,
        offline_warning=_offline_warning(task.poles, synth_type),
    )


def _offline_warning(poles: Sequence[TraitPoles], synth_type: str) -> str | None:
    """What texts made offline lack, as a sentence; None if all samples and labels are in English or not clear."""
    others = [each for each in dict.fromkeys(name for trait in poles for name in trait.languages) if each != _ENGLISH]
    if not others:
        return None
    if synth_type == "diversify":
        return (
            f"Your samples are in {listed(others)}. Offline, words are varied in English only: other texts are made of"
            " your own sentences in a new order."
        )
    return (
        f"Your samples or labels are in {listed(others)}. Offline, texts are written in English only, around your"
        " labels. Write your own, or set a language model (TRAITBENCH_LLM_URL)."
    )


def rejected(context: Context, caller: Caller, handle: str) -> RejectedTexts:
    """Texts that the last synthesis rejected, if nothing ran since."""
    with access.to_read(context, caller, operations.SAMPLES_REJECTED, handle) as (connection, model):
        return RejectedTexts(items=rejected_texts.read(connection, model.id))


def run(
    engine: Engine,
    encoder: Encoder,
    vocabulary: Callable[[], Vocabulary],
    settings: Settings,
    execution: Execution,
) -> None:
    """Generate texts for the model's traits and add them as samples, in the worker."""
    with reading(engine) as connection:
        task = _task(connection, execution.run.model_id, execution.run.options["synth_type"])
    execution.report("preparing", 0, 1, fraction=0.0)
    made = _generate(encoder, vocabulary, settings, execution, task)
    with writing(engine) as connection:
        _finish(connection, execution, task, made)


def _check_type(synth_type: str) -> None:
    if synth_type not in SYNTH_TYPES:
        raise UnsupportedSynthType(
            f"synth_type must be {' or '.join(SYNTH_TYPES)}.",
            details={"field": "synth_type", "choices": list(SYNTH_TYPES)},
        )


def _check_samples(connection: Connection, model: ModelRow, synth_type: str, most: int) -> None:
    labels, count = samples.labels(connection, model.id), samples.count(connection, model.id)
    if count >= most:
        message = f"the model has {count} samples already; at most {most} are allowed"
        raise rules.invalid([rules.problem(["samples"], "too_many", message)], thing="The samples")
    keys = {row.id: row.key for row in traits.rows(connection, model.id) if row.kind == "extrinsic"}
    seeds = Counter(keys.get(label.trait_id) for label in labels if _is_seed(label))
    counts = {key: seeds[key] for key in keys.values()}
    if not counts or (synth_type == "diversify" and not any(counts.values())):
        raise InsufficientSamples(
            f"{model.handle} has no extrinsic trait to write texts for. Add a trait."
            if not counts
            else f"{model.handle} has no samples to vary. Add samples, or use the type from_traits.",
            details={"traits": counts},
        )


def _is_seed(label: samples.Label) -> bool:
    """Whether a sample may be varied: it was not synthesized, and its quality is not 0.5."""
    return label.provenance != "synthesized" and label.quality != 0.5


@dataclass(frozen=True)
class _SynthesisTask:
    """The input of a synthesis. It cannot change meanwhile, because a busy model cannot be edited.

    `known` are texts of the samples that are no seeds, by the key of the trait: new texts must differ from them.
    """

    model_id: int
    sends_nothing: bool
    traits: Sequence[traits.TraitRow]
    descriptions: dict[str, str]
    languages: dict[str, tuple[str, ...]]
    seed_ids: Sequence[int]
    seeds: Sequence[Seed]
    known: Mapping[str, Sequence[str]]
    existing: frozenset[tuple[int, str]]

    @property
    def poles(self) -> list[TraitPoles]:
        """The traits by their words."""
        return [_poles(trait, self.descriptions[trait.key], self.languages[trait.key]) for trait in self.traits]

    def own(self, trait: TraitPoles) -> dict[int, Seed]:
        """The seeds of a trait, by their index."""
        return {index: seed for index, seed in enumerate(self.seeds) if seed.trait_key == trait.key}

    @property
    def names(self) -> dict[str, str]:
        """Names by trait key."""
        return {trait.key: trait.name for trait in self.traits}

    @property
    def trait_ids(self) -> dict[str, int]:
        """Ids by trait key."""
        return {trait.key: trait.id for trait in self.traits}


def _task(connection: Connection, model_id: int, synth_type: str) -> _SynthesisTask:
    model = models.find_by_id(connection, model_id)
    if model is None:
        raise Fenced(model_id)
    defined = {row.id: row for row in traits.rows(connection, model.id) if row.kind == "extrinsic"}
    every = [label for label in samples.all_labels(connection, model.id) if label.trait_id in defined]
    labels = [label for label in every if not label.held_out]
    chosen = _chosen(labels, synth_type)
    compared = _compared(every, {label.id for label in chosen})
    texts = samples.texts(connection, [label.id for label in [*chosen, *compared]])
    described = {trait.key: trait.description for trait in traits.read(connection, model.id)}
    written = [label for label in (*chosen, *compared) if label.provenance != "synthesized"]
    return _SynthesisTask(
        model_id=model.id,
        sends_nothing=sends_nothing(model),
        traits=list(defined.values()),
        descriptions=described,
        languages={
            trait.key: _languages(
                trait, described[trait.key], [texts[label.id] for label in written if label.trait_id == trait.id]
            )
            for trait in defined.values()
        },
        seed_ids=[label.id for label in chosen],
        seeds=[Seed(defined[label.trait_id].key, texts[label.id], label.quality) for label in chosen],
        known={
            trait.key: [texts[label.id] for label in compared if label.trait_id == trait.id]
            for trait in defined.values()
        },
        existing=frozenset((label.trait_id, label.content_sha256) for label in every),
    )


def _languages(trait: traits.TraitRow, description: str, texts: Sequence[str]) -> tuple[str, ...]:
    """The names of the main languages of a trait's texts or, without any in a clear one, of its words."""
    known, _ = count_languages(texts)
    codes = main_languages(known)
    if not codes:
        words = language(f"{trait.name}. {trait.positive_label}. {trait.negative_label}. {description}")
        codes = [words] if words else []
    return tuple(map(name_of, codes))


def _chosen(labels: Sequence[samples.Label], synth_type: str) -> list[samples.Label]:
    """The seeds to vary or, for other types, the synthesized samples that must not be generated again.

    Of too many seeds at one pole, those with the lowest hashes are taken.
    """
    if synth_type != "diversify":
        return [label for label in labels if label.provenance == "synthesized"]
    poles: dict[tuple[int, bool], list[samples.Label]] = {}
    for label in sorted(filter(_is_seed, labels), key=lambda label: label.content_sha256):
        poles.setdefault((label.trait_id, label.quality > 0.5), []).append(label)
    return sorted((label for own in poles.values() for label in own[:_SEEDS_PER_POLE]), key=lambda label: label.id)


def _compared(labels: Sequence[samples.Label], seeds: Collection[int]) -> list[samples.Label]:
    """The samples that are no seeds, test samples included; of too many, those with the lowest hashes."""
    others = [label for label in labels if label.id not in seeds]
    return sorted(others, key=lambda label: label.content_sha256)[:_COMPARED]


@dataclass(frozen=True)
class _Made:
    """What all generators made; `failure` says why the language model did not make all of it, empty if it did."""

    synthesis: Synthesis
    tokens: int = 0
    failure: str = ""


def _generate(
    encoder: Encoder,
    vocabulary: Callable[[], Vocabulary],
    settings: Settings,
    execution: Execution,
    task: _SynthesisTask,
) -> _Made:
    by_model = _ask(encoder, settings, execution, task)
    left = task.poles if by_model is None else [trait for trait in task.poles if trait.key in by_model.left]
    if by_model is None:
        return _Made(_offline(encoder, vocabulary(), execution, task, left))
    exemplars, notes, rejects = [*by_model.exemplars], list[str](), [*by_model.rejects]
    if left:
        # Where the language model made something, the offline texts must not be needed.
        try:
            offline = _offline(encoder, vocabulary(), execution, task, left)
        except NothingSynthesized as error:
            if not exemplars:
                said = [by_model.failure, *swapped(rejects, exemplars, task.names), str(error)]
                raise NothingSynthesized(" ".join(said)) from None
        else:
            exemplars, notes = [*exemplars, *offline.exemplars], [*offline.notes]
            rejects += offline.rejects
    synthesis = Synthesis(tuple(exemplars), tuple(notes), tuple(rejects), by_model.invalid)
    return _Made(synthesis, by_model.tokens, by_model.failure)


def _ask(
    encoder: Encoder, settings: Settings, execution: Execution, task: _SynthesisTask
) -> LanguageModelResult | None:
    """What the language model makes, None if it is not to be asked."""
    name = execution.run.options.get("language_model")
    if name is None:
        return None
    asked, _ = permitted(settings, sends_nothing=task.sends_nothing, wanted=True)
    if asked is None or asked.model != name:
        failure = f"The language model {name} is no longer set, or not allowed. The texts were made offline."
        return LanguageModelResult([], failure, [], 0, frozenset(trait.key for trait in task.traits))

    def report(done: int, total: int) -> None:
        execution.report("asking the language model", done, total, fraction=0.95 * done / max(1, total))

    return generate_by_model(
        asked,
        task.poles,
        synth_type=execution.run.options["synth_type"],
        effort=execution.run.effort,
        seeds=task.seeds,
        known=task.known,
        encode=encoder.encode,
        axis=label_axes(encoder, settings.cache).of,
        on_progress=report,
    )


def _offline(
    encoder: Encoder, vocabulary: Vocabulary, execution: Execution, task: _SynthesisTask, poles: Sequence[TraitPoles]
) -> Synthesis:
    def report(done: int, total: int) -> None:
        execution.report("writing", done, total, fraction=0.99 * done / max(1, total))

    try:
        return generate(
            poles,
            synth_type=execution.run.options["synth_type"],
            effort=execution.run.effort,
            encode=encoder.encode,
            words=vocabulary.words,
            word_vectors=vocabulary.vectors,
            seeds=task.seeds,
            known=task.known,
            on_progress=report,
        )
    except CannotSynthesize as error:
        raise NothingSynthesized(str(error)) from None


def _poles(trait: traits.TraitRow, description: str, languages: tuple[str, ...]) -> TraitPoles:
    return TraitPoles(trait.key, trait.name, trait.positive_label, trait.negative_label, description, languages)


def _finish(connection: Connection, execution: Execution, task: _SynthesisTask, made: _Made) -> None:
    # Lock the model first, then the run: a deletion locks them in the same order.
    model = models.hold_by_id(connection, task.model_id)
    exemplars, rejects = made.synthesis.exemplars, made.synthesis.rejects
    fields = _fields(execution, task, exemplars)
    _check_count(samples.count(connection, task.model_id), len(fields), execution.run.options["max_samples"])
    warning = " ".join(swapped(rejects, exemplars, task.names))
    outcome = SynthesisOutcome(
        generator=_generator(fields),
        added=len(fields),
        rejected=made.synthesis.rejected,
        tokens=made.tokens,
        failure=made.failure or None,
        warning=warning or None,
    )
    execution.succeed(
        connection,
        phase="writing",
        total=len(task.traits),
        # Notes of a success: people do not read logs, and an error would say that the run failed.
        notes=[note for note in (made.failure, warning, *made.synthesis.notes) if note],
        outcome={"synthesis": outcome.model_dump()},
    )
    if model is None or model.state != "busy":
        raise Fenced(execution.run.id)
    if fields:
        author = Author(execution.run.requested_by, rules.now(), f"Synthesized: {outcome.generator}")
        sample_changes.write(connection, model, Writes(adds=fields), author)
    if not model.zero_data_retention:
        rejected_texts.add(connection, model.id, _rejected(task, rejects))
    models.move(connection, model, "draft", now=rules.now())


def _rejected(task: _SynthesisTask, rejects: Sequence[Reject]) -> list[dict[str, Any]]:
    """The rows of rejected texts, at most `MOST_REJECTED`: of every trait and reason by turns, in order."""
    groups: dict[tuple[str, str], list[Reject]] = {}
    for each in rejects:
        if len(each.exemplar.text) <= LONGEST_TEXT:
            groups.setdefault((each.exemplar.trait_key, each.reason), []).append(each)
    alternating = [each for drawn in zip_longest(*groups.values()) for each in drawn if each is not None]
    return [
        {
            "trait_id": task.trait_ids[each.exemplar.trait_key],
            "text": each.exemplar.text,
            "quality": each.exemplar.quality,
            "reason": each.reason,
            "generator": each.exemplar.generator,
            "seed_sample_id": task.seed_ids[each.exemplar.seed_index] if each.exemplar.seed_index is not None else None,
        }
        for each in alternating[:MOST_REJECTED]
    ]


def _generator(fields: Sequence[Mapping[str, Any]]) -> str:
    """The language model if it wrote any of the new samples."""
    return next((each["generator"] for each in fields if each["generator"] != OFFLINE), OFFLINE)


def _fields(execution: Execution, task: _SynthesisTask, exemplars: Sequence[Exemplar]) -> list[dict[str, Any]]:
    """The new samples; a text that its trait already has is not added again."""
    now, trait_ids = rules.now(), task.trait_ids
    varied = execution.run.options["synth_type"] == "diversify"
    generated = [
        {
            "trait_id": trait_ids[each.trait_key],
            "text": each.text,
            "quality": each.quality,
            "provenance": "synthesized",
            "content_sha256": text_hash(each.text),
            "created_at": now,
            "seed_sample_id": task.seed_ids[each.seed_index] if varied and each.seed_index is not None else None,
            "generator": each.generator,
            "origin_run_id": execution.run.id,
        }
        for each in exemplars
        if len(each.text) <= LONGEST_TEXT
    ]
    new = [each for each in generated if (each["trait_id"], each["content_sha256"]) not in task.existing]
    if not new:
        raise NothingSynthesized(
            "Every text that was generated is in the model already. Choose a higher effort to generate more."
        )
    return new


def _check_count(existing: int, made: int, most: int) -> None:
    if existing + made > most:
        raise ValidationFailed(
            f"{made} texts were generated, but the model has {existing} samples and at most {most} are allowed. Nothing"
            " was added. Choose a lower effort to generate fewer.",
            details={"samples": existing, "made": made, "most": most},
        )
