"""Random walks through the life of a model, compared with a reference model after every step.

Hypothesis calls the real service in any order. After every step, everything that can be read of the model must be what
`ReferenceModel`, the contract in plain Python, predicts.

This is done twice: on the session's service, whose worker executes runs at once, and on a service without a worker,
where a run waits until the walk executes it, fails it or interrupts it, so that every operation also meets a busy
model.

By default there are a few walks, always the same, and a failure prints its steps. In full there are many, random and
shrunk on failure; they take minutes:

    TRAITBENCH_TEST_SIZE=soak pytest tests/states/test_machine.py
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, run_state_machine_as_test

from tests.conftest import COLD, WARM, Service
from tests.contexts import ON_BOTH_IN_SOAK, ON_SQLITE, done_here
from tests.size import SOAK, sized
from tests.states.conftest import RETRAIN_AFTER, Environment
from tests.states.reference_model import GOES, ReferenceModel, Sample, Trait
from tests.states.walker import NOBODY, Walker, step
from traitbench.contract.models import VersionRetentionPolicy
from traitbench.contract.samples import SampleInput
from traitbench.contract.traits import TraitInput
from traitbench.operations import model_runs, retraining
from traitbench.store import runs
from traitbench.store.database import writing

TEXT = "Thank you for the letter, it was a joy to read."
NAMES = ("Warmth", "Clarity", "Length of it")

NUMBERS = st.integers(0, 99)
"""Which of the traits, samples, versions that there are: the number is taken modulo how many."""
QUALITIES = st.sampled_from((0.0, 0.25, 0.5, 1.0))
EFFORTS = st.sampled_from(("low", "medium"))
TAGS = st.sampled_from(("good", "better"))


class Walk(Walker):
    """Everything that can be done with a model."""

    # ---- to begin with -----------------------------------------------------------------------------------------------

    @initialize(
        zero=st.sampled_from((False, False, False, False, True)), stage=st.sampled_from((0, 1, 1, 2, 2, 2, 3, 4))
    )
    def begin(self, zero: bool, stage: int) -> None:
        """Start with nothing, a draft to train, a draft for a discovery, one version or two versions."""
        self._create(zero=zero)
        if stage > 0:
            self.go_on(steps=1)
        if stage == 2:
            self.add_enough_to_discover(trait=0, first=0)
        if stage > 2:
            self.go_on(steps=2 * (stage - 1))

    @step()
    def read(self) -> None:
        """Read what is not read after every step."""
        card = self.client.models.card(self.reference.handle).replace("\\", "")  # Markdown escapes
        assert all(
            each in card for each in (self.reference.handle, *(trait.name for trait in self.reference.traits.values()))
        )
        answer = self._ask(lambda: self.client.versions.get(self.reference.handle))
        self._expect(answer, "version_not_found" if self.reference.active is None else GOES)
        if not answer.error:
            assert answer.value.version_no == self.reference.active
            assert [trait["key"] for trait in answer.value.snapshot["traits"]] == list(self.reference.traits)
        there = [*self.left, self.reference]
        for state in (None, "archived"):
            listed = self.client.models.list(namespace=self.namespace, state=state, limit=3)
            wanted = {each.handle for each in there if (each.state == "archived") == (state == "archived")}
            assert [model.handle for model in listed] == sorted(wanted)

    @step("46140", steps=st.integers(1, 2))
    def go_on(self, steps: int) -> None:
        """Do what comes next on the way to a version."""
        for _ in range(steps):
            if self.reference.state == "busy" and self.environment.context:
                self.work()
            elif self.reference.state != "ready" and (not self.reference.traits or self.reference.missing_poles()):
                self.add_traits(names=[NAMES[0]], aggregation="mean")
                self.add_samples(trait=0, qualities=[1.0, 1.0, 0.0, 0.0], first=0)
            else:
                self.train(effort="low", reoptimize=self.reference.state == "ready")

    @step("00009", zero=st.booleans())
    def begin_again(self, zero: bool) -> None:
        """A handle stays taken, archived or not."""
        assert self._ask(lambda: self.client.models.create(self.reference.handle)).code == "handle_taken"
        if self.reference.state == "archived":
            self.left.append(self.reference)
            self._create(zero=zero)

    def _create(self, *, zero: bool) -> None:
        handle = f"{self.namespace}.m{len(self.left)}"
        self.client.models.create(handle, zero_data_retention=zero)
        self.reference = ReferenceModel(handle, zero=zero, retrain_after=self.environment.retrain_after)
        self.cards = {}

    # ---- traits ------------------------------------------------------------------------------------------------------

    @step(
        "31141",
        names=st.lists(st.sampled_from(NAMES), min_size=1, max_size=3),
        aggregation=st.sampled_from(("mean", "max", "none")),
    )
    def add_traits(self, names: list[str], aggregation: Any) -> None:
        sent = [TraitInput(name=name, aggregation=aggregation) for name in names]
        answer = self._ask(lambda: self.client.traits.add(self.reference.handle, sent))
        traits = {_key(name): Trait(name, aggregation=aggregation) for name in names}
        self._expect(answer, self.reference.add_traits(traits, twice=len(traits) < len(names)))
        if not answer.error:
            assert [trait.key for trait in answer.value] == [_key(name) for name in names]

    @step(
        "21111",
        trait=NUMBERS,
        change=st.one_of(
            st.tuples(st.just("name"), st.sampled_from((*NAMES, "Other"))),
            st.tuples(st.just("description"), st.sampled_from(("", "How kind the words are."))),
            st.tuples(st.just("positive_label"), st.sampled_from(("positive", "kind"))),
            st.tuples(st.just("aggregation"), st.sampled_from(("mean", "min"))),
        ),
    )
    def update_trait(self, trait: int, change: tuple[str, str]) -> None:
        key, fields = self._trait(trait), dict([change])
        answer = self._ask(lambda: self.client.traits.update(self.reference.handle, key, **fields))  # type: ignore[arg-type]
        self._expect(answer, self.reference.update_trait(key, fields))

    @step("11111", trait=NUMBERS)
    def delete_trait(self, trait: int) -> None:
        key = self._trait(trait)
        answer = self._ask(lambda: self.client.traits.delete(self.reference.handle, key))
        self._expect(answer, self.reference.delete_trait(key))

    # ---- samples -----------------------------------------------------------------------------------------------------

    @step("31131", trait=NUMBERS, qualities=st.lists(QUALITIES, min_size=1, max_size=5), first=st.integers(0, 40))
    def add_samples(self, trait: int, qualities: Sequence[float], first: int) -> None:
        key = self._trait(trait)
        self._add([Sample(key, _text(first + i, quality), quality) for i, quality in enumerate(qualities)])

    @step("41121", trait=NUMBERS, first=st.integers(0, 2))
    def add_enough_to_discover(self, trait: int, first: int) -> None:
        key = self._trait(trait)
        self._add([Sample(key, _text(number, number % 2), float(number % 2)) for number in range(first, first + 20)])

    @step("11111", trait=NUMBERS)
    def add_samples_one_of_which_is_wrong(self, trait: int) -> None:
        self._add(
            [Sample(self._trait(trait), "It goes in whole or not at all.", 1.0), Sample(NOBODY, "Not this.", 0.0)]
        )

    @step("11111", sample=NUMBERS)
    def delete_sample(self, sample: int) -> None:
        number = self._pick([*self.reference.samples, 0], sample)
        answer = self._ask(lambda: self.client.samples.delete(self.reference.handle, number))
        self._expect(answer, self.reference.delete_sample(number))

    @step("00411", sample=NUMBERS)
    def withdraw(self, sample: int) -> None:
        waiting = [number for number, each in self.reference.samples.items() if each.waits]
        if waiting:
            number = self._pick(waiting, sample)
            answer = self._ask(lambda: self.client.samples.delete(self.reference.handle, number))
            self._expect(answer, self.reference.delete_sample(number))

    @step("21121")
    def delete_all_that_was_synthesized(self) -> None:
        for number in [n for n, each in self.reference.samples.items() if each.provenance == "synthesized"]:
            answer = self._ask(partial(self.client.samples.delete, self.reference.handle, number))
            self._expect(answer, self.reference.delete_sample(number))

    def _add(self, samples: list[Sample]) -> None:
        sent = [SampleInput(trait=each.trait, text=each.text, quality=each.quality) for each in samples]
        answer = self._ask(lambda: self.client.samples.add(self.reference.handle, sent))
        code = self.reference.refuses_samples(samples)
        self._expect(answer, code or self.reference.take_samples(answer.value, samples))

    # ---- runs --------------------------------------------------------------------------------------------------------

    @step("33431", effort=EFFORTS, reoptimize=st.booleans())
    def train(self, effort: Any, reoptimize: bool) -> None:
        answer = self._ask(
            lambda: self.client.models.train(self.reference.handle, effort=effort, reoptimize_params=reoptimize)
        )
        self._start(answer, self.reference.train(effort, reoptimize=reoptimize), ("train", effort, reoptimize))

    @step("11511")
    def retrain(self) -> None:
        answer = self._ask(lambda: self.client.models.retrain(self.reference.handle))
        self._start(answer, self.reference.retrain(), ())

    @step("63141", effort=EFFORTS)
    def discover(self, effort: Any) -> None:
        key = self.reference.key_of_discovery(effort)
        answer = self._ask(lambda: self.client.traits.discover(self.reference.handle, effort=effort))
        self._start(answer, self.reference.discover(key), key)

    @step("43131", synth_type=st.sampled_from(("from_traits", "diversify")))
    def synthesize(self, synth_type: Any) -> None:
        key = self.reference.key_of_synthesis(synth_type, "low")
        answer = self._ask(
            lambda: self.client.samples.synthesize(self.reference.handle, synth_type=synth_type, effort="low")
        )
        self._start(answer, self.reference.synthesize(key, synth_type), key)

    @step("08000")
    def work(self) -> None:
        """Do what a worker would do."""
        if self.environment.context is None or self.reference.state != "busy" or self.reference.run is None:
            return
        done_here(self.environment.context, self.reference.run.id)
        self._ended()
        self.over.append(self.reference.run.id)

    @step("04000")
    def break_what_runs(self) -> None:
        if self.environment.context is None or self.reference.state != "busy" or self.reference.run is None:
            return
        with writing(self.environment.context.engine) as connection:
            run = runs.read(connection, self.reference.run.id)
            assert run is not None
            assert model_runs.fail(connection, run, code="internal_error", message="It failed.")
        self.reference.fail("internal_error")
        self.over.append(self.reference.run.id)

    @step("11111", which=NUMBERS)
    def work_on_what_is_over(self, which: int) -> None:
        """A worker that was taken for dead returns to a run that has ended: it has nothing to do."""
        if self.environment.context is not None and self.over:
            done_here(self.environment.context, self._pick(self.over, which))

    # ---- what needs a version ----------------------------------------------------------------------------------------

    @step("11411", name=TAGS)
    def tag(self, name: str) -> None:
        answer = self._ask(lambda: self.client.versions.tag(self.reference.handle, name))
        self._expect(answer, self.reference.tag(name))

    @step("11211", name=TAGS)
    def untag(self, name: str) -> None:
        answer = self._ask(lambda: self.client.versions.untag(self.reference.handle, name))
        self._expect(answer, self.reference.untag(name))

    @step("11411", version=NUMBERS)
    def activate_a_version(self, version: int) -> None:
        name = f"v{self._pick([*self.reference.versions, 99], version)}"
        answer = self._ask(lambda: self.client.versions.activate(self.reference.handle, version=name))
        self._expect(answer, self.reference.activate(version=name, tag=None))
        self._settle()

    @step("11211", name=TAGS)
    def activate_a_tag(self, name: str) -> None:
        answer = self._ask(lambda: self.client.versions.activate(self.reference.handle, tag=name))
        self._expect(answer, self.reference.activate(version=None, tag=name))
        self._settle()

    @step("11211")
    def score(self) -> None:
        self._score(self.reference.handle, self.reference.active)

    @step("11411", name=st.one_of(TAGS, st.integers(1, 5).map(lambda number: f"v{number}")))
    def score_by_a_version(self, name: str) -> None:
        number = self.reference.resolve(name)
        if number is None:
            answer = self._ask(lambda: self.client.scores.score(f"{self.reference.handle}@{name}", TEXT))
            assert answer.code == "version_not_found"
        else:
            self._score(f"{self.reference.handle}@{name}", number)

    @step()
    def score_a_trait_that_is_not_there(self) -> None:
        answer = self._ask(lambda: self.client.scores.score(self.reference.handle, TEXT, traits=[NOBODY]))
        self._expect(answer, self.reference.refusal("use") if self.reference.active is None else "validation_failed")

    @step()
    def compare(self) -> None:
        answer = self._ask(lambda: self.client.scores.compare(self.reference.handle, TEXT, COLD[0]))
        self._expect(answer, self.reference.refusal("use"))
        if not answer.error:
            self._same_card(answer.value.a, self.reference.active)
            assert answer.value.improvement == answer.value.b.composite - answer.value.a.composite

    @step("13611", trait=NUMBERS, quality=QUALITIES, first=st.integers(0, 40), times=st.integers(1, RETRAIN_AFTER))
    def give_feedback(self, trait: int, quality: float, first: int, times: int) -> None:
        key = self._trait(trait)
        known = self.reference.active is None or key in self.reference.traits
        times *= max(1, self.environment.retrain_after // RETRAIN_AFTER)
        for text in (_text(number, quality) for number in range(first, first + times)):
            answer = self._ask(partial(self.client.scores.score, self.reference.handle, text, feedback={key: quality}))
            self._expect(answer, self.reference.refuses_feedback() if known else "validation_failed")
            if not answer.error:
                [number] = answer.value.metadata.sample_ids
                self.reference.samples[number] = Sample(key, text, quality, "score_feedback", waits=True)
                self._retrained_if_due()

    @step("01211")
    def sweep(self) -> None:
        """Do what a worker does every other second."""
        if (context := self.environment.context) is not None:
            retraining.sweep(context.engine, context.runs, context.settings)
            self._retrained_if_due()

    def _score(self, handle: str, number: int | None) -> None:
        answer = self._ask(lambda: self.client.scores.score(handle, TEXT))
        self._expect(answer, self.reference.refusal("use"))
        if not answer.error:
            self._same_card(answer.value, number)

    def _same_card(self, card: Any, number: int | None) -> None:
        """The same text and version give the same card for every caller, at any time, after an import too."""
        assert card.metadata.version_id == f"v{number}"
        assert list(card.scores) == list(self.reference.traits)
        document = card.model_dump(exclude={"metadata"})
        assert document == self.cards.setdefault(number, document)

    # ---- the model ---------------------------------------------------------------------------------------------------

    @step("11211", zero=st.sampled_from((False, False, True)))
    def zero_retention(self, zero: bool) -> None:
        self._update(zero_data_retention=zero)

    @step("11311", keep=st.one_of(st.none(), st.tuples(st.integers(0, 2), st.booleans())))
    def keep_versions(self, keep: tuple[int, bool] | None) -> None:
        policy = None if keep is None else {"keep_unnamed": keep[0], "keep_first_of_month": keep[1]}
        self._update(version_retention_policy=policy)

    @step("11111", description=st.sampled_from((None, "How it sounds.", "How long it is.")))
    def describe(self, description: str | None) -> None:
        self._update(description=description)

    @step("11311", sure=st.sampled_from((False, False, True)))
    def delete(self, sure: bool) -> None:
        if self.reference.run and (sure or self.reference.state == "archived"):
            assert self.client.models.delete(self.reference.handle).deleted
            self._cutting_off(self.reference.delete)

    @step("11118")
    def restore(self) -> None:
        assert self.client.models.restore(self.reference.handle).state != "archived"
        self.reference.restore()

    @step("11211")
    def carry_over(self) -> None:
        """Import an export under another handle and continue the walk with that model."""
        if not self.reference.samples and not self.reference.versions:
            return
        self.left.append(self.reference)
        handle = f"{self.namespace}.m{len(self.left)}"
        self.client.models.import_(self.client.models.export(self.reference.handle), handle=handle)
        ids = [] if self.reference.zero else [sample.id for sample in self.client.samples.list(handle, limit=500)]
        self.reference = self.reference.copy(handle, ids)
        self._settle()

    def _update(self, **fields: Any) -> None:
        sent = fields
        if policy := fields.get("version_retention_policy"):
            sent = fields | {"version_retention_policy": VersionRetentionPolicy(**policy)}
        answer = self._ask(lambda: self.client.models.update(self.reference.handle, **sent))
        self._expect(answer, self._cutting_off(lambda: self.reference.update(fields)))


def _key(name: str) -> str:
    return name.lower().replace(" ", "_")


def _text(number: int, quality: float) -> str:
    pool = WARM if quality > 0.5 else COLD
    return f"{pool[number % len(pool)]} {'And again. ' * (number // len(pool))}".strip()


def _walks(walks: int, steps: int) -> settings:
    return settings(
        max_examples=walks,
        stateful_step_count=steps,
        derandomize=not SOAK,
        phases=tuple(Phase) if SOAK else (Phase.generate,),
        report_multiple_bugs=False,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


@ON_BOTH_IN_SOAK
def test_a_model_that_may_be_busy_for_long_is_at_every_step_what_the_contract_says(still: Environment) -> None:
    run_state_machine_as_test(lambda: Walk(still), settings=_walks(walks=sized(3, 100), steps=26))  # type: ignore[arg-type]


@ON_SQLITE  # like the service of the session
def test_a_model_whose_runs_are_executed_is_at_every_step_what_the_contract_says(service: Service) -> None:
    environment = Environment(
        service.base_url,
        lambda namespace: service.issue(namespaces=(namespace,)),
        service.settings.retrain_after_samples,
    )
    run_state_machine_as_test(lambda: Walk(environment), settings=_walks(walks=sized(2, 50), steps=12))  # type: ignore[arg-type]
