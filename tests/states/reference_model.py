"""A model as the contract defines it, in plain Python: what an operation changes, or the code that refuses it.

It knows nothing of the database, the wire or the service's own rules: `TABLE` is core/docs/contract.md, section 5
written out by hand, and every method is one operation. A method that returns `GOES` has changed the model; any other
result means that nothing has changed.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

GOES = ""
FEWEST_FOR_DISCOVERY = 20

_STATES = ("draft", "busy", "ready", "failed", "archived")
_NOTHING_TO_DO = "nothing to do"
_BY_VERSION = "when there is a version"
_WORDS = ("name", "positive_label", "negative_label", "description")
_NEUTRAL = {"positive_label": "positive", "negative_label": "negative", "description": ""}

TABLE: Mapping[str, tuple[str, ...]] = {
    "edit": (GOES, "model_busy", "model_not_draft", GOES, "model_archived"),
    "derive": (GOES, "model_busy", "model_not_draft", GOES, "model_archived"),
    "train": (GOES, "model_busy", _NOTHING_TO_DO, GOES, "model_archived"),
    "retune": (GOES, "model_busy", GOES, GOES, "model_archived"),
    "withdraw": (GOES, "model_busy", GOES, GOES, "model_archived"),
    "retrain": ("model_not_trained", "model_busy", GOES, "model_not_trained", "model_archived"),
    "use": ("model_not_trained", _BY_VERSION, GOES, "model_not_trained", "model_archived"),
    "update": (GOES, GOES, GOES, GOES, "model_archived"),
}


@dataclass(frozen=True)
class Trait:
    """A trait; `discovered` are the words that discovery gave it, None if it is extrinsic or they were removed.

    `origin` is the run that made it.
    """

    name: str
    positive_label: str = "positive"
    negative_label: str = "negative"
    description: str = ""
    aggregation: str = "mean"
    kind: str = "extrinsic"
    discovered: Mapping[str, str] | None = None
    origin: str = ""


@dataclass(frozen=True)
class Sample:
    """A sample; `waits` means that it is pending, which only feedback is."""

    trait: str
    text: str
    quality: float
    provenance: str = "authored"
    waits: bool = False


@dataclass(frozen=True)
class Version:
    """A version; `month` is the month in which it was created.

    `whole` means that no purge has deleted samples that it was trained with, and that it was trained here.
    """

    triggered_by: str
    sample_count: int
    run_id: str | None
    month: str
    whole: bool


@dataclass(frozen=True)
class Run:
    """The last operation; runs with equal `key` are the same."""

    id: str
    kind: str
    key: tuple[Any, ...]
    status: str = "queued"
    error: str | None = None


@dataclass(frozen=True)
class Start:
    """The answer to a call that wants a run.

    A refusal has a code and perhaps the id of a run. An existing run has an id, None if there is nothing to do. A new
    run has a `kind`.
    """

    code: str = GOES
    run_id: str | None = None
    kind: str | None = None


@dataclass
class ReferenceModel:
    """One model; `retrain_after` is how much feedback starts a retrain.

    `restored_as` is the state that an archived model returns to.
    """

    handle: str
    zero: bool = False
    retrain_after: int = 10
    state: str = "draft"
    restored_as: str = ""
    description: str = ""
    policy: Mapping[str, Any] | None = None
    traits: dict[str, Trait] = field(default_factory=dict)
    samples: dict[int, Sample] = field(default_factory=dict)
    versions: dict[int, Version] = field(default_factory=dict)
    tags: dict[str, int] = field(default_factory=dict)
    active: int | None = None
    made: int = 0
    run: Run | None = None
    derived: dict[tuple[Any, ...], str] = field(default_factory=dict)
    activations: list[tuple[int, int | None, str]] = field(default_factory=list)

    # ---- the table ---------------------------------------------------------------------------------------------------

    def refusal(self, row: str) -> str:
        """The code from the table."""
        cell = TABLE[row][_STATES.index(self.state)]
        if cell == _BY_VERSION:
            return GOES if self.active is not None else "model_not_trained"
        return cell

    # ---- traits and samples ------------------------------------------------------------------------------------------

    def add_traits(self, sent: Mapping[str, Trait], *, twice: bool) -> str:
        """Add traits by the keys of their names; `twice` means that the batch contains a key twice."""
        names = {key: trait.name for key, trait in self.traits.items()} | {k: t.name for k, t in sent.items()}
        overwrites = any(key in self.traits and self.traits[key].name != trait.name for key, trait in sent.items())
        refused = twice or overwrites or not _all_differ(names.values())
        if code := ("duplicate_trait" if refused else self.refusal("edit")):
            return code
        for key, trait in sent.items():
            old = self.traits.get(key)
            self.traits[key] = replace(trait, **_made(old)) if old else trait
        return self._edited()

    def update_trait(self, key: str, fields: Mapping[str, Any]) -> str:
        """Change fields of a trait."""
        if key not in self.traits:
            return "trait_not_found"
        changed = replace(self.traits[key], **fields)
        names = [trait.name for trait in (self.traits | {key: changed}).values()]
        if code := ("duplicate_trait" if not _all_differ(names) else self.refusal("edit")):
            return code
        self.traits[key] = changed
        return self._edited()

    def delete_trait(self, key: str) -> str:
        """Delete a trait and its samples."""
        if code := ("trait_not_found" if key not in self.traits else self.refusal("edit")):
            return code
        del self.traits[key]
        self.samples = {number: sample for number, sample in self.samples.items() if sample.trait != key}
        return self._edited()

    def refuses_samples(self, sent: Sequence[Sample]) -> str:
        """The answer to new samples; if they are accepted, call `take_samples`."""
        unknown = any(sample.trait not in self.traits for sample in sent)
        return "validation_failed" if unknown else self.refusal("edit")

    def take_samples(self, ids: Sequence[int], sent: Sequence[Sample]) -> str:
        """Add samples with the ids that the service gave them."""
        self.samples |= dict(zip(ids, sent, strict=True))
        return self._edited()

    def delete_sample(self, number: int) -> str:
        """Delete one sample, or withdraw one that waits."""
        if number not in self.samples:
            return "sample_not_found"
        if code := self.refusal("withdraw" if self.samples[number].waits else "edit"):
            return code
        del self.samples[number]
        return GOES if self.state == "ready" else self._edited()

    def _edited(self) -> str:
        self.state = "draft"
        return GOES

    # ---- runs --------------------------------------------------------------------------------------------------------

    def train(self, effort: str, *, reoptimize: bool) -> Start:
        """A training; `reoptimize` means `reoptimize_params`."""
        code = self.refusal("retune" if reoptimize else "train")
        key = ("train", effort, reoptimize)
        if code == "model_busy" and self.run and self.run.key == key:
            return Start(run_id=self.run.id)
        if code == "model_busy":
            return self._busy()
        if code == _NOTHING_TO_DO:
            return Start()
        if not code and self.state == "ready" and not self.samples:
            code = "samples_purged"
        if not code and (self.missing_poles() or not self.samples):
            code = "insufficient_samples"
        return Start(code) if code else Start(kind="retune" if self.state == "ready" else "train")

    def retrain(self) -> Start:
        """A retrain on request."""
        code = self.refusal("retrain")
        if code == "model_busy" and self.run and self.run.kind == "retrain":
            return Start(run_id=self.run.id)
        if code == "model_busy":
            return self._busy()
        if not code and not any(sample.waits for sample in self.samples.values()):
            return Start()
        if not code and self.missing_poles():
            code = "insufficient_samples"
        if not code and not self._loses_nothing():
            code = "samples_purged"
        return Start(code) if code else Start(kind="retrain")

    def discover(self, key: tuple[Any, ...]) -> Start:
        """A discovery."""
        enough = len({sample.text for sample in self.samples.values()}) >= FEWEST_FOR_DISCOVERY
        return self._derive("discover", key, enough=enough)

    def synthesize(self, key: tuple[Any, ...], synth_type: str) -> Start:
        """A synthesis: it needs an extrinsic trait and, for variations, a text of such a trait."""
        given = [key for key, trait in self.traits.items() if trait.kind == "extrinsic"]
        seeds = [s for s in self.samples.values() if s.trait in given and s.provenance != "synthesized"]
        varied = any(sample.quality != 0.5 for sample in seeds)
        return self._derive("synthesize", key, enough=bool(given) and (varied or synth_type == "from_traits"))

    def key_of_discovery(self, effort: str) -> tuple[Any, ...]:
        """The key of a discovery: samples, effort and the traits that it would replace."""
        replaced = tuple((key, trait.origin) for key, trait in self.traits.items() if self.untouched(key))
        return ("discover", effort, tuple(self.samples), replaced)

    def key_of_synthesis(self, synth_type: str, effort: str) -> tuple[Any, ...]:
        """The key of a synthesis: samples, traits, type and effort."""
        traits = tuple((key, *(getattr(trait, name) for name in _WORDS)) for key, trait in self.traits.items())
        aggregations = tuple(trait.aggregation for trait in self.traits.values())
        return ("synthesize", synth_type, effort, tuple(self.samples), traits, aggregations)

    def begin(self, run: Run) -> None:
        """Record the run that was started."""
        self.state, self.run = "busy", run

    def trained(self, month: str) -> None:
        """A training, retune or retrain has succeeded."""
        triggers = {"train": "train", "retune": "retune", "retrain": "retrain_buffered"}
        run = self._succeeded()
        self.made += 1
        self.versions[self.made] = Version(triggers[run.kind], len(self.samples), run.id, month, whole=True)
        self.activations.append((self.made, self.active, "retrain" if run.kind == "retrain" else "train"))
        self.active, self.state = self.made, "ready"
        self.samples = {n: replace(s, waits=False) for n, s in self.samples.items()}
        self._purge() if self.zero else None
        self.prune()

    def discovered(self, traits: Mapping[str, Trait]) -> None:
        """A discovery has left the model with these traits; a repeat of it would replace its own."""
        run = self._succeeded()
        stay = {key: trait for key, trait in self.traits.items() if not self.untouched(key)}
        self.traits = {key: trait if key in stay else replace(trait, origin=run.id) for key, trait in traits.items()}
        self.derived[self.key_of_discovery(run.key[1])] = run.id
        self.state = "draft"

    def synthesized(self, samples: Mapping[int, Sample]) -> None:
        """A synthesis has added these samples."""
        self._derived()
        self.samples |= samples

    def untouched(self, trait: str) -> bool:
        """Whether another discovery may replace a trait: nobody has edited it or added samples to it."""
        own = self.traits[trait]
        result = any(sample.trait == trait for sample in self.samples.values())
        return own.kind == "intrinsic" and own.discovered == _words(own) and own.aggregation == "mean" and not result

    def fail(self, code: str) -> None:
        """The run has failed: the model is as before, except after a first training.

        See core/docs/contract.md, section 5.
        """
        assert self.run is not None
        first = "failed" if self.run.kind == "train" else "draft"
        self.state = "ready" if self.active is not None else first
        self.run = replace(self.run, status="failed", error=code)

    def missing_poles(self) -> list[str]:
        """The extrinsic traits without samples at one pole."""
        given = [key for key, trait in self.traits.items() if trait.kind == "extrinsic"]
        return [key for key in given if not all(self.poles(key))]

    def poles(self, key: str) -> tuple[int, int]:
        """Samples above and below 0.5."""
        own = [sample.quality for sample in self.samples.values() if sample.trait == key]
        return sum(quality > 0.5 for quality in own), sum(quality < 0.5 for quality in own)

    def _derive(self, kind: str, key: tuple[Any, ...], *, enough: bool) -> Start:
        code = self.refusal("derive")
        if code == "model_busy":
            same = self.run is not None and self.run.key == key
            return Start("duplicate_run", self.run.id) if same and self.run else self._busy()
        if not code and kind == "discover" and key in self.derived:
            return Start("duplicate_run", self.derived[key])
        if not code and not enough:
            code = "insufficient_samples"
        return Start(code) if code else Start(kind=kind)

    def _busy(self) -> Start:
        assert self.run is not None
        return Start("model_busy", self.run.id)

    def _succeeded(self) -> Run:
        assert self.run is not None
        self.run = replace(self.run, status="succeeded")
        return self.run

    def _derived(self) -> None:
        run = self._succeeded()
        self.derived[run.key] = run.id
        self.state = "draft"

    # ---- feedback ----------------------------------------------------------------------------------------------------

    def refuses_feedback(self) -> str:
        """The answer to well-formed feedback."""
        return self.refusal("use") or ("feature_unavailable" if self.zero else GOES)

    def is_due(self) -> bool:
        """Whether the automatic retrain has to start.

        Enough feedback must be pending, and there must be no fewer samples than the active version was trained with. A
        failed retrain is not repeated at once.
        """
        waiting = sum(sample.waits for sample in self.samples.values())
        failed_last = self.run is not None and (self.run.kind, self.run.status) == ("retrain", "failed")
        if self.state != "ready" or self.zero or waiting < self.retrain_after or failed_last or self.active is None:
            return False
        return self._loses_nothing() and not self.missing_poles()

    def _loses_nothing(self) -> bool:
        """Whether a retrain would be trained with everything that the active version was trained with."""
        if self.active is None:
            return False
        version = self.versions[self.active]
        return version.whole or len(self.samples) >= version.sample_count

    # ---- versions ----------------------------------------------------------------------------------------------------

    def resolve(self, name: str) -> int | None:
        """The number of the version that `vN`, a tag or `active` refers to."""
        if name == "active":
            return self.active
        return self.tags.get(name) or next((number for number in self.versions if name == f"v{number}"), None)

    def tag(self, name: str) -> str:
        """Point a tag at the active version."""
        if code := self.refusal("use"):
            return code
        assert self.active is not None
        self.tags[name] = self.active
        return GOES

    def untag(self, name: str) -> str:
        """Remove a tag."""
        if code := self.refusal("use") or (GOES if name in self.tags else "tag_not_found"):
            return code
        del self.tags[name]
        return GOES

    def activate(self, *, version: str | None, tag: str | None) -> str:
        """Make another version the active one."""
        if code := self.refusal("use"):
            return code
        number = self.resolve(version) if version is not None else self.tags.get(str(tag))
        if number is None:
            return "tag_not_found" if version is None else "version_not_found"
        if number != self.active:
            self.activations.append((number, self.active, "activate"))
        self.active = number
        return GOES

    def prune(self) -> None:
        """Keep tagged and active versions, the newest ones without a tag, and the first of each month.

        See core/docs/contract.md, section 7.
        """
        rule = {"keep_unnamed": 100, "keep_first_of_month": True} | dict(self.policy or {})
        unnamed = sorted(set(self.versions) - set(self.tags.values()), reverse=True)
        stay = {self.active, *self.tags.values(), *unnamed[: rule["keep_unnamed"]]}
        if rule["keep_first_of_month"]:
            months = {version.month for version in self.versions.values()}
            stay |= {min(n for n, version in self.versions.items() if version.month == month) for month in months}
        self.versions = {number: version for number, version in self.versions.items() if number in stay}

    # ---- the model ---------------------------------------------------------------------------------------------------

    def update(self, fields: Mapping[str, Any]) -> str:
        """A PATCH, with fields as they are named on the wire."""
        if code := self.refusal("update"):
            return code
        self.description = fields.get("description", self.description) or ""
        if fields.get("zero_data_retention") and self.state == "busy":
            self.fail("cancelled")
        if "version_retention_policy" in fields:
            self.policy = fields["version_retention_policy"]
            self.prune()
        if "zero_data_retention" in fields:
            self.zero = bool(fields["zero_data_retention"])
            self._purge() if self.zero else None
        return GOES

    def delete(self) -> None:
        """Archive the model and cancel its run."""
        if self.state == "busy":
            self.fail("cancelled")
        if self.state != "archived":
            self.restored_as, self.state = self.state, "archived"

    def restore(self) -> None:
        """Bring an archived model back; another one stays as it is."""
        if self.state == "archived":
            self.state = self.restored_as

    def copy(self, handle: str, ids: Sequence[int]) -> "ReferenceModel":
        """The model after an export and an import under another handle; `ids` are the new ids of the samples."""
        samples = {} if self.zero else dict(zip(ids, self.samples.values(), strict=True))
        versions = {n: replace(v, triggered_by="backfill", run_id=None, whole=False) for n, v in self.versions.items()}
        imported = [] if self.active is None else [(self.active, None, "import")]
        return replace(
            self,
            handle=handle,
            state="draft" if self.active is None else "ready",
            traits=dict(self.traits),
            samples=samples,
            versions=versions,
            tags=dict(self.tags),
            made=max(self.versions, default=0),
            run=None,
            derived={},
            activations=[*self.activations, *imported],
        )

    def _purge(self) -> None:
        self.samples = {}
        self.versions = {number: replace(version, whole=False) for number, version in self.versions.items()}
        self._forget_words()

    def _forget_words(self) -> None:
        """Replace words that discovery took from texts with the key."""
        for key, trait in self.traits.items():
            if trait.discovered is not None:
                words = _words(trait)
                gone = {
                    name: ({"name": key} | _NEUTRAL)[name] for name in _WORDS if words[name] == trait.discovered[name]
                }
                self.traits[key] = replace(trait, **gone, discovered=None)

    # ---- what can be seen --------------------------------------------------------------------------------------------

    def shown(self) -> dict[str, Any]:
        """The model as the API has to show it."""
        run = self.run
        return {
            "state": self.state,
            "description": self.description,
            "zero_data_retention": self.zero,
            "version_retention_policy": self.policy,
            "version_no": self.active,
            "version_tags": self._tags_of(self.active),
            "last_operation": run and (run.kind, run.status, run.id, run.error),
            "traits": [
                (key, *_words(trait).values(), trait.aggregation, trait.kind, self._count(key), *self.poles(key))
                for key, trait in self.traits.items()
            ],
            "samples": [
                (number, each.trait, each.text, each.quality, each.provenance, each.waits)
                for number, each in self.samples.items()
            ],
            "activations": self.activations[::-1],
            "versions": [
                (number, each.triggered_by, each.sample_count, each.run_id, self._tags_of(number))
                for number, each in sorted(self.versions.items(), reverse=True)
            ],
        }

    def _count(self, key: str) -> int:
        return sum(sample.trait == key for sample in self.samples.values())

    def _tags_of(self, number: int | None) -> list[str]:
        return sorted(name for name, tagged in self.tags.items() if tagged == number)


def _made(trait: Trait) -> dict[str, Any]:
    """What an edit of a trait does not change."""
    return {"kind": trait.kind, "discovered": trait.discovered, "origin": trait.origin}


def _words(trait: Trait) -> dict[str, str]:
    return {name: getattr(trait, name) for name in _WORDS}


def _all_differ(names: Iterable[str]) -> bool:
    there = list(names)
    return len(there) == len(set(there))
