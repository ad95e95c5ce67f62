"""`traitbench audit`: draw, label, answer; without a service."""

import csv
import json
import random
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from tests.cli.asking import command

ask = partial(command, "audit")

HEAD = "text,stars,line,tone,tone tier,tone confidence,tone confidence reason,composite,confidence,version,error"
TEXTS = 1_000


@pytest.fixture
def scored(tmp_path: Path) -> Path:
    """Texts of which a fifth are sad; scores are right more often than not."""
    lot = random.Random(1)
    lines = [HEAD]
    for line in range(2, TEXTS + 2):
        sad = lot.random() < 0.2
        score = max(0, min(100, round(lot.gauss(80 if sad else 30, 15))))
        lines.append(f"{'sad' if sad else 'fine'} {line},{lot.choice('12' if sad else '234')},{line},{score}" + "," * 7)
    path = tmp_path / "scored.csv"
    path.write_text("\n".join(lines), "utf-8")
    return path


def records(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text("utf-8-sig").splitlines()))


def labelled(path: Path, tmp_path: Path, *, skip: int = 0) -> Path:
    rows = records(path)
    for place, row in enumerate(rows):
        row["label"] = "" if place < skip else "1" if row["text"].startswith("sad") else "no"
    result = tmp_path / "labelled.csv"
    with result.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return result


def test_draw_label_answer(scored: Path, tmp_path: Path) -> None:
    drawn, figures = tmp_path / "labels.csv", tmp_path / "answer.csv"
    code, out, _ = ask("draw", str(scored), "--size", "100", "--seed", "5", "-o", str(drawn))
    assert (code, out) == (0, f"100 texts of 1,000 drawn with seed 5. Label them in {drawn}.\n")
    assert list(records(drawn)[0]) == ["line", "text", "label", "seed"]
    labels = labelled(drawn, tmp_path, skip=2)
    code, out, err = ask(
        "answer", str(scored), str(labels), "--pole", "sad", "--by", "stars", "-o", str(figures), "--json"
    )
    said = ["1,000 rows from 1,001 lines (1 with column names)", "100 rows from 101 lines (1 with column names)"]
    assert (code, [line.partition(": ")[2] for line in err.splitlines()]) == (0, said)
    document = json.loads(out)
    share = document["figures"][0]
    truth = 100 * sum(line.startswith("sad") for line in scored.read_text("utf-8").splitlines()) / TEXTS
    assert share["low"] <= truth <= share["high"]
    assert (share["labels"], share["texts"], share["seed"]) == (98, TEXTS, 5)
    assert "texts are sad (95 % interval" in document["answer"]
    assert "2 of the drawn texts were skipped" in document["answer"]
    assert [row["figure"] for row in records(figures)] == [row["figure"] for row in document["figures"]]


def test_groups_with_too_few_labels_are_named_with_their_counts(scored: Path, tmp_path: Path) -> None:
    drawn = tmp_path / "labels.csv"
    ask("draw", str(scored), "--size", "40", "--seed", "5", "-o", str(drawn))
    labels = labelled(drawn, tmp_path)
    stars = {row["line"]: row["stars"] for row in records(scored)}
    counts = Counter(stars[row["line"]] for row in records(labels))
    few = {name: counts[name] for name in "1234" if counts[name] < 8}
    assert few
    _, out, _ = ask("answer", str(scored), str(labels), "--by", "stars", "--json")
    document = json.loads(out)
    assert {each["group"]: each["labels"] for each in document["left_out"]} == few
    said = f"fewer than 8 labels: {', '.join(f'{name} ({number})' for name, number in few.items())}."
    assert said in document["answer"]
    assert {row["group"] for row in document["figures"]}.isdisjoint(few)
    _, out, _ = ask("answer", str(scored), str(labels), "--by", "stars")
    assert said in " ".join(out.split())


def test_a_sample_by_group_has_all_groups_equally_and_knows_it(scored: Path, tmp_path: Path) -> None:
    drawn = tmp_path / "labels.csv"
    ask("draw", str(scored), "--size", "80", "--by", "stars", "--seed", "1", "-o", str(drawn))
    groups = [row["group"] for row in records(drawn)]
    assert {group: groups.count(group) for group in groups} == dict.fromkeys("1234", 20)
    labels = labelled(drawn, tmp_path)
    code, _, err = ask("answer", str(scored), str(labels))
    assert code == 2
    assert "The sample was drawn by group. Name the column: --by COLUMN." in err
    code, out, _ = ask("answer", str(scored), str(labels), "--by", "stars")
    assert code == 0
    assert "A cutoff needs a simple random sample" in " ".join(out.split())


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("2,x,maybe", "Line 2: 'maybe' is not a label"),
        ("9999,x,1", "Line 2: the scored file has no line 9999."),
        ("2,x,1", "An interval needs at least 8 labels; there are 1."),
    ],
)
def test_labels_that_cannot_be_used_are_refused(scored: Path, tmp_path: Path, line: str, says: str) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(f"line,text,label\n{line}\n", "utf-8")
    code, out, err = ask("answer", str(scored), str(path))
    assert (code, out) == (1, "")
    assert says in " ".join(err.split())


def test_the_jsonl_of_a_batch_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "scored.jsonl"
    lines = [
        {"line": n + 1, "row": {"text": f"text {n}"}, "card": {"scores": {"tone": n}, "composite": n}}
        for n in range(100)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    code, out, _ = ask("draw", str(path), "--size", "10", "--seed", "1", "-o", str(tmp_path / "labels.csv"))
    assert (code, out.split(" drawn")[0]) == (0, "10 texts of 100")
    rows = records(tmp_path / "labels.csv")
    assert all(row["text"] == f"text {int(row['line']) - 1}" for row in rows)
