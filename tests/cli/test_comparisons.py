"""`traitbench compare-versions` and `gate`: stored versions over a service, exported ones without."""

import json
import socket
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.asking import Ask, command
from tests.comparing import COLD_TESTS, FLIPPED, LEARNED, TESTS, WARM_TESTS, inputs, trained_model
from tests.conftest import COLD, WARM, Service
from traitbench.client import Traitbench
from traitbench.contract.bundles import Bundle, digest
from traitbench.contract.comparisons import VersionsComparison

GOOD, WRONG, STRICT = "compared.good", "compared.wrong", "compared.strict"
MUST = inputs([(COLD[0] + " Now.", 1.0)], held_out=True, must_pass=True)


@pytest.fixture(scope="module")
def author(service: Service) -> Iterator[Traitbench]:
    """A client that owns the compared models."""
    with Traitbench(service.base_url, service.issue(namespaces=("compared",))) as client:
        tests = inputs(TESTS, held_out=True)
        trained_model(client, GOOD, [*inputs(LEARNED), *tests])
        trained_model(client, WRONG, [*inputs(FLIPPED), *tests])
        trained_model(client, STRICT, [*inputs(LEARNED), *tests, *MUST])
        yield client


@pytest.fixture(scope="module")
def files(author: Traitbench, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the exports of the models."""
    folder = tmp_path_factory.mktemp("exports")
    for handle in (GOOD, WRONG, STRICT):
        bundle = author.models.export(handle)
        (folder / f"{handle.partition('.')[2]}.json").write_text(bundle.model_dump_json(exclude_unset=True), "utf-8")
    return folder


@pytest.fixture
def offline(files: Path, service: Service, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """The command line in the folder of the exports, without a service, and with every connection refused."""

    def refuse(*_: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.chdir(files)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    return partial(command, TRAITBENCH_HOME=str(service.settings.home), TRAITBENCH_API_URL=None)


def test_files_are_compared_without_a_service_as_the_service_compares_versions(
    offline: Ask, author: Traitbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [WARM[0], COLD_TESTS[1], "Something that neither has seen."]
    code, out, err = offline(
        *("compare-versions", "good.json", "wrong.json@v1", "--json", "--texts", "-"),
        stdin="text\n" + "\n".join(f'"{each}"' for each in texts),
    )
    assert code == 0, err
    monkeypatch.undo()
    asked = author.versions.compare(GOOD, f"{WRONG}@v1", texts=texts)
    found = VersionsComparison.model_validate_json(out)
    assert (found.verdict, found.reason, found.traits) == (asked.verdict, asked.reason, asked.traits)
    assert (found.a, found.b, found.texts) == (asked.a, asked.b, asked.texts)
    assert (found.changed.parameters, found.changed.samples) == (asked.changed.parameters, None)


def test_a_comparison_is_a_table_and_sentences(ask: Ask, author: Traitbench, tmp_path: Path) -> None:
    file = tmp_path / "texts.csv"
    file.write_text(f'text\n"{WARM[0]}"\n"{COLD[0]}"\n', "utf-8")
    code, out, _ = ask("compare-versions", GOOD, WRONG, "--texts", str(file))
    assert code == 0
    assert out.startswith("Worse. Measured on 12 test samples.\nTRAIT ")
    assert "Samples: 0 added, 0 removed, 20 relabelled.\n" in out
    assert out.count("side changed") == 2
    both = VersionsComparison.model_validate_json(ask("compare-versions", GOOD, WRONG, "--json")[1])
    assert both.verdict == "worse"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["good.json", "good.json"], 0),
        (["wrong.json", "good.json"], 0),
        (["good.json", "wrong.json"], 1),
        (["good.json", "good.json", "--min", "warmth=0.9", "--max-drop", "0"], 0),
        (["wrong.json", "wrong.json", "--min", "warmth=0.9"], 1),
        (["good.json", "strict.json", "--must-pass"], 1),
        (["good.json", "good.json", "--must-pass"], 2),
        (["good.json", "absent.json"], 2),
        (["good.json", "good.json@v9"], 2),
        (["good.json", "good.json@"], 2),
        (["good.json", "changed.json"], 2),
        (["good.json", "broken.json"], 2),
        (["good.json", "good.json", "--min", "absent=0.9"], 2),
        (["good.json", "good.json", "--min", "warmth=2"], 2),
        (["good.json", "good.json", "--min", "warmth"], 2),
        (["good.json", "good.json", "--max-drop", "-1"], 2),
        (["untested.json", "other.json"], 2),
    ],
)
def test_the_exit_code_says_whether_the_version_may_go_on(
    offline: Ask, files: Path, arguments: Sequence[str], code: int
) -> None:
    bundle = json.loads((files / "good.json").read_text("utf-8"))
    (files / "changed.json").write_text(json.dumps({**bundle, "handle": "trained.other"}), "utf-8")
    (files / "broken.json").write_text('{"format":', "utf-8")
    for name, source in (("untested", "good"), ("other", "wrong")):
        whole = Bundle.model_validate_json((files / f"{source}.json").read_bytes())
        samples = [each for each in whole.samples or () if not each.held_out]
        less = whole.model_copy(update={"samples": samples})
        (files / f"{name}.json").write_text(
            less.model_copy(update={"sha256": digest(less)}).model_dump_json(exclude_unset=True), "utf-8"
        )
    assert offline("gate", *arguments)[0] == code, offline("gate", *arguments)


def test_reports_are_for_people_and_for_programs_and_always_the_same(offline: Ask, files: Path) -> None:
    gate = ("gate", "good.json", "wrong.json", "--max-drop", "0.1", "--must-pass")
    code, people, _ = offline(*gate)
    assert (code, people) == (1, offline(*gate)[1])
    assert people.startswith("# Gate: FAILED\n\ncompared.good@v1 to compared.wrong@v1. Worse.")
    assert "| AUROC of warmth falls by at most 0.1 | FAILED |" in people
    assert "| must-pass samples pass | could not be judged | No test sample is marked must-pass. |" in people
    assert offline(*gate, "--format", "junit", "--output", "report.xml")[:2] == (1, "")
    suite = ElementTree.parse(files / "report.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "2", "1")
    report = json.loads(offline(*gate, "--format", "json")[1])
    assert [check["outcome"] for check in report["checks"]] == ["failed", "failed", "unknown"]
    assert report["comparison"]["verdict"] == "worse"


def test_labelled_texts_may_not_move_to_the_wrong_side(offline: Ask) -> None:
    rows = "text,label\n" + "\n".join(
        f'"{text}",{label}' for text, label in ((WARM_TESTS[0], 1), (COLD_TESTS[0], "poor"))
    )
    gate = ("gate", "good.json", "wrong.json", "--must-pass", "--format", "json", "--texts", "-")
    report = json.loads(offline(*gate, stdin=rows)[1])
    assert [(each["text"], each["expected"]) for each in report["regressions"]] == [
        (WARM_TESTS[0], 1.0),
        (COLD_TESTS[0], 0.0),
    ]
    assert [each["reason"] for each in report["checks"]][1] == "Labelled texts that moved to the wrong side: 2 of 2."
    code, out, _ = offline("gate", "good.json", "good.json", "--must-pass", "--texts", "-", stdin=rows)
    assert (code, "moved to the wrong side: 0 of 2" in out) == (0, True)


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ("text,label\nwell,maybe\n", "line 2: 'maybe' is not a label"),
        ("text,label\nwell,1.5\n", "line 2: '1.5' is not a label"),
        ("text,label,trait\nwell,1,haste\n", "no common trait haste"),
        ("one,two\nwell,1\n", "has no column text. Its columns: one, two."),
        ('text,label\n" ",1\n', "line 2: the text is empty"),
    ],
)
def test_a_file_of_texts_that_is_not_valid_is_a_wrong_command(offline: Ask, rows: str, sentence: str) -> None:
    code, _, err = offline("gate", "good.json", "good.json", "--texts", "-", stdin=rows)
    assert (code, sentence in " ".join(err.split())) == (2, True), err


def test_a_file_and_a_handle_are_compared(ask: Ask, files: Path) -> None:
    code, out, err = ask("gate", str(files / "good.json"), f"{WRONG}@v1")
    assert (code, out.startswith("# Gate: FAILED")) == (1, True), err
    assert ask("gate", GOOD, WRONG)[0] == 1
    assert ask("gate", GOOD, "trained.absent")[0] == 2
    assert ask("gate", "neither", GOOD)[0] == 2
