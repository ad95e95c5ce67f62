"""The benchmarks run: each on texts made here, far too few to say anything."""

import csv
import gzip
import importlib
import io
import json
from pathlib import Path

import numpy as np
import pytest

from tests.benchmarks import (
    discovery,
    encoding,
    engines,
    files,
    page,
    protocol,
    quality,
    shortcuts,
    synthesis,
    training,
)
from tests.benchmarks.__main__ import BENCHMARKS, write
from tests.benchmarks.page import Measured, Table, publish
from tests.benchmarks.scorers import METHODS
from tests.conftest import not_none
from tests.foreign_files.cases import judged
from traitbench.tables.source import opened

# No benchmark is part of what a change may break.
pytestmark = pytest.mark.soak

BAITS = ("You will not believe what this {} did next", "Ten {} tricks that nobody tells you", "Which {} are you?")
NEWS = (
    "Parliament passes the {} bill after long debate",
    "Storm closes {} roads in the north",
    "Court rules on {} tax",
)
THINGS = (
    *("garden", "bread", "winter", "harbour", "school", "engine", "music", "river", "letter", "bridge", "coat", "tea"),
)
MOODS = ("I hate this cold {}", "The {} is where it was", "What a {}, how lovely and good")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two small sets in the files of large ones."""
    made = tmp_path_factory.mktemp("sets")
    (made / "clickbait").mkdir()
    for name, frames in (("clickbait_data.gz", BAITS), ("non_clickbait_data.gz", NEWS)):
        with gzip.open(made / "clickbait" / name, "wt", encoding="utf-8") as file:
            file.write("\n".join(frame.format(thing) for frame in frames for thing in THINGS))
    (made / "emobank").mkdir()
    with (made / "emobank" / "emobank.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "V", "A", "text"])
        texts = [(mood.format(thing), level) for level, mood in enumerate(MOODS) for thing in THINGS]
        rows.writerows([number, 2 + level + number / 100, 3, text] for number, (text, level) in enumerate(texts))
    return made


@pytest.mark.soak
def test_every_method_is_judged_on_every_set(folder: Path) -> None:
    result = quality.measure(folder, sets=("clickbait", "emobank_v"), ks=(4,), seeds=1)
    areas, ranks = result.figures["over_sets"]["auroc"], result.figures["over_sets"]["spearman"]
    assert set(areas) == set(ranks) == set(METHODS)
    assert all(0 <= area["4"] <= 1 and -1 <= ranks[method]["4"] <= 1 for method, area in areas.items())
    assert areas["ours"]["4"] > 0.8
    titles = [table.title for table in result.tables]
    assert len(titles) == len(set(titles)) == len(quality.FIGURES) + 3


def test_planted_confounds_are_counted_by_set_and_kind(folder: Path) -> None:
    plants = ("token, first", "source")
    result = shortcuts.measure(folder, sets=("clickbait",), sizes=(10,), seeds=1, clean=1, plants=plants)
    assert {(cell["plant"], cell["found"]) for cell in result.figures["cells"] if cell["purity"] == 1} == {
        (plant, True) for plant in plants
    }
    assert [row[:3] for row in result.tables[1].rows] == [["clickbait", "10+10", "1"]]


def test_discovery_is_compared_with_as_many_principal_components(folder: Path) -> None:
    [(size, ours, plain, shown)] = discovery.measure(folder, sets=("clickbait",), sizes=(50,), seeds=1).figures["cells"]
    assert size == 50 > shown >= 3
    assert ours >= plain > 0.9


def test_the_same_samples_are_drawn_again(folder: Path) -> None:
    data, again = (protocol.load("clickbait", folder) for _ in range(2))
    assert (data.pool, data.test) == (again.pool, again.test)
    assert not set(data.pool) & set(data.test)
    assert (data.truth > 0.5).sum() == (data.truth < 0.5).sum() == 14
    four, eight = (protocol.sample(data, k, 0) for k in (4, 8))
    assert four is not None
    assert eight is not None
    assert set(four) < set(eight)
    assert np.sort(data.quality[four]).tolist() == [0.0] * 4 + [1.0] * 4
    assert protocol.sample(data, 300, 0) is None


def test_graded_samples_spread_over_the_scale(folder: Path) -> None:
    data = protocol.load("emobank_v", folder)
    chosen = not_none(protocol.sample(data, 4, 0))
    assert sorted(int(8 * data.quality[i]) for i in chosen) == list(range(8))


@pytest.mark.soak
def test_made_texts_are_measured_alone_and_with_real_ones(folder: Path) -> None:
    result = synthesis.measure(folder, sets=("clickbait",), seeds=1)
    cells = {cell["way"]: cell for cell in result.figures["cells"]}
    more = {f"k={k}{made}" for k in synthesis.KS for made in ("", " + offline", " + endpoint", " + varied")}
    assert cells.keys() == {"label axis", "offline", "endpoint", *more}
    assert all(0.3 <= cell["figure"] <= 1 for cell in cells.values())
    assert cells["offline"]["made"] == 64
    assert cells["endpoint"]["made"] > 0 < cells["endpoint"]["rejected"]


def test_training_and_encoding_are_timed() -> None:
    assert min(training.measure(shapes=((40, 24),), tries=1).figures["against"][0].values()) > 0
    ways = encoding.measure(calls=2, texts=8).figures["ways"]
    assert {"full", "layer6", "static"} <= {way["mode"] for way in ways}
    assert all(way["texts_per_second"] > 0 for way in ways)


def test_the_udf_is_timed_in_every_mode() -> None:
    figures = engines.measure(sizes=(2, 2, 8), rounds=1).figures
    assert [*figures] == ["full", "layer6", "static"]
    assert all(each["throughput_of_bare"] > 0 for each in figures.values())


def test_files_are_measured_by_kind_and_sets_in_every_format() -> None:
    figures = files.measure(only=("rfc csv", "json lines")).figures
    assert figures["totals"]["right"] == figures["totals"]["files"] == 3
    texts = [(str(at % 2), thing) for at, thing in enumerate((*THINGS, "a, b", "c; d"))]
    cases = dict(files.formats(texts))
    assert len(cases) == 5
    for case in cases.values():
        assert judged(case.right, lambda case=case: opened(case.name, io.BytesIO(case.bytes()))).faults == ()  # type: ignore[misc]


def test_every_script_measures_something_and_those_of_the_page_exist() -> None:
    scripts = {path.stem for path in Path(page.__file__).parent.glob("*.py") if "    run(" in path.read_text("utf-8")}
    assert {benchmark.name for benchmark in BENCHMARKS} <= scripts | {"quality"}
    for name in scripts:
        assert callable(importlib.import_module(f"tests.benchmarks.{name}").measure)


def test_the_page_shows_the_tables_of_every_script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = Table("Speed", ["way", "texts/s"], [["on foot", "3"], ["by train", "120"]], "Uphill.")
    publish("speed", lambda: Measured([table], {"fastest": 120}), tmp_path / "speed.json")
    assert "on foot         3\nby train      120\n" in capsys.readouterr().out
    document = json.loads((tmp_path / "speed.json").read_text(encoding="utf-8"))
    assert document["figures"] == {"fastest": 120}
    write(tmp_path / "page.md", [document])
    assert "| by train | 120 |" in (tmp_path / "page.md").read_text(encoding="utf-8")
