"""`traitbench thresholds`: recorded values beside texts, the scores of the service, and what is said of every row."""

import csv
import io
import json
import random
from pathlib import Path

import httpx
import pytest

from tests.cli.asking import Ask, command
from tests.conftest import WARM, Service, Trained
from tests.patience import PATIENCE_S
from traitbench.client import Traitbench

WARM_WORDS = ("thank you", "dear friend", "how lovely", "so kind", "I love this", "welcome", "with pleasure")
COLD_WORDS = ("denied", "send the form", "no reply", "the deadline", "rejected", "sign here", "office closed")
ROWS = 160


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Texts with values of two attributes; the first seven rows are odd."""
    lot = random.Random(1)
    rows: list[list[object]] = []
    for number in range(ROWS):
        warmth = lot.random()
        words = [lot.choice(WARM_WORDS if lot.random() < warmth else COLD_WORDS) for _ in range(6)]
        value = min(1.0, max(0.0, warmth + lot.gauss(0, 0.05)))
        rows.append([f"{', '.join(words)} {number}", f"{value:.3f}", f"{1 - value:.3f}"])
    odd: list[list[object]] = [["", 0.5, 0.5], ["n/a", 0.5, 0.5], [WARM[0], 0.9, 0.1], ["No value", "", "NA"]]
    odd += [["Percent", 83, 0.5], ["A word", "high", 0.5], ["Minus", -1, 0.5]]
    path = tmp_path_factory.mktemp("recorded") / "values.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["comment", "compassion", "TOXICITY"], *odd, *rows])
    return path


def test_every_row_is_measured_or_named_with_its_reason(ask: Ask, trained: Trained, recorded: Path) -> None:
    code, out, err = ask("thresholds", str(recorded), "--attribute", f"COMPASSION={trained.handle}:Warmth", "--json")
    assert code == 0
    document = json.loads(out)
    [attribute] = document["attributes"]
    assert document["rows"] == ROWS + 7
    assert attribute["rows"] == {
        **{"measured": ROWS, "learned": 1, "not_scored": 0, "without_value": 1, "invalid_value": 3},
        **{"says_nothing": 1, "without_text": 1, "unreadable": 0},
    }
    assert (attribute["model"], attribute["trait"], attribute["pole"]) == (f"{trained.handle}@v1", "warmth", "warm")
    assert attribute["learned_is_known"]
    assert [line for line in err.splitlines() if line.startswith("line ")] == [
        f"line {number}: compassion is not a number from 0 to 1" for number in (6, 7, 8)
    ]
    assert f"COMPASSION: compassion beside {trained.handle}@v1, trait warmth (warm)" in err
    assert "denied" not in err


def test_the_number_compared_is_the_one_of_the_door(
    ask: Ask, service: Service, client: Traitbench, own: str, namespace: str, tmp_path: Path
) -> None:
    client.attributes.put(namespace, "COMPASSION", own, "warmth")
    lot = random.Random(2)
    texts = [f"{lot.choice(WARM_WORDS)}, {lot.choice(COLD_WORDS)}, {lot.choice(WARM_WORDS)} {n}" for n in range(40)]
    lines, values = [], []
    with httpx.Client(base_url=service.base_url, timeout=PATIENCE_S, trust_env=False) as http:
        key = service.issue("scoring", namespaces=(namespace,))
        for text in texts:
            body = {"comment": {"text": text}, "requestedAttributes": {"COMPASSION": {}}}
            answer = http.post("/v1alpha1/comments:analyze", params={"key": key}, json=body).json()
            lines.append(json.dumps({**body, **answer}))
            values.append(answer["attributeScores"]["COMPASSION"]["summaryScore"]["value"])
    path = tmp_path / "values.jsonl"
    path.write_text("\n".join(lines), "utf-8")
    old = [argument for value in sorted(values) for argument in ("--threshold", str(value))]
    code, out, err = ask("thresholds", str(path), "--json", *old)
    assert code == 0, err
    [attribute] = json.loads(out)["attributes"]
    assert attribute["rank_correlation"] == pytest.approx(1)
    assert {each["unchanged"]["same"] for each in attribute["thresholds"]} == {1.0}, "at every value itself"
    assert attribute["low_confidence"] == sum(0.4 <= value <= 0.6 for value in values) > 0


def test_two_attributes_of_one_model_and_the_other_pole(
    ask: Ask, trained: Trained, recorded: Path, tmp_path: Path
) -> None:
    figures = tmp_path / "new.csv"
    both = [f"{name}={trained.handle}:warmth" for name in ("COMPASSION", "TOXICITY")]
    options = ("--attribute", both[0], "--attribute", both[1], "--threshold", "0.6", "-o", str(figures))
    code, out, _ = ask("thresholds", str(recorded), *options)
    assert code == 0
    compassion, toxicity = csv.DictReader(io.StringIO(figures.read_text("utf-8")))
    assert 0 < float(compassion["as_many"]) < 1
    assert float(compassion["as_many_low"]) <= float(compassion["as_many_same"]) <= float(compassion["as_many_high"])
    assert (toxicity["as_many"], toxicity["threshold"]) == ("", "")
    why = "high scores go with low recorded values, so the poles may be the wrong way round"
    assert toxicity["why_not"] == why
    assert f"No threshold is carried over: {why}." in out
    assert "low confidence" in out
    assert "their score stays from 0.4 to 0.6, so a threshold above 0.6 never acts on them" in out


def test_an_alias_says_which_trait_an_attribute_is(
    ask: Ask, client: Traitbench, own: str, namespace: str, recorded: Path
) -> None:
    client.attributes.put(namespace, "COMPASSION", own, "warmth")
    code, out, err = ask("thresholds", str(recorded), "--json")
    assert code == 0
    assert [(each["attribute"], each["model"]) for each in json.loads(out)["attributes"]] == [
        ("COMPASSION", f"{own}@v1")
    ]
    assert "TOXICITY is left out: no namespace of yours has an alias." in err


def test_without_a_threshold_to_carry_over_the_command_fails(ask: Ask, trained: Trained, recorded: Path) -> None:
    code, out, err = ask("thresholds", str(recorded), "--attribute", f"TOXICITY={trained.handle}:warmth")
    assert code == 1
    assert "No threshold is carried over: high scores go with low recorded values" in out
    assert err.endswith("Error: No threshold could be carried over.\n")


def test_a_key_that_may_not_read_samples_is_told_what_that_means(
    service: Service, trained: Trained, recorded: Path, tmp_path: Path
) -> None:
    key = service.issue("scoring", namespaces=("trained",))
    given = {"TRAITBENCH_API_URL": service.base_url, "TRAITBENCH_API_KEY": key, "TRAITBENCH_HOME": str(tmp_path)}
    code, out, _ = command(
        *("thresholds", str(recorded), "--attribute", f"COMPASSION={trained.handle}:warmth"), **given
    )
    assert code == 0
    assert f"{ROWS + 1:,} measured" in out
    assert "This key may not read the samples of the model, or they are purged." in out


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--attribute", "toxicity=a.b:c"), "--attribute toxicity=a.b:c is not NAME=HANDLE:TRAIT"),
        (("--attribute", "TOXICITY=a.b"), "--attribute TOXICITY=a.b is not NAME=HANDLE:TRAIT"),
        (("--attribute", "INSULT=a.b:c"), "No column is called INSULT. Name it: --values INSULT=COLUMN."),
        (("--values", "INSULT=absent"), "The file has no column absent; it has comment, compassion, TOXICITY."),
        (("--values", "INSULT"), "--values INSULT is not NAME=COLUMN"),
        (("--threshold", "0"), "0 is not in the range 0<x<=1"),
    ],
)
def test_a_wrong_option_is_named(recorded: Path, options: tuple[str, ...], says: str) -> None:
    code, _, err = command("thresholds", str(recorded), *options, TRAITBENCH_API_URL="", TRAITBENCH_API_KEY="")
    assert code == 2
    assert says in " ".join(err.split())


def test_without_an_alias_a_trait_has_to_be_named(ask: Ask, recorded: Path) -> None:
    code, _, err = ask("thresholds", str(recorded))
    assert code == 2
    assert "COMPASSION is left out: no namespace of yours has an alias." in err
    assert "Say which trait an attribute is: --attribute NAME=HANDLE:TRAIT" in " ".join(err.split())


def test_two_columns_for_an_attribute_are_not_guessed_between(tmp_path: Path) -> None:
    path = tmp_path / "values.csv"
    path.write_text("text,toxicity,TOXICITY\nYou fool.,0.9,0.8\n", "utf-8")
    code, _, err = command("thresholds", str(path), "--attribute", "TOXICITY=a.b:c")
    assert code == 2
    assert "toxicity and TOXICITY could be TOXICITY. Name one: --values TOXICITY=COLUMN." in " ".join(err.split())


def test_a_trait_that_is_not_there_is_refused_by_the_service(ask: Ask, trained: Trained, recorded: Path) -> None:
    code, _, err = ask("thresholds", str(recorded), "--attribute", f"TOXICITY={trained.handle}:absent")
    assert code == 1
    assert 'the version has no trait "absent"' in err
