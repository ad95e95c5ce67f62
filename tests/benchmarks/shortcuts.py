"""How often Check finds what was planted in real texts, and how often it finds something where nothing was.

    python -m tests.benchmarks.shortcuts --data FOLDER [--quick]

Each confound is planted in that share of the positive texts, its purity, and in the remaining share of the negative
ones. `found` means that a finding names the right kind. An alarm on clean samples is any finding about what alone tells
the poles apart; the sets have some by nature.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmarks import kept, protocol
from tests.benchmarks.page import Measured, Table, run
from traitbench.analysis.checks import examine
from traitbench.analysis.findings import Finding

SIZES = (16, 32, 64)
PURITIES = (1.0, 0.9)

_EMOJI = "😀🎉🌸🚀🐢🍋"
_SYLLABLES = ("ka", "ro", "mi", "zu", "te", "lan", "dor", "vi")
_CYRILLIC = str.maketrans("abvgdezijklmnoprstufhcy", "абвгдезийклмнопрстуфхцы")
_ACCENTS = str.maketrans("aeou", "áéöü")


@dataclass(frozen=True)
class _Trait:
    key: str
    name: str
    positive_label: str
    negative_label: str


@dataclass(frozen=True)
class _Sample:
    id: int
    text: str
    quality: float
    trait: str
    provenance: str = "authored"
    source_url: str | None = None
    group: str | None = None


@dataclass(frozen=True)
class Draw:
    """What a confound may use: random numbers, other texts of the same pole, and German texts of any kind."""

    lot: np.random.Generator
    others: Sequence[str]
    german: Sequence[str]

    def name(self) -> str:
        """A made-up name."""
        return "".join(self.lot.choice(_SYLLABLES, 3))

    def into(self, text: str, piece: str) -> str:
        """The text with a piece between two of its words."""
        words = text.split()
        words.insert(int(self.lot.integers(len(words) + 1)), piece)
        return " ".join(words)


Plant = Callable[[_Sample, Draw], _Sample]


def _by(change: Callable[[str, Draw], str]) -> Plant:
    return lambda sample, draw: replace(sample, text=change(sample.text, draw))


def _recased(text: str, _: Draw) -> str:
    return text.upper() if text.islower() else text.lower()


PLANTS: Mapping[str, tuple[Plant, frozenset[str]]] = {
    "token, first": (_by(lambda text, _: f"zylor {text}"), frozenset({"token"})),
    "common word, first": (_by(lambda text, _: f"well {text}"), frozenset({"token"})),
    "token, anywhere": (_by(lambda text, draw: draw.into(text, "zylor")), frozenset({"token"})),
    "one handle": (_by(lambda text, _: f"@zylor {text}"), frozenset({"handle"})),
    "handles, anywhere": (_by(lambda text, draw: draw.into(text, f"@{draw.name()}")), frozenset({"handle"})),
    "links": (_by(lambda text, draw: f"{text} https://{draw.name()}.example/{draw.name()}"), frozenset({"link"})),
    "numbers, first": (
        _by(lambda text, draw: f"{draw.lot.integers(10_000, 99_999)} {text}"),
        frozenset({"number", "token"}),
    ),
    "ids, anywhere": (
        _by(lambda text, draw: draw.into(text, f"#{draw.lot.integers(10_000, 99_999)}")),
        frozenset({"number", "token", "spelling"}),
    ),
    "case": (_by(_recased), frozenset({"spelling"})),
    "punctuation": (_by(lambda text, _: f"{text.rstrip('.!?')}!!"), frozenset({"spelling", "token"})),
    "accents": (_by(lambda text, _: text.translate(_ACCENTS)), frozenset({"spelling"})),
    "emoji": (_by(lambda text, draw: f"{text} {draw.lot.choice(list(_EMOJI))}"), frozenset({"emoji"})),
    "length": (
        _by(lambda text, draw: " ".join([text, *draw.lot.choice(np.array(draw.others, object), 3)])),
        frozenset({"length"}),
    ),
    "language": (_by(lambda _, draw: str(draw.lot.choice(np.array(draw.german, object)))), frozenset({"language"})),
    "script": (_by(lambda text, _: text.lower().translate(_CYRILLIC)), frozenset({"language"})),
    "source": (
        lambda sample, _: replace(sample, source_url=f"https://praise.example/{sample.id}"),
        frozenset({"source"}),
    ),
}


def drawn(data: protocol.Data, k: int, seed: int) -> list[_Sample] | None:
    """The samples of a draw, with an address each."""
    rows = protocol.sample(data, k, seed)
    if rows is None:
        return None
    address = "https://reviews.example/{}"
    return [
        _Sample(at, data.pool[row], float(data.quality[row]), "trait", "authored", address.format(at))
        for at, row in enumerate(map(int, rows))
    ]


def planted(
    samples: Sequence[_Sample], plant: Plant, purity: float, lot: np.random.Generator, german: Sequence[str]
) -> list[_Sample]:
    """The samples with a confound in this share of the positive pole, and in the rest of the negative one."""
    result = list(samples)
    for positive, share in ((True, purity), (False, 1 - purity)):
        own = [at for at, sample in enumerate(samples) if (sample.quality > 0.5) == positive]
        draw = Draw(lot, [samples[at].text for at in own], german)
        for at in lot.permutation(own)[: round(share * len(own))].tolist():
            result[at] = plant(samples[at], draw)
    return result


def checked(data: protocol.Data, samples: Sequence[_Sample]) -> list[Finding]:
    """What Check finds that alone tells the poles apart."""
    trait = _Trait("trait", data.trait.name, data.trait.positive_label, data.trait.negative_label)
    findings = examine([trait], samples, kept.vectors([sample.text for sample in samples]), kept.vectors)
    return [finding for finding in findings if finding.alone is not None]


@dataclass(frozen=True)
class Cell:
    """One draw: the set, the confound or "clean", and what was found."""

    set: str
    plant: str
    k: int
    purity: float
    seed: int
    kinds: Sequence[str]
    found: bool
    base: float | None = None
    without: float | None = None


def cells(
    folder: Path,
    *,
    sets: Sequence[str],
    sizes: Sequence[int],
    seeds: int,
    clean: int,
    plants: Sequence[str] = tuple(PLANTS),
) -> list[Cell]:
    """All draws. Without the file of German texts, none is planted."""
    file = folder / "xlmt" / "german_train_text.txt"
    german = [text for text in file.read_text("utf-8").split("\n") if text.strip()] if file.exists() else []
    plants = [plant for plant in plants if german or plant != "language"]
    result = []
    for name in sets:
        data = protocol.load(name, folder)
        for k in sizes:
            for seed in range(max(seeds, clean)):
                samples = drawn(data, k, seed)
                if samples is None:
                    continue
                if seed < clean:
                    kinds = [str(each.alone.kind) for each in checked(data, samples) if each.alone]
                    result.append(Cell(name, "clean", k, 0.5, seed, kinds, bool(kinds)))
                if seed < seeds:
                    result += [
                        _cell(data, samples, plant, purity, (k, seed), german)
                        for plant in plants
                        for purity in PURITIES
                    ]
    return result


def _cell(
    data: protocol.Data,
    samples: Sequence[_Sample],
    plant: str,
    purity: float,
    at: tuple[int, int],
    german: Sequence[str],
) -> Cell:
    change, right = PLANTS[plant]
    lot = np.random.default_rng([*at, list(PLANTS).index(plant)])
    alone = [each.alone for each in checked(data, planted(samples, change, purity, lot, german)) if each.alone]
    named = [each for each in alone if each.kind in right]
    kinds = [str(each.kind) for each in alone]
    base, without = (named[0].base, named[0].without) if named else (None, None)
    return Cell(data.name, plant, at[0], purity, at[1], kinds, bool(named), base, without)


def measure(folder: Path, **extent: Any) -> Measured:
    """All draws, and their tables."""
    result = cells(folder, **extent)
    return Measured([_found(result), _alarms(result)], {"cells": [vars(cell) for cell in result]})


def _found(result: Sequence[Cell]) -> Table:
    columns = [(k, purity) for k in dict.fromkeys(cell.k for cell in result) for purity in PURITIES]
    rows = []
    for plant in (*PLANTS, "all"):
        own = [cell for cell in result if cell.plant != "clean" and plant in (cell.plant, "all")]
        shares = [[cell for cell in own if (cell.k, cell.purity) == column] for column in columns]
        pairs = [(cell.base, cell.without) for cell in own if cell.purity == 1]
        both = [(base, without) for base, without in pairs if base is not None and without is not None]
        fall = " to ".join(f"{np.mean(side):.2f}" for side in zip(*both, strict=True)) if both else "-"
        rows.append([plant, *(_share(some) for some in shares), fall])
    heads = [f"{k}+{k}, {purity:.0%}" for k, purity in columns]
    return Table("Planted confounds that were found", ["confound", *heads, "AUROC with and without it, 100%"], rows)


def _alarms(result: Sequence[Cell]) -> Table:
    rows = []
    clean = [cell for cell in result if cell.plant == "clean"]
    for name in dict.fromkeys(cell.set for cell in clean):
        for k in dict.fromkeys(cell.k for cell in clean):
            own = [cell for cell in clean if (cell.set, cell.k) == (name, k)]
            if own:
                kinds = Counter(kind for cell in own for kind in cell.kinds)
                about = ", ".join(f"{kind} x{times}" for kind, times in kinds.most_common())
                rows.append([name, f"{k}+{k}", str(len(own)), _share(own), about or "-"])
    return Table("Findings on clean samples", ["set", "samples", "draws", "with a finding", "about"], rows)


def _share(some: Sequence[Cell]) -> str:
    return f"{np.mean([cell.found for cell in some]):.1%}" if some else "-"


if __name__ == "__main__":
    binary = tuple(name for name, source in protocol.SETS.items() if not source.graded)
    run(
        "shortcuts",
        measure,
        data=True,
        quick={"sets": ("cr",), "sizes": (32,), "seeds": 1, "clean": 5},
        whole={"sets": binary, "sizes": SIZES, "seeds": 5, "clean": 50},
    )
