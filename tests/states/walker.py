"""The machinery of a walk: it chooses the next step, follows runs to their end, and checks the model after every step.

The steps themselves are in `test_machine.py`.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tests.patience import PATIENCE_S
from tests.states.conftest import Environment
from tests.states.reference_model import GOES, ReferenceModel, Run, Sample, Start, Trait
from traitbench.client import Traitbench
from traitbench.errors import TraitbenchError

Step = TypeVar("Step", bound=Callable[..., None])

NOBODY = "nobody"

_STATES = ("draft", "busy", "ready", "failed", "archived")
_STEPS: dict[str, tuple[str, st.SearchStrategy[dict[str, Any]]]] = {}
_SHOWN_OF_TRAITS = (
    *("key", "name", "positive_label", "negative_label", "description", "aggregation", "kind"),
    *("sample_count", "positive_samples", "negative_samples"),
)

_namespaces = (f"walk-{number}" for number in count(1))


def step(weights: str = "11111", **arguments: st.SearchStrategy[Any]) -> Callable[[Step], Step]:
    """Mark a method as a step that a walk may take next; `weights` say how likely it is in each of the five states.

    Rules of Hypothesis would all be equally likely, and most walks would leave some of them out.
    """

    def register(method: Step) -> Step:
        _STEPS[method.__name__] = weights, st.fixed_dictionaries(arguments)
        return method

    return register


@dataclass(frozen=True)
class Answer:
    """The outcome of a call."""

    value: Any = None
    error: TraitbenchError | None = None

    @property
    def code(self) -> str:
        return self.error.code if self.error else GOES


class Walker(RuleBasedStateMachine):
    """One walk: it always has one current model, and those that it left behind."""

    def __init__(self, environment: Environment) -> None:
        super().__init__()
        self.environment, self.namespace = environment, next(_namespaces)
        self.client = Traitbench(environment.base_url, environment.issue(self.namespace))
        self.reference = ReferenceModel("")
        self.left: list[ReferenceModel] = []
        self.cards: dict[int | None, Any] = {}
        self.over: list[str] = []

    def teardown(self) -> None:
        self.client.close()

    @rule(data=st.data())
    def go(self, data: st.DataObject) -> None:
        place = _STATES.index(self.reference.state)
        name = data.draw(st.sampled_from([name for name, (w, _) in _STEPS.items() for _ in range(int(w[place]))]))
        getattr(self, name)(**data.draw(_STEPS[name][1]))

    # ---- runs --------------------------------------------------------------------------------------------------------

    def _start(self, answer: Answer, start: Start, key: tuple[Any, ...]) -> None:
        self._expect(answer, start.code)
        if answer.error:
            assert answer.error.headers.get("X-Run-Id") == start.run_id
            return
        if start.kind:
            self._started(Run(answer.value.run_id, start.kind, key))
        else:
            assert answer.value.run_id == start.run_id
        assert answer.value.state == ("ready" if answer.value.run_id is None else "busy")

    def _started(self, run: Run) -> None:
        self.reference.begin(run)
        if self.environment.context is None:
            self._awaited(lambda: self.client.models.get(self.reference.handle).state != "busy")
            self._ended()

    def _ended(self) -> None:
        """Update the reference model with the outcome of a run, where that is open; all else is predicted before."""
        assert self.reference.run is not None
        operation = self.client.models.get(self.reference.handle).last_operation
        assert operation is not None
        if operation.error is not None:
            # A synthesis may make nothing new; nothing else has a reason to fail.
            assert (self.reference.run.kind, operation.error.code) == ("synthesize", "nothing_synthesized")
            self.reference.fail("nothing_synthesized")
        elif self.reference.run.kind == "discover":
            self.reference.discovered(self._discovered_traits())
        elif self.reference.run.kind == "synthesize":
            self.reference.synthesized(self._made_samples())
        else:
            newest = self.client.versions.list(self.reference.handle).items[0]
            self.reference.trained(f"{newest.created_at:%Y-%m}")

    def _discovered_traits(self) -> dict[str, Trait]:
        stay = {key: trait for key, trait in self.reference.traits.items() if not self.reference.untouched(key)}
        there = {trait.key: trait for trait in self.client.traits.list(self.reference.handle)}
        assert list(there)[: len(stay)] == list(stay)
        for key in there.keys() - stay.keys():
            new = there[key]
            assert new.kind == "intrinsic"
            assert new.discrimination is not None
            assert new.discrimination >= 0.5
        return stay | {
            key: Trait(**words, kind="intrinsic", discovered=words)
            for key, trait in there.items()
            if key not in stay
            for words in [trait.model_dump(include={"name", "positive_label", "negative_label", "description"})]
        }

    def _made_samples(self) -> dict[int, Sample]:
        last = max(self.reference.samples, default=0)
        made = [each for each in self.client.samples.list(self.reference.handle, limit=500) if each.id > last]
        assert made
        given = {key for key, trait in self.reference.traits.items() if trait.kind == "extrinsic"}
        assert {(each.provenance, each.trait in given) for each in made} == {("synthesized", True)}
        return {each.id: Sample(each.trait, each.text, each.quality, each.provenance) for each in made}

    def _retrained_if_due(self) -> None:
        if self.reference.is_due():
            operation = self.client.models.get(self.reference.handle).last_operation
            assert operation is not None
            assert operation.kind == "retrain"
            self._started(Run(str(operation.run_id), "retrain", ()))

    def _settle(self) -> None:
        """Wait for what a worker starts by itself."""
        if self.environment.context is None and self.reference.is_due():
            before = self.reference.run and self.reference.run.id
            self._awaited(lambda: self._last_run() != before)
            self._retrained_if_due()

    def _cutting_off(self, change: Callable[[], Any]) -> Any:
        """A change that may cancel a run."""
        was = self.reference.state
        changed = change()
        if was == "busy" and self.reference.state != "busy" and self.reference.run is not None:
            self.over.append(self.reference.run.id)
        return changed

    # ---- after every step --------------------------------------------------------------------------------------------

    @invariant()
    def reads_match_the_reference(self) -> None:
        assert self._seen() == self.reference.shown()

    def _seen(self) -> dict[str, Any]:
        handle = self.reference.handle
        model, versions = self.client.models.get(handle), list(self.client.versions.list(handle))
        run = model.last_operation
        assert model.traits == [trait.name for trait in self.reference.traits.values()]
        assert model.current_version_id == {v.version_no: v.version_id for v in versions}.get(
            self.reference.active or 0
        )
        policy = model.version_retention_policy
        return {
            **{name: getattr(model, name) for name in ("state", "description", "zero_data_retention", "version_no")},
            "version_retention_policy": policy and policy.model_dump(),
            "version_tags": model.version_tags,
            "last_operation": run and (run.kind, run.status, run.run_id, run.error and run.error.code),
            "traits": [
                tuple(getattr(trait, name) for name in _SHOWN_OF_TRAITS) for trait in self.client.traits.list(handle)
            ],
            "samples": [
                (each.id, each.trait, each.text, each.quality, each.provenance, each.pending)
                for each in self.client.samples.list(handle, limit=500)
            ],
            "activations": [
                (each.version_no, each.previous_version_no, each.cause)
                for each in self.client.versions.activations(handle, limit=250)
            ],
            "versions": [
                (each.version_no, each.triggered_by, each.sample_count, each.run_id, each.tags) for each in versions
            ],
        }

    # ---- small things ------------------------------------------------------------------------------------------------

    def _ask(self, call: Callable[[], Any]) -> Answer:
        try:
            return Answer(call())
        except TraitbenchError as error:
            return Answer(error=error)

    def _expect(self, answer: Answer, code: str) -> None:
        assert answer.code == code
        if answer.error:
            assert str(answer.error.request_id).startswith("req_")
        if answer.error and code == "model_busy":
            assert self.reference.run is not None
            assert answer.error.headers["X-Run-Id"] == self.reference.run.id

    def _trait(self, number: int) -> str:
        return str(
            self._pick(
                [*self.reference.traits, NOBODY] if number > 90 else [*self.reference.traits] or [NOBODY], number
            )
        )

    def _pick(self, there: Sequence[Any], number: int) -> Any:
        return there[number % len(there)]

    def _last_run(self) -> str | None:
        operation = self.client.models.get(self.reference.handle).last_operation
        return operation.run_id if operation else None

    def _awaited(self, true: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not true():
            assert time.monotonic() < deadline, "it takes too long"
            time.sleep(0.02)
