"""Training: `start` checks the preconditions and queues a run, `run` is its body in the worker.

A draft is trained for the first time. On a ready model, there is nothing to do without `reoptimize_params`. A retrain
from feedback has the same body.

A run may be executed more than once and be killed at any moment. Vectors are stored as they are made. All the rest is
written in one transaction that only the run's current owner can commit. It has the version, the active version, the
state, the end of the run, and the deletion of old versions and, under zero retention, of samples.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Engine

from traitbench.analysis.confounders import LabelledText, shortcuts_of, to_read
from traitbench.analysis.languages import languages_of
from traitbench.contract import operations
from traitbench.contract.models import DEFAULT_EFFORT, OperationKind, RunStarted, TrainRequest
from traitbench.contract.states import Outcome
from traitbench.contract.versions import TriggeredBy
from traitbench.encoders import Encoder, Vectors
from traitbench.errors import FeatureUnavailable, ModelBusy, SamplesPurged
from traitbench.fitting import work as cost
from traitbench.fitting.collect import collect, spelled, to_spell
from traitbench.fitting.fit import EncoderIdentity, Trained, TraitSamples, fit
from traitbench.fitting.held_out import measure
from traitbench.operations import access, holding, retention, rules, training_encoder, zero_retention
from traitbench.operations.access import Caller
from traitbench.operations.context import Context
from traitbench.operations.model_runs import launch, run_key
from traitbench.operations.sample_vectors import ENCODING, encoded, texts_of
from traitbench.runs import Queue
from traitbench.runs.execution import Execution, Fenced
from traitbench.runs.progress import Timeline
from traitbench.scoring import card
from traitbench.scoring.segments import embed
from traitbench.scoring.snapshot import Snapshot, param_hash
from traitbench.scoring.spelling import Spelling
from traitbench.store import activations, models, runs, samples, traits, version_positions, version_samples, versions
from traitbench.store.database import reading, writing
from traitbench.store.models import ModelRow
from traitbench.store.runs import RunRow
from traitbench.store.traits import Axis, TraitRow
from traitbench.store.vectors import Vector
from traitbench.store.version_positions import Positions
from traitbench.synthesis.label_axis import LabelAxes

_AT_ONCE = 16  # texts
# The phases of the time left. A person sees them as "learning".
_WORDS, _LEARNING, _MEASURING, _SAVING = "words", "learning", "measuring", "saving"

_TRIGGERS: Mapping[OperationKind, TriggeredBy] = {
    "train": "train",
    "retune": "retune",
    "retrain": "retrain_buffered",
}


def start(context: Context, caller: Caller, handle: str, body: TrainRequest) -> tuple[RunStarted, bool]:
    """Queue a training, or return the identical run in flight.

    The second value is False if there was nothing to do.
    """
    encoder = None
    if body.encoder is not None:
        access.check(context, caller, operations.MODELS_TRAIN, handle)
        # The encoder is loaded before the model is locked, because loading may take seconds.
        encoder = training_encoder.named(context, body.encoder)
    with access.to_change(context, caller, operations.MODELS_TRAIN, handle) as (connection, model):
        return start_in(connection, context.runs, model, body, encoder=encoder, requested_by=caller.label)


def start_in(
    connection: Connection,
    queue: Queue,
    model: ModelRow,
    body: TrainRequest,
    *,
    encoder: Encoder | None = None,
    requested_by: str | None = None,
) -> tuple[RunStarted, bool]:
    """Start a training as `start` does, for a model that this connection has locked.

    `encoder` is the one that the request names, `requested_by` the name of the key.
    """
    outcome = rules.require("retune" if body.reoptimize_params else "train", model)
    if outcome is Outcome.NOTHING:
        return RunStarted(state=model.state, run_id=None), False
    effort, options = body.effort or DEFAULT_EFFORT, _options(body, training_encoder.last_encoder(connection, model))
    key = run_key(connection, model.id, "train", effort=effort, options=options)
    if outcome is Outcome.MATCH:
        return RunStarted(state="busy", run_id=_matching_run(connection, model, key)), True
    kind: OperationKind = "retune" if model.state == "ready" else "train"
    _check_samples(connection, model)
    if encoder is not None:
        _check_axes(encoder, traits.rows(connection, model.id), traits.axes(connection, model.id))
    # A version freezes the traits, so nothing can be brought back into them.
    traits.forget_dismissed(connection, model.id)
    started = launch(
        connection, queue, model, kind, effort=effort, run_key=key, options=options, requested_by=requested_by
    )
    return started, True


def run(
    engine: Engine,
    encoder: Encoder,
    execution: Execution,
    *,
    labels: LabelAxes | None = None,
    chosen: str | None = None,
) -> None:
    """Train a version from the model's samples and, with `labels`, from the words of its traits.

    `chosen` is the name of the encoder if it is not that of the service.
    """
    with reading(engine) as connection:
        inputs = _read_inputs(connection, encoder, execution.run)
    _Training(engine, encoder, execution, inputs, labels if inputs.use_labels else None).run(chosen)


def _options(body: TrainRequest, last_encoder: str | None) -> dict[str, Any]:
    """Options of a training besides its effort; defaults are left out. The model keeps `last_encoder`."""
    options: dict[str, Any] = {"reoptimize": body.reoptimize_params}
    if not body.use_labels:
        options["use_labels"] = False
    if encoder := body.encoder or last_encoder:
        options["encoder"] = encoder
    return options


def _matching_run(connection: Connection, model: ModelRow, key: str) -> str:
    live = runs.read(connection, model.run_id or "")
    if live is None or live.run_key != key:
        raise rules.refusal(ModelBusy, model)
    return live.id


def _check_samples(connection: Connection, model: ModelRow) -> None:
    count = samples.training_count(connection, model.id)
    if model.state == "ready" and not count:
        raise SamplesPurged(
            f"The samples of {model.handle} were purged, so there is nothing to search with. Its versions still score.",
            details={"handle": model.handle},
        )
    # "Every pole has a sample" is also true of a model without traits, so the number of samples is checked too.
    if not count or rules.traits_missing_poles(connection, model.id):
        raise rules.insufficient(connection, model)


@dataclass(frozen=True)
class _TrainingInputs:
    """The input of a training, without the texts. `tests` are the samples that the version is measured on.

    `test_lengths` are the numbers of characters of the tests by id, if their parts have to be encoded too. Feedback
    that arrives later has higher ids than all labels here, and stays pending.
    """

    model: ModelRow
    traits: Sequence[TraitRow]
    axes: Mapping[int, Axis]
    labels: Sequence[samples.Label]
    tests: Sequence[samples.Label]
    test_lengths: Mapping[int, int]
    fixed: Mapping[str, Any] | None
    use_labels: bool

    def per_trait(self) -> list[int]:
        """How many samples each trait is fitted to; a discovered one is fitted to all."""
        counts = Counter(label.trait for label in self.labels)
        return [len(self.labels) if trait.id in self.axes else counts[trait.key] for trait in self.traits]


def _read_inputs(connection: Connection, encoder: Encoder, run: RunRow) -> _TrainingInputs:
    model = models.find_by_id(connection, run.model_id)
    if model is None:
        raise Fenced(run.id)
    rows, axes = traits.rows(connection, model.id), traits.axes(connection, model.id)
    _check_axes(encoder, rows, axes)
    fixed, use_labels = None, run.options.get("use_labels", True)
    if run.kind == "retrain" and model.active_version_id is not None:
        before = versions.read(connection, model.active_version_id).metrics
        fixed = {key: trait.model_dump(include={"shares", "parameters"}) for key, trait in before.traits.items()}
        use_labels = before.use_labels
    every = samples.all_labels(connection, model.id)
    tests = [label for label in every if label.held_out]
    lengths = samples.lengths(connection, [label.id for label in tests]) if model.max_depth > 1 else {}
    return _TrainingInputs(
        model=model,
        traits=rows,
        axes=axes,
        labels=[label for label in every if not label.held_out],
        tests=tests,
        test_lengths=lengths,
        fixed=fixed,
        use_labels=use_labels is not False,
    )


def _check_axes(encoder: Encoder, rows: Sequence[TraitRow], axes: Mapping[int, Axis]) -> None:
    lost = [row.key for row in rows if row.id in axes and axes[row.id].encoder_digest != encoder.digest]
    if lost:
        raise FeatureUnavailable(
            f"The axes of {', '.join(lost)} were not discovered with the encoder {encoder.id}. Train with the encoder"
            " that was used, or delete these traits and discover again.",
            details={"field": "encoder", "traits": lost, "encoder": encoder.id},
        )


class _Training:
    """The work of one training, from its inputs to the stored version."""

    def __init__(
        self,
        engine: Engine,
        encoder: Encoder,
        execution: Execution,
        inputs: _TrainingInputs,
        labels: LabelAxes | None,
    ) -> None:
        self._engine, self._encoder, self._execution = engine, encoder, execution
        self._inputs, self._labels = inputs, labels
        named = 0 if labels is None else sum(not labels.is_known(trait) for trait in inputs.traits)
        # The work of encoding is set when it begins.
        work = {
            ENCODING: 0.0,
            _WORDS: cost.naming(named, labels.unread() if labels is not None and named else 0),
            _LEARNING: sum(map(cost.learning, inputs.per_trait())),
            _MEASURING: cost.reading(inputs.test_lengths.values()),
            _SAVING: cost.saving(),
        }
        self._timeline = Timeline(work)
        self._known: Mapping[str, Vector] = {}

    def run(self, chosen: str | None) -> None:
        """Train and store the version; `chosen` is the name of the encoder if it is not that of the service."""
        inputs, timeline = self._inputs, self._timeline
        every = [*inputs.labels, *inputs.tests]
        self._known = encoded(self._engine, self._encoder, self._execution, every, timeline=timeline)
        timeline.reach(_WORDS)
        spelled_ids = to_spell(inputs.labels)
        texts = texts_of(self._engine, self._execution, list(spelled_ids.values()))
        collected = self._collect(spelled({digest: texts[each] for digest, each in spelled_ids.items()}))
        trained = self._fit(collected).with_languages(languages_of(texts.values()))
        trained = trained.with_shortcuts(self._shortcuts())
        placed = self._positions_of_tests(trained.snapshot)
        result = _TrainingResult(
            _with_tests(trained, self._measured_on_tests(trained.snapshot, placed)),
            positions_of(trained.snapshot, inputs.labels, trained.out_of_fold, inputs.tests, placed),
            self._reason_to_hold(collected, trained),
            chosen,
        )
        timeline.reach(_SAVING)
        with writing(self._engine) as connection:
            model = _finish(connection, self._execution, inputs, result)
        if model.zero_data_retention:
            zero_retention.settle(self._engine, model.id)

    def _report(self, phase: str, done: int, share: float) -> None:
        self._timeline.reach(phase, share)
        self._execution.report(
            "learning",
            done,
            len(self._inputs.traits),
            fraction=self._timeline.fraction,
            left_s=self._timeline.left_s,
        )

    def _collect(self, spellings: Mapping[str, Spelling]) -> list[TraitSamples]:
        inputs, named = self._inputs, 0

        def label_axis(trait: TraitRow) -> Vector | None:
            nonlocal named
            axis = None if self._labels is None else self._labels.of(trait)
            named += 1
            self._report(_WORDS, 0, named / len(inputs.traits))
            return axis

        # Label axes may take a while; the samples that were encoded last are not to blame for it.
        self._report(_WORDS, 0, 0.0)
        axes = {trait.key: inputs.axes[trait.id].vector for trait in inputs.traits if trait.id in inputs.axes}
        return collect(inputs.traits, inputs.labels, self._known, spellings=spellings, axes=axes, label_axis=label_axis)

    def _fit(self, collected: Sequence[TraitSamples]) -> Trained:
        return fit(
            collected,
            encoder=EncoderIdentity.of(self._encoder),
            scoring_method=self._inputs.model.scoring_method,
            max_depth=self._inputs.model.max_depth,
            effort=self._execution.run.effort,
            fixed=self._inputs.fixed,
            modes=self._encoder.modes,
            on_progress=lambda done, _total, share: self._report(_LEARNING, done, share),
        )

    def _shortcuts(self) -> dict[str, dict[str, Any]]:
        """What alone tells the poles of a trait apart, by trait key."""
        inputs = self._inputs
        able = [trait for trait in inputs.traits if trait.id not in inputs.axes]
        keys = {trait.key for trait in able}

        def read(labels: Sequence[samples.Label]) -> list[LabelledText]:
            ids = sorted(set(to_read([label for label in labels if label.trait in keys])))
            texts = texts_of(self._engine, self._execution, ids)
            with reading(self._engine) as connection:
                sources = samples.sources(connection, ids)
            return [
                LabelledText(
                    *(each.id, each.trait, texts[each.id], each.quality, each.provenance),
                    sources.get(each.id),
                    each.group,
                )
                for each in labels
                if each.id in texts
            ]

        def embedded(texts: Sequence[str]) -> Vectors:
            rows = []
            for start in range(0, len(texts), _AT_ONCE):
                self._report(_LEARNING, len(inputs.traits), 1.0)
                rows.append(embed(self._encoder.encode, texts[start : start + _AT_ONCE]))
            return np.concatenate(rows)

        some, digests = read(inputs.labels), {label.id: label.content_sha256 for label in inputs.labels}
        X = np.array([self._known[digests[each.id]] for each in some], np.float32).reshape(-1, self._encoder.dimension)
        return shortcuts_of(able, some, X, embedded, read(inputs.tests))

    def _positions_of_tests(self, snapshot: Snapshot) -> NDArray[np.float64]:
        """(n_tests, n_traits): the positions in 0..1 of the test samples."""
        tests = self._inputs.tests
        if not tests:
            return np.empty((0, len(snapshot.traits)))
        self._timeline.reach(_MEASURING)
        vectors = np.array([self._known[label.content_sha256] for label in tests], np.float32)
        if card.is_scored_whole(snapshot):
            return card.of_vectors(snapshot, vectors)
        return self._positions_by_parts(vectors, snapshot)

    def _positions_by_parts(self, vectors: Vectors, snapshot: Snapshot) -> NDArray[np.float64]:
        """The same where parts of the test samples have to be encoded."""
        tests, rows = self._inputs.tests, []
        for position, (label, vector) in enumerate(zip(tests, vectors, strict=True)):
            self._report(_MEASURING, len(self._inputs.traits), position / len(tests))
            self._execution.announce(ENCODING, samples=[label.id])
            text = texts_of(self._engine, self._execution, [label.id])[label.id]
            rows.append(card.positions(snapshot, self._encoder.encode, [text], vector[None]))
        return np.concatenate(rows)

    def _measured_on_tests(self, snapshot: Snapshot, placed: NDArray[np.float64]) -> dict[str, dict[str, Any]]:
        """The figures on the test samples with these positions, by trait key."""
        if not self._inputs.tests:
            return {}
        points = card.in_points(placed)
        by_key = {trait.key: points[:, position] for position, trait in enumerate(snapshot.traits)}
        return measure(self._inputs.tests, by_key, self._inputs.labels, self._known)

    def _reason_to_hold(self, collected: Sequence[TraitSamples], trained: Trained) -> dict[str, Any] | None:
        """Why a retrained version should not serve; None if it should, or nobody asked."""
        inputs = self._inputs
        active = inputs.model.active_version_id
        if self._execution.run.kind != "retrain" or not inputs.model.hold_if_worse or active is None:
            return None
        return holding.reason_to_hold(
            self._engine,
            self._encoder,
            self._execution,
            active_version_id=active,
            after=trained.snapshot,
            traits=collected,
            labels=inputs.labels,
            fixed=inputs.fixed or {},
            on_progress=lambda: self._report(_LEARNING, len(inputs.traits), 1.0),
        )


def positions_of(
    snapshot: Snapshot,
    trained: Sequence[samples.Label],
    out_of_fold: Mapping[str, NDArray[np.float64]],
    tests: Sequence[samples.Label],
    placed: NDArray[np.float64],
) -> Positions:
    """The positions of the samples of a version.

    `out_of_fold` (n,) are those of the trained samples of a trait, by its key; `placed` (n_tests, n_traits) those of
    the tests.
    """
    traits = {trait.key: index for index, trait in enumerate(snapshot.traits)}
    own = {key: iter(positions.tolist()) for key, positions in out_of_fold.items()}
    rows = [
        (label.id, next(own[label.trait], np.nan) if label.trait in own else np.nan, label.trait, label.quality, False)
        for label in trained
    ]
    rows += [
        (label.id, float(of_test[traits[label.trait]]), label.trait, label.quality, True)
        for label, of_test in zip(tests, placed, strict=True)
        if label.trait in traits
    ]
    numbered = [(each[0], each[1], traits[each[2]], *each[3:]) for each in rows if each[2] in traits]
    return Positions(list(traits), version_positions.records(numbered))


def _with_tests(trained: Trained, tests: Mapping[str, Mapping[str, Any]]) -> Trained:
    """The result of the training with the figures on test samples; the snapshot does not change."""
    traits = {key: figures | {"test": tests.get(key)} for key, figures in trained.metrics["traits"].items()}
    return replace(trained, metrics={**trained.metrics, "traits": traits}) if tests else trained


def _metrics_of_run(
    execution: Execution, inputs: _TrainingInputs, trained: Trained, chosen: str | None
) -> dict[str, Any]:
    """What the metrics say about the run besides the figures."""
    about = {"use_labels": inputs.use_labels, "elapsed_s": round(execution.elapsed_s, 3)}
    return about if chosen is None else about | {"encoder": trained.metrics["encoder"] | {"chosen": chosen}}


@dataclass(frozen=True, eq=False)
class _TrainingResult:
    """What a training stores. `held` is the reason and the figures if the version should not serve; `chosen` is the
    name of the encoder if it is not that of the service.
    """

    trained: Trained
    positions: Positions
    held: Mapping[str, Any] | None
    chosen: str | None


def _finish(connection: Connection, execution: Execution, inputs: _TrainingInputs, result: _TrainingResult) -> ModelRow:
    """Write the version and end the run; return the model, with its current retention flag.

    The version becomes active unless it is held and the model still holds worse versions.
    """
    trained, held = result.trained, result.held
    # Lock the model first, then the run: a deletion locks them in the same order.
    model = models.hold_by_id(connection, inputs.model.id)
    execution.succeed(connection, phase="learning", total=len(inputs.traits))
    if model is None or model.state != "busy":
        raise Fenced(execution.run.id)
    on_hold = held is not None and model.hold_if_worse
    version_no = models.next_version_no(connection, model.id)
    version_id = versions.add(
        connection,
        snapshot=trained.snapshot.to_json(),
        model_id=model.id,
        version_no=version_no,
        triggered_by=_TRIGGERS[execution.run.kind],
        param_hash=param_hash(trained.snapshot),
        sample_count=len(inputs.labels),
        run_id=execution.run.id,
        metrics=trained.metrics
        | _metrics_of_run(execution, inputs, trained, result.chosen)
        | ({"held": held} if on_hold else {}),
        created_at=rules.now(),
    )
    version_samples.add(connection, version_id, [*inputs.labels, *inputs.tests])
    version_positions.add(connection, version_id, result.positions)
    if on_hold:
        _hold(connection, model, version_id, inputs.labels)
    else:
        _activate(connection, model, version_id, version_no, execution.run)
    if model.zero_data_retention:
        zero_retention.purge(connection, model.id)
    elif inputs.labels and not on_hold:
        samples.mark_trained(connection, model.id, up_to=inputs.labels[-1].id)
    return model


def _hold(connection: Connection, model: ModelRow, version_id: int, labels: Sequence[samples.Label]) -> None:
    """Leave the active version in place; the feedback keeps waiting until someone decides."""
    hold = {"held_version_id": version_id, "held_up_to": labels[-1].id if labels else 0}
    models.move(connection, model, "ready", now=rules.now(), **hold)
    retention.prune(connection, model, active_version_id=model.active_version_id, held_version_id=version_id)


def _activate(connection: Connection, model: ModelRow, version_id: int, version_no: int, run: RunRow) -> None:
    """Make the version the active one, which ends any hold."""
    now = rules.now()
    no_hold = {"held_version_id": None, "held_up_to": None}
    models.move(connection, model, "ready", now=now, active_version_id=version_id, **no_hold)
    activations.add(
        connection,
        model.id,
        version_no=version_no,
        previous_version_id=model.active_version_id,
        cause="retrain" if run.kind == "retrain" else "train",
        by=run.requested_by,
        now=now,
    )
    retention.prune(connection, model, active_version_id=version_id)
