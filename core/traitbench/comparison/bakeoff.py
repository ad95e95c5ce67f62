"""Compare encoders on a model's samples, in this process: quality out of fold, time of a text, size of the files.

The command line and the workbench share this. Texts and vectors stay in memory.
"""

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from traitbench.comparison.encoders import Contender, Figure, TraitComparison, compare
from traitbench.contract.models import Model
from traitbench.contract.rounding import in_decimals
from traitbench.contract.samples import Sample
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.display.text import count
from traitbench.encoders import Encoder, EncoderUnavailable, FromFiles
from traitbench.encoders.registry import NAMES, load_encoder
from traitbench.encoders.scheduler import SCHEDULER, BatchQueue, processors
from traitbench.encoders.vocabulary import words_to_encode
from traitbench.fitting import work as cost
from traitbench.fitting.speed import speed_now
from traitbench.local.fitting import collected_samples, label_axes
from traitbench.scoring.repeats import shorten
from traitbench.scoring.segments import embed
from traitbench.synthesis.label_axis import WORDS

MOST = 20_000
"""The number of samples that fit into memory at once; the newest are compared."""

COLUMNS = ("Trait", "Encoder", "AUROC", "95 %", "Difference", "95 % of it", "Verdict")
"""The columns of `rows`. The difference is to the first encoder."""

_TIMED = 15
_AT_ONCE = 16

Progress = Callable[[int, int], object]
Slot = Callable[[], AbstractContextManager[None]]
Encoders = Mapping[str, Encoder]


class NotComparable(Exception):
    """Encoders cannot be compared on this model; the message says why."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """An encoder, the name or folder by which TRAITBENCH_ENCODER would choose it, and the median time of a text."""

    name: str
    encoder: Encoder
    ms_per_text: float

    @property
    def megabytes(self) -> float:
        """The size of its model and tokenizer files."""
        return self.encoder.file_bytes / 1e6 if isinstance(self.encoder, FromFiles) else 0.0


@dataclass(frozen=True, eq=False)
class Inputs:
    """The extrinsic traits of a model and their samples by rising id, with every distinct text by its hash."""

    traits: Sequence[Trait]
    samples: Sequence[Sample]
    texts: Mapping[str, str]
    left_out: int = 0


@dataclass(frozen=True)
class Report:
    """The result: the encoders, the current one first, and how they compare by trait."""

    texts: int
    effort: str
    candidates: tuple[Candidate, ...]
    traits: tuple[TraitComparison, ...]

    def verdicts(self, name: str) -> list[str]:
        """The verdict on this encoder for each trait that was compared."""
        own = [trait.figures[name].difference for trait in self.traits if trait.figures]
        return [difference.verdict for difference in own if difference is not None]

    @property
    def preferable(self) -> list[str]:
        """The encoders that are better on some traits and worse on none; those better on more traits first."""
        verdicts = {each.name: self.verdicts(each.name) for each in self.candidates[1:]}
        able = [name for name, own in verdicts.items() if "better" in own and "worse" not in own]
        return sorted(able, key=lambda name: -verdicts[name].count("better"))

    def to_json(self) -> dict[str, Any]:
        """The report as JSON values."""
        return {
            "texts": self.texts,
            "effort": self.effort,
            "encoders": [
                {
                    "name": each.name,
                    "id": each.encoder.id,
                    "digest": each.encoder.digest,
                    "ms_per_text": round(each.ms_per_text, 3),
                    "megabytes": round(each.megabytes, 1),
                    "current": each is self.candidates[0],
                }
                for each in self.candidates
            ],
            "traits": [_trait_json(trait) for trait in self.traits],
            "verdict": sentence(self),
            "preferable": self.preferable,
        }


def current(setting: str | None, *, cache: Path, version: Version | None = None) -> tuple[str, Encoder]:
    """The name and the encoder that the next training of a model takes.

    That is the encoder that was chosen for its active version, otherwise that of a TRAITBENCH_ENCODER setting, or the
    best installed one if the setting is None.
    """
    trained = None if version is None else version.metrics.encoder
    if trained is not None and trained.chosen in NAMES:
        setting = trained.chosen
    encoder = load_encoder(setting, cache=cache)
    return setting or next(name for name in NAMES if _is(name, encoder, cache)), encoder


def installed(setting: str | None, *, cache: Path, version: Version) -> Encoders:
    """The installed encoders by name, the current one of a version's model first.

    Raise `NotComparable` if the current one is not here.
    """
    try:
        name, own = current(setting, cache=cache, version=version)
    except EncoderUnavailable as error:
        raise NotComparable(f"There is no encoder here. {error}") from error
    encoders = {name: own}
    for other in NAMES:
        try:
            encoder = load_encoder(other, cache=cache)
        except EncoderUnavailable:
            continue
        if encoder.digest != own.digest:
            encoders[other] = encoder
    return encoders


def slots() -> Slot:
    """Slots in which other work of this process goes first."""
    queue = BatchQueue()
    return lambda: SCHEDULER.slot(queue)


def inputs(model: Model, traits: Sequence[Trait], samples: Sequence[Sample], *, most: int = MOST) -> Inputs:
    """The newest samples to compare encoders on; raise `NotComparable` if there are none that may or can be used."""
    if model.zero_data_retention:
        raise NotComparable(
            f"{model.handle} is under zero data retention: samples exist only for the training that uses them and are"
            " then deleted, so there are none to compare encoders on. Compare on a model with data retention."
        )
    given = [trait for trait in traits if trait.kind == "extrinsic"]
    if not given:
        raise NotComparable(
            f"{model.handle} has no trait with labelled samples. Discovered traits belong to one encoder, so they are"
            " not compared. Add a trait and samples."
        )
    keys = {trait.key for trait in given}
    labelled = [sample for sample in samples if sample.trait in keys and not sample.held_out]
    if not labelled:
        raise NotComparable(f"{model.handle} has no samples to compare encoders on. Add samples first.")
    chosen = sorted(labelled, key=lambda sample: sample.id)[-most:]
    held = {sample.trait for sample in chosen}
    texts = {sample.content_sha256: sample.text for sample in chosen}
    return Inputs([trait for trait in given if trait.key in held], chosen, texts, len(labelled) - len(chosen))


def timed(name: str, encoder: Encoder, texts: Sequence[str]) -> Candidate:
    """The encoder with the median time of some of the texts, one at a time in one thread."""
    some = [shorten(text).text for text in list(texts)[:: max(1, len(texts) // _TIMED)][:_TIMED]]
    encoder.encode(some[:1])
    taken = []
    for text in some:
        start = perf_counter()
        embed(encoder.encode, [text])
        taken.append(perf_counter() - start)
    return Candidate(name, encoder, 1_000 * statistics.median(taken))


def seconds(candidates: Sequence[Candidate], given: Inputs, *, effort: str, cache: Path) -> float:
    """About how long the comparison takes: encoding at the measured speeds, and one training for each encoder.

    The first comparison with an encoder also encodes the words of its vocabulary, for the label axes.
    """
    encoding = sum(_encoding(each, len(given.texts), cache) for each in candidates)
    return encoding + len(candidates) * _searching(given, effort)


def switching(candidate: Candidate, given: Inputs, *, effort: str, cache: Path) -> tuple[float, float, float]:
    """How many seconds a training with this encoder takes, at the least, at the most and likely.

    No text has its vector yet.
    """
    encoding = _encoding(candidate, len(given.texts) + given.left_out, cache)
    work, speed = _searching(given, effort), speed_now()
    least, most, likely = (encoding + work * times for times in (speed.least, speed.most, speed.likely))
    return least, most, likely


def _encoding(candidate: Candidate, texts: int, cache: Path) -> float:
    words = words_to_encode(candidate.encoder, cache=cache, size=WORDS)
    return candidate.ms_per_text / 1_000 * (texts + words) / processors()


def _searching(given: Inputs, effort: str) -> float:
    return cost.searching(effort, [sum(each.trait == trait.key for each in given.samples) for trait in given.traits])


def run(
    candidates: Sequence[Candidate],
    given: Inputs,
    *,
    effort: str,
    cache: Path,
    on_progress: Progress,
    slot: Slot = nullcontext,
) -> Report:
    """Compare the candidates with the first one. `on_progress(done, total)` counts texts and fits.

    Each batch of texts is encoded in a `slot`, so that other work can go first.
    """
    texts, fits = len(given.texts) * len(candidates), len(given.traits) * len(candidates)
    contenders = []
    for at, each in enumerate(candidates):
        known: dict[str, NDArray[np.float32]] = {}
        for done, batch in _batches(given.texts):
            on_progress(at * len(given.texts) + done, texts + fits)
            with slot():
                known |= dict(zip(batch, embed(each.encoder.encode, list(batch.values())), strict=True))
        with slot():
            contenders.append(_contender(each, given, known, cache))
    traits = compare(contenders, effort=effort, on_progress=lambda done, _: on_progress(texts + done, texts + fits))
    return Report(len(given.texts), effort, tuple(candidates), tuple(traits))


def rows(report: Report) -> list[tuple[str, ...]]:
    """The figures as text, one row for each trait and encoder, with the columns of `COLUMNS`."""
    return [
        (trait.key, name, in_decimals(figure.auroc, 3), _span(figure.interval), *_difference(figure))
        for trait in report.traits
        for name, figure in trait.figures.items()
    ]


def sentence(report: Report) -> str:
    """The result in words, for each encoder and as a recommendation."""
    first = report.candidates[0].name
    compared = sum(bool(trait.figures) for trait in report.traits)
    if not compared:
        return "No trait could be compared."
    parts = [verdict_on(report, each.name) for each in report.candidates[1:]]
    if best := next(iter(report.preferable), None):
        advice = f"{best} is worth switching to."
    else:
        advice = f"No encoder is proven better than {first} without a loss: keep {first}."
    return " ".join((*parts, advice))


def verdict_on(report: Report, name: str) -> str:
    """The result for one of the encoders in a sentence."""
    return f"{name} is {_in_words(report.verdicts(name))}."


def how_to_switch(handle: str, name: str) -> str:
    """How to make a new version with another encoder: by its name, or by the setting of the service for a folder."""
    if name in NAMES:
        return (
            f"To switch, run `traitbench train {handle} --reoptimize --encoder {name}`: that makes a new version."
            " Older versions keep scoring."
        )
    return (
        f"To switch, set TRAITBENCH_ENCODER={name} for the service and all its workers, restart them, and train the"
        " model again: that makes a new version. Older versions keep scoring if they were trained with a built-in"
        " encoder. A version that was trained with a folder scores only while the setting names that folder."
    )


def other_encoder(version: Version, here: Encoder) -> str:
    """A sentence if a version was trained with another encoder than the current one of this machine; else empty."""
    trained = version.metrics.encoder
    if trained is None or trained.id == here.id or trained.chosen in NAMES:
        return ""
    return (
        f"v{version.version_no} was trained with {trained.id}. Here, TRAITBENCH_ENCODER gives {here.id}, and the others"
        " are compared with that."
    )


def _in_words(verdicts: Sequence[str]) -> str:
    if len(verdicts) == 1:
        return verdicts[0].replace("no proven difference", "not proven different")
    better, worse = verdicts.count("better"), verdicts.count("worse")
    of = f"of {count(len(verdicts), 'trait')}"
    said = [f"{word} on {number}" for word, number in (("better", better), ("worse", worse)) if number]
    return f"{' and '.join(said)} {of}" if said else f"not proven different on any {of}"


def _difference(figure: Figure) -> tuple[str, str, str]:
    own = figure.difference
    return ("", "", "current") if own is None else (f"{own.value:+.3f}", _span(own.interval, sign="+"), own.verdict)


def _span(interval: tuple[float, float], *, sign: str = "") -> str:
    return " to ".join(f"{end:{sign}.3f}" for end in interval)


def _trait_json(trait: TraitComparison) -> dict[str, Any]:
    figures = {
        name: {
            "auroc": figure.auroc,
            "auroc_interval": list(figure.interval),
            "difference": None if figure.difference is None else figure.difference.value,
            "difference_interval": None if figure.difference is None else list(figure.difference.interval),
            "verdict": None if figure.difference is None else figure.difference.verdict,
        }
        for name, figure in trait.figures.items()
    }
    return {**asdict(trait), "figures": figures}


def _is(name: str, encoder: Encoder, cache: Path) -> bool:
    try:
        return load_encoder(name, cache=cache) is encoder
    except EncoderUnavailable:
        return False


def _batches(texts: Mapping[str, str]) -> Iterator[tuple[int, Mapping[str, str]]]:
    keys = list(texts)
    for first in range(0, len(keys), _AT_ONCE):
        yield first, {key: texts[key] for key in keys[first : first + _AT_ONCE]}


def _contender(candidate: Candidate, given: Inputs, known: Mapping[str, NDArray[np.float32]], cache: Path) -> Contender:
    encoder = candidate.encoder
    label_axis = label_axes(encoder, cache).of
    traits = collected_samples(given.traits, given.samples, known, label_axis=label_axis)
    return Contender(candidate.name, traits, encoder.modes)
