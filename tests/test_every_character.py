"""No character stops a text on any way: each one stands at the begin of a word, at an end, twice, and alone.

Functions of texts, heaps and files get every assigned character. What encodes gets one of each kind, and every one with
special casing or a composed form; at the full size a batch and an estimator get all of them.
"""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pandas as pd
import pytest

import traitbench as tb
from tests.code_points import ASSIGNED, UNASSIGNED, failing, packed, text_of, typical
from tests.conftest import Service, Trained
from tests.contexts import home_in_environment
from tests.size import sized
from tests.test_functions_of_texts import FUNCTIONS
from traitbench.batch.scored import read_scored
from traitbench.client import Traitbench
from traitbench.contract.batches import FailedLine, ScoredLine
from traitbench.contract.samples import SampleInput
from traitbench.contract.traits import TraitInput
from traitbench.tables.sample_files import read
from traitbench.tables.writing import csv_file, jsonl_file, parquet_file
from traitbench_app.workspace.heap_file import HeapFile, Place

SLOW = ("n-grams", "other n-grams", "likeness", "positions", "edits")
"""They read a text through patterns that the others read it through as well, and take as long as all of them."""

CHARACTERS = sized(typical(), [*UNASSIGNED, *ASSIGNED])
SAMPLES = [text_of(some) for some in packed(typical(), 40)]
LOCAL = sized(SAMPLES, [text_of(some) for some in packed(CHARACTERS, 400)])
REFUSED = {"U+0000": "a\x00b", "U+D800": "a\ud800b", "U+DFFF": "\udfff"}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_of_texts_reads_every_character(name: str) -> None:
    assert failing(FUNCTIONS[name], sized(CHARACTERS if name in SLOW else ASSIGNED, ASSIGNED)) == []


# ---- the service -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def authoring(service: Service) -> Iterator[Traitbench]:
    with Traitbench(service.base_url, service.issue(namespaces=("characters",))) as client:
        yield client


def drafted(client: Traitbench, name: str) -> str:
    """A draft whose samples have all the characters."""
    handle = f"characters.{name}"
    client.models.create(handle)
    client.traits.add(handle, [TraitInput(name="Tone", positive_label="warm İ", negative_label="cold ı")])
    inputs = [SampleInput(trait="tone", text=text, quality=float(at % 2)) for at, text in enumerate(SAMPLES)]
    client.samples.add(handle, inputs)
    return handle


def test_every_character_is_scored(trained: Trained) -> None:
    groups = packed(CHARACTERS)
    lines = list(trained.client.scores.batch(trained.handle, map(text_of, groups)))
    bad = [group for group, line in zip(groups, lines, strict=True) if not isinstance(line, ScoredLine)]
    assert [found for group in bad for found in failing(lambda text: scored(trained, text), group)] == []


def scored(trained: Trained, text: str) -> None:
    """One text through the other calls that score."""
    card = trained.client.scores.score(trained.handle, text, explain=True)
    assert card.explanation is not None
    assert all(text[part.start : part.end] == part.text for part in card.explanation["warmth"].parts)
    trained.client.scores.compare(trained.handle, text, f"{text} again")
    trained.client.scores.chart(trained.handle, text)


def test_every_character_is_explained_and_compared(trained: Trained) -> None:
    assert failing(lambda text: scored(trained, text), sized(typical()[::4], typical())) == []
    assert failing(lambda text: scored(trained, text), ["\u0130", "\u0131"]) == []


def test_a_model_learns_from_every_character(authoring: Traitbench) -> None:
    handle = drafted(authoring, "draft")
    assert [sample.text for sample in authoring.samples.list(handle)] == SAMPLES
    authoring.samples.synthesize(handle, synth_type="diversify", effort="low")
    assert authoring.models.wait(handle).state == "draft"
    authoring.traits.discover(handle, effort="low")
    assert authoring.models.wait(handle).state == "draft"
    authoring.models.train(handle, effort="low")
    assert authoring.models.wait(handle).state == "ready"


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_character_is_refused_in_words(service: Service, trained: Trained, name: str) -> None:
    path = f"{service.base_url}/v1/models/{trained.handle}/score"
    headers = {"Authorization": f"Bearer {service.issue(namespaces=('trained',))}", "Content-Type": "application/json"}
    answer = httpx.post(path, content=f'{{"content": "a\\u{name[2:]}"}}', headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "validation_failed")
    line = next(iter(trained.client.scores.batch(trained.handle, [REFUSED[name]])))
    assert isinstance(line, FailedLine)
    assert line.error.code == "validation_failed"

    with pytest.raises(ValueError, match=r"^Row 0: the text has (the character U\+0000|half of a surrogate pair)"):
        tb.Scorer("tone").fit([REFUSED[name], "b"], [0, 1])


# ---- without the service ---------------------------------------------------------------------------------------------


def test_an_estimator_learns_from_every_character_and_keeps_its_rows(tmp_path: Path) -> None:
    labels = ["warm" if at % 2 else "cold" for at in range(len(LOCAL))]
    with home_in_environment(tmp_path / "home"):
        scorer = tb.Scorer("tone", poles=("cold", "warm"), encoder="static", effort="low")
        scorer.fit(LOCAL, labels)
        assert len(str(scorer.check(LOCAL, labels))) > 0
        frame = tb.score(pd.DataFrame({"text": LOCAL}), "text", scorer=scorer)
        assert failing(scorer.explain, sized(typical()[::4], typical())) == []
    assert frame["text"].tolist() == LOCAL
    assert frame["error"].isna().all()


def test_a_heap_keeps_every_character() -> None:
    heap, place = HeapFile(None), Place("service", "model", "owner")
    texts = [text_of(some) for some in packed(ASSIGNED)]
    assert heap.add(place, texts, "a file") == len(texts)
    assert [each.text for each in heap.texts(place)] == texts


def test_a_download_keeps_every_character(tmp_path: Path) -> None:
    texts = [text_of(some) for some in packed(ASSIGNED)]
    columns = ("text", "line", "tone", "composite")
    rows = [(text, at, 50, 50) for at, text in enumerate(texts)]
    with (tmp_path / "a.parquet").open("wb") as file:
        parquet_file(file, pd.DataFrame(rows, columns=columns))
    files = {
        "a.jsonl": jsonl_file(columns, rows),
        "a.csv": csv_file(columns, rows),
        "a.parquet": (tmp_path / "a.parquet").read_bytes(),
    }
    for name, content in files.items():
        assert list(read_scored(read(name, content)).texts) == texts, name
