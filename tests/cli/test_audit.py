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

HEAD = "text,stars,row,tone_score,tone_side,tone_confidence,tone_reason,version,error"
OLD = "text,stars,line,tone,tone tier,tone confidence,tone confidence reason,composite,confidence,version,error"
TEXTS = 1_000


@pytest.fixture
def scored(tmp_path: Path) -> Path:
    """Texts of which a fifth are sad; scores are right more often than not."""
    lot = random.Random(1)
    lines = [HEAD]
    for row in range(1, TEXTS + 1):
        sad = lot.random() < 0.2
        score = max(0, min(100, round(lot.gauss(80 if sad else 30, 15))))
        side = "sad" if score > 60 else "fine" if score < 40 else ""
        lines.append(
            f"{'sad' if sad else 'fine'} {row},{lot.choice('12' if sad else '234')},{row},{score},{side},,,v3,"
        )
    path = tmp_path / "scored.csv"
    path.write_text("\n".join(lines), "utf-8")
    return path


def records(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text("utf-8-sig").splitlines()))


def labelled(path: Path, tmp_path: Path, *, skip: int = 0) -> Path:
    rows = records(path)
    for place, row in enumerate(rows):
        row["label"] = "" if place < skip else "Sad" if row["text"].startswith("sad") else "fine"
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
    assert list(records(drawn)[0]) == ["row", "text", "label", "trait", "version", "seed"]
    assert {(row["trait"], row["version"]) for row in records(drawn)} == {("tone", "v3")}
    labels = labelled(drawn, tmp_path, skip=2)
    code, out, err = ask("answer", str(scored), str(labels), "--by", "stars", "-o", str(figures), "--json")
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
    stars = {row["row"]: row["stars"] for row in records(scored)}
    counts = Counter(stars[row["row"]] for row in records(labels))
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
    code, _, err = ask("answer", str(scored), str(labels), "--by", "text")
    assert (code, "The sample was drawn by another column than text." in err) == (2, True)
    code, out, _ = ask("answer", str(scored), str(labels), "--by", "stars")
    assert code == 0
    assert "A cutoff needs a simple random sample" in " ".join(out.split())


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("2,x,maybe", "Line 2: 'maybe' is not a label. Use the name of a pole"),
        ("9999,x,1", "Line 2: the scored file has no row 9999."),
        ("2.5,x,1", "Line 2: the scored file has no row 2.5."),
        ("2,x,1", "An interval needs at least 8 labels; there are 1."),
    ],
)
def test_labels_that_cannot_be_used_are_refused(scored: Path, tmp_path: Path, line: str, says: str) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(f"row,text,label\n{line}\n", "utf-8")
    code, out, err = ask("answer", str(scored), str(path))
    assert (code, out) == (1, "")
    assert says in " ".join(err.split())


# ---- which rows, which scores, which trait ---------------------------------------------------------------------------


def scores_read(tmp_path: Path, header: str, rows: list[str], *options: str) -> list[dict[str, str]]:
    """The sample that is drawn from all rows, in the order of the file."""
    scored, drawn = tmp_path / "scored.csv", tmp_path / "labels.csv"
    scored.write_text("\n".join([header, *rows]), "utf-8")
    drawn.unlink(missing_ok=True)
    code, _, err = ask("draw", str(scored), "--size", "99", "--seed", "1", "-o", str(drawn), *options)
    assert code == 0, err
    return sorted(records(drawn), key=lambda row: int(row["row"]))


def share(tmp_path: Path, header: str, rows: list[str], labels: str) -> dict[str, float]:
    """What the audit of all rows says; `labels` is the file of the labels."""
    scored, labelled = tmp_path / "scored.csv", tmp_path / "labels.csv"
    scored.write_text("\n".join([header, *rows]), "utf-8")
    labelled.write_text(labels, "utf-8")
    code, out, err = ask("answer", str(scored), str(labelled), "--json")
    assert code == 0, err
    figure: dict[str, float] = json.loads(out)["figures"][0]
    return figure


TWENTY = "row,text,label\n" + "".join(f"{row},t{row},{int(row <= 10)}\n" for row in range(1, 21))


def test_a_file_that_was_scored_again_is_audited_by_its_last_scores(tmp_path: Path) -> None:
    again = "text,row_input,tone_score_input,tone_side_input,tone_confidence_input,tone_reason_input,version_input,"
    again += "error_input,row,tone_score,tone_side,tone_confidence,tone_reason,version,error"
    rows = [f"t{row},{row},90,warm,,,v1,,{row},{90 if row <= 5 else 10},,,,v2," for row in range(1, 21)]
    assert share(tmp_path, again, rows, TWENTY)["counting"] == 25
    old = "text,line,tone,composite,confidence,version,error,line (new),tone (new),composite (new),confidence (new),"
    old += "version (new),error (new)"
    rows = [f"t{row},{row + 1},90,90,,v1,,{row + 1},{90 if row <= 5 else 10},,,v2," for row in range(1, 21)]
    assert share(tmp_path, old, rows, TWENTY)["counting"] == 25
    both = "text,line,tone,composite,confidence,version_input,error_input,row,tone_score,tone_side,tone_confidence,"
    both += "tone_reason,version,error"
    rows = [f"t{row},{row + 1},90,90,,v1,,{row},{90 if row <= 5 else 10},,,,v2," for row in range(1, 21)]
    assert share(tmp_path, both, rows, TWENTY)["counting"] == 25


def test_other_scores_of_an_input_are_columns_of_the_input(tmp_path: Path) -> None:
    header = "text,speed_score,haste_score,haste_side,haste_confidence,haste_reason,row_input,row,tone_score,tone_side,"
    header += "tone_confidence,tone_reason,version,error"
    drawn = scores_read(tmp_path, header, [f"t{row},1,2,,,,{9 - row},{row},50,,,,v2," for row in range(1, 9)])
    assert [(row["row"], row["text"], row["trait"], row["version"]) for row in drawn] == [
        (str(row), f"t{row}", "tone", "v2") for row in range(1, 9)
    ]


def test_a_column_line_of_the_input_says_nothing_about_rows(tmp_path: Path) -> None:
    """Line 7 of a poem is not row 7 of the file."""
    header = "line,text,line (new),tone,composite,confidence,version,error"
    rows = [f"{21 - row},t{row},{row + 1},{90 if row <= 10 else 10},,,v1," for row in range(1, 21)]
    labels = "line,text,label\n" + "".join(f"{row + 1},t{row},{int(row <= 10)}\n" for row in range(1, 21))
    assert share(tmp_path, header, rows, labels)["percent"] == 50
    drawn = scores_read(tmp_path, header, rows)
    assert [row["text"] for row in drawn] == [f"t{row}" for row in range(1, 21)]


def test_files_that_were_put_together_have_rows_of_their_own(tmp_path: Path) -> None:
    rows = [f"t{row},,{(row - 1) % 10 + 1},50,,,,v1," for row in range(1, 21)]
    drawn = scores_read(tmp_path, HEAD, rows)
    assert [(row["row"], row["text"]) for row in drawn] == [(str(row), f"t{row}") for row in range(1, 21)]


def test_labels_of_a_trait_answer_for_that_trait_only(tmp_path: Path) -> None:
    header = "text,row,tone_score,tone_side,tone_confidence,tone_reason,"
    header += "pace_score,pace_side,pace_confidence,pace_reason,version,error"
    rows = [f"t{row},{row},90,,,,{10 if row > 3 else 90},,,,v2," for row in range(1, 21)]
    drawn = scores_read(tmp_path, header, rows, "--trait", "pace")
    assert {row["trait"] for row in drawn} == {"pace"}
    labels = "row,text,label,trait,version\n" + "".join(f"{row},t{row},{row % 2},pace,v1\n" for row in range(1, 21))
    assert share(tmp_path, header, rows, labels)["counting"] == 15, "the trait of the labels"
    code, out, err = ask("answer", str(tmp_path / "scored.csv"), str(tmp_path / "labels.csv"), "--trait", "tone")
    assert (code, out) == (2, "")
    assert "The labels are of the trait pace, not of tone." in " ".join(err.split())
    code, _, err = ask("answer", str(tmp_path / "scored.csv"), str(tmp_path / "labels.csv"))
    assert "drawn from scores of v1, and these are scores of v2" in " ".join(err.split())


@pytest.mark.parametrize("negative", [False, True])
def test_a_label_may_be_the_name_of_a_pole(tmp_path: Path, negative: bool) -> None:
    sides = {row: "90,Zufrieden" if row <= 10 else "10,нет" for row in range(1, 21)}
    rows = [f"t{row},,{row},{side},,,v1," for row, side in sides.items()]
    named = {row: "zufrieden" if row <= 8 else "Нет" for row in sides}
    labels = "row,text,label\n" + "".join(f"{row},t{row},{name}\n" for row, name in named.items())
    result = share(tmp_path, HEAD, rows, labels)
    assert result["percent"] == pytest.approx(40, abs=6)
    pole = "НЕТ" if negative else "Zufrieden"
    code, out, _ = ask("answer", str(tmp_path / "scored.csv"), str(tmp_path / "labels.csv"), "--pole", pole, "--json")
    assert (code, json.loads(out)["figures"][0]["percent"] > 50) == (0, negative)


def test_labels_beside_other_texts_are_pointed_out(tmp_path: Path) -> None:
    rows = [f"t{row},,{row},{90 if row <= 10 else 10},,,,v1," for row in range(1, 21)]
    share(tmp_path, HEAD, rows, TWENTY)
    scored = tmp_path / "scored.csv"
    scored.write_text(scored.read_text("utf-8").replace("t7,", "another,"), "utf-8")
    _, _, err = ask("answer", str(scored), str(tmp_path / "labels.csv"))
    assert "1 label of 20 beside another text than in the scored file (first in line 8)" in " ".join(err.split())


def test_a_group_may_be_called_like_nothing(tmp_path: Path) -> None:
    """NA is North America, and null and None are names that somebody gave."""
    header = HEAD.replace("stars", "region")
    rows = [f"t{row},{('NA', 'null', 'None')[row % 3]},{row},{90 if row <= 18 else 10},,,,v1," for row in range(36)]
    labels = "row,text,label\n" + "".join(f"{row},t{row},{int(row <= 18)}\n" for row in range(36))
    share(tmp_path, header, rows, labels)
    _, out, _ = ask(
        "answer", *(str(tmp_path / name) for name in ("scored.csv", "labels.csv")), "--by", "region", "--json"
    )
    figures = [each for each in json.loads(out)["figures"] if each["figure"] == "share" and each["group"]]
    assert {each["group"]: each["texts"] for each in figures} == {"NA": 12, "null": 12, "None": 12}


# ---- files of earlier releases ---------------------------------------------------------------------------------------


def test_the_files_of_earlier_releases_are_audited_with_their_labels(tmp_path: Path) -> None:
    rows = [f"t{row},5,{row + 1},{90 if row <= 5 else 10},,high,,90,high,v1," for row in range(1, 21)]
    labels = "line,text,label,seed\n" + "".join(f"{row + 1},t{row},{int(row <= 10)},7\n" for row in range(1, 21))
    assert share(tmp_path, OLD, rows, labels)["counting"] == 25
    assert [row["row"] for row in scores_read(tmp_path, OLD, rows)] == [str(row) for row in range(1, 21)]
    labelled = tmp_path / "labels.csv"
    labelled.write_text(labels, "utf-8")
    (tmp_path / "new.csv").write_text("\n".join([HEAD, *(f"t{row},,{row},90,,,,v1," for row in range(1, 21))]), "utf-8")
    code, _, err = ask("answer", str(tmp_path / "new.csv"), str(labelled))
    assert (code, "The labels name lines, as an earlier release wrote them" in " ".join(err.split())) == (2, True)


def test_the_jsonl_of_earlier_releases_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "scored.jsonl"
    lines = [
        {"line": n + 1, "row": {"text": f"text {n}"}, "card": {"scores": {"tone": n}, "composite": n}}
        for n in range(100)
    ]
    lines.append({"line": 101, "error": {"code": "invalid_row", "message": "no"}})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    code, out, _ = ask("draw", str(path), "--size", "10", "--seed", "1", "-o", str(tmp_path / "labels.csv"))
    assert (code, out.split(" drawn")[0]) == (0, "10 texts of 100")
    rows = records(tmp_path / "labels.csv")
    assert all(row["text"] == f"text {int(row['row']) - 1}" for row in rows)


def test_texts_that_say_nothing_are_neither_drawn_nor_counted_unless_wanted(scored: Path, tmp_path: Path) -> None:
    lines = scored.read_text().splitlines()
    nothing = ["n/a", "no comment", "なし", "nope"]
    scored.write_text("\n".join([*lines, *(f"{text},1,{TEXTS + at},78,,,,v3," for at, text in enumerate(nothing, 1))]))
    drawn, every = tmp_path / "labels.csv", tmp_path / "all.csv"
    code, out, err = ask("draw", str(scored), "--size", "2000", "--seed", "5", "-o", str(drawn))
    assert (code, out.startswith("1,000 texts of 1,000 drawn")) == (0, True)
    assert "4 texts that say nothing are left out, such as “n/a”. To keep them, add --with-nothing." in err
    assert not {*nothing} & {row["text"] for row in records(drawn)}
    _, out, _ = ask("answer", str(scored), str(labelled(drawn, tmp_path)), "--json")
    assert json.loads(out)["figures"][0]["texts"] == TEXTS
    ask("draw", str(scored), "--size", "2000", "--seed", "5", "--with-nothing", "-o", str(every))
    assert {*nothing} < {row["text"] for row in records(every)}
    _, out, _ = ask("answer", str(scored), str(labelled(every, tmp_path)), "--json")
    assert json.loads(out)["figures"][0]["texts"] == TEXTS + len(nothing), "as the labels were drawn"
