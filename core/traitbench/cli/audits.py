"""`traitbench audit`: answer what share of many scored texts is on a pole, from a labelled random sample. Needs no
service: `draw` writes the texts to label, `answer` reads their labels.
"""

import json
import secrets
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from traitbench.analysis.condition import says_nothing
from traitbench.batch.audits import NotScored, ScoredRows, read_scored
from traitbench.cli.options import (
    FileOptions,
    InputFile,
    Misasked,
    Refused,
    as_json,
    check_columns,
    read_table,
    reads_file,
    tell_problems,
    word_meanings,
    write_output,
    writes_file,
)
from traitbench.cli.output import say_table, say_text
from traitbench.display.scored_rows import ROW, VERSION
from traitbench.display.text import count
from traitbench.tables.rows import Table
from traitbench.tables.sample_files import (
    FileLayout,
    LabelColumn,
    as_number,
    folded,
    guess_words,
    known_words,
    quality_of,
    words,
)
from traitbench.tables.writing import csv_file

if TYPE_CHECKING:
    from traitbench.tables.rating_files import Ratings

_SEED, _GROUP, _LABEL, _KEY = "seed", "group", "label", "trait"
_LINE = "line"
"""How the labels of earlier releases say which text they are of."""

_TRAIT = click.option("--trait", metavar="KEY", help="The trait. Default: the only one in the file.")
_TEXT = click.option(
    *("--column", "--text", "text"), metavar="COLUMN", help="The column of the texts. Default: guessed."
)


_WHOLE = click.option("--with-nothing", "whole", is_flag=True, help="Keep texts that say nothing, such as n/a.")


@click.group()
def audit() -> None:
    """Ask a corpus: what share of many scored texts is on a pole?

    Counting scores above 50 counts the mistakes of the version too. Draw a random sample, label it without looking at
    scores, and get the share with its 95 % interval. Needs no service.
    """


@audit.command("draw")
@click.argument("scored", type=InputFile())
@click.option("--size", type=click.IntRange(min=1), default=100, show_default=True, help="How many texts; 50 to 200.")
@click.option("--seed", type=click.IntRange(min=0), help="Draws the same sample again. Default: a random one.")
@click.option("--by", metavar="COLUMN", help="Draw equally from the groups of this column, to compare them.")
@writes_file("The CSV file.", required=True)
@_TRAIT
@_TEXT
@_WHOLE
@as_json
def draw(
    scored: str,
    size: int,
    seed: int | None,
    by: str | None,
    output: str,
    trait: str | None,
    text: str | None,
    whole: bool,
    as_json: bool,
) -> None:
    """Draw an audit sample from SCORED, the output of `traitbench score --batch`, and write it for labelling.

    Write the name of a pole or a number from 0 to 1 into the column label, in the order of the file. Leave it empty to
    skip a text.
    """
    from traitbench.analysis import corpus

    content = _scored(read_table(scored), trait, text, whole=whole)
    seed = secrets.randbelow(1_000_000) if seed is None else seed
    groups = _groups(content, by)
    rows = corpus.draw(len(content.scores), size=size, seed=seed, groups=groups)
    columns: dict[str, Callable[[int], object]] = {
        ROW: content.rows.__getitem__,
        "text": content.texts.__getitem__,
        _LABEL: lambda _: "",
        **({} if groups is None else {_GROUP: groups.__getitem__}),
        _KEY: lambda _: content.trait,
        VERSION: content.versions.__getitem__,
        _SEED: lambda _: seed,
    }
    write_output(output, csv_file(list(columns), [[cell(row) for cell in columns.values()] for row in rows]))
    if as_json:
        drawn = {"file": str(output), "drawn": len(rows), "scored": len(content.scores), "seed": seed}
        click.echo(json.dumps(drawn))
        return
    click.echo(f"{count(len(rows), 'text')} of {len(content.scores):,} drawn with seed {seed}. Label them in {output}.")


@audit.command("answer")
@click.argument("scored", type=InputFile())
@click.argument("labels", type=InputFile())
@click.option("--pole", metavar="NAME", help="The name of the pole, for the answer. Default: positive or negative.")
@click.option("--negative", is_flag=True, help="Ask about the negative pole.")
@click.option("--by", metavar="COLUMN", help="Also answer for each group of this column, and compare the first two.")
@click.option(
    "--promise",
    type=click.FloatRange(0.5, 0.99),
    help="The share of texts above the cut that are truly of the pole. Default: 0.9.",
)
@writes_file("Write the figures as CSV.")
@_TRAIT
@_TEXT
@_WHOLE
@as_json
def answer(
    scored: str,
    labels: str,
    pole: str | None,
    negative: bool,
    by: str | None,
    promise: float | None,
    output: str | None,
    trait: str | None,
    text: str | None,
    whole: bool,
    as_json: bool,
) -> None:
    """Answer from SCORED and LABELS, the file of `audit draw` with its column label filled in."""
    from traitbench.analysis import corpus

    scored_table, table = read_table(scored), read_table(labels)
    content = _scored(scored_table, _trait(table, trait), text, whole=whole or _is_of_all(table))
    negative = negative or (pole is not None and _is(pole, content.poles.get(False)))
    pole = pole or content.poles.get(not negative) or ("negative" if negative else "positive")
    read = _labels(table, content, {**content.poles, not negative: pole})
    seed = _seed(table)
    stratified = _GROUP in table.columns
    groups = _groups(content, by)
    if stratified and groups is None:
        raise Misasked("The sample was drawn by group. Name the column: --by COLUMN.")
    if stratified and groups is not None and {row.cells[_GROUP] for row in table.rows}.isdisjoint(groups):
        raise Misasked(f"The sample was drawn by another column than {by}. Name that column: --by COLUMN.")
    try:
        result = corpus.answer(
            content.scores,
            read,
            pole=pole,
            positive=not negative,
            groups=groups,
            stratified=stratified,
            promised=corpus.PROMISED if promise is None else promise,
            seed=seed,
            skipped=len(table.rows) - len(read),
        )
    except ValueError as error:
        raise Refused(str(error)) from error
    if output is not None:
        rows = result.rows()
        write_output(output, csv_file(list(rows[0]), [list(row.values()) for row in rows], mark=False))
    if as_json:
        document = {"answer": result.paragraph, "cut": corpus.cut_sentence(result), "figures": result.rows()}
        document["left_out"] = [{"group": name, "labels": number} for name, number in result.left_out.items()]
        click.echo(json.dumps({**document, "method": result.method}, indent=2, ensure_ascii=False))
        return
    say_text(result.paragraph)
    if result.cut is None:
        say_text(result.no_cut)
    say_table(
        ("FIGURE", "GROUP", "PERCENT", "95 % INTERVAL", "COUNTING", "LABELS", "TEXTS"),
        [
            (
                r["figure"],
                r["group"],
                r["percent"],
                f"{r['low']} to {r['high']}",
                r["counting"],
                r["labels"],
                r["texts"],
            )
            for r in result.rows()
        ],
    )
    say_text(result.method)


def _is_of_all(labels: Table) -> bool:
    """Whether labels were drawn from all texts, as earlier releases and `--with-nothing` do: one says nothing."""
    return any(says_nothing(row.cells.get("text", "")) for row in labels.rows)


def _scored(table: Table, trait: str | None, text: str | None, *, whole: bool) -> ScoredRows:
    try:
        content = read_scored(table, trait=trait, text=text)
    except NotScored as error:
        raise Misasked(str(error)) from error
    if content.unscored:
        click.echo(f"{count(content.unscored, 'row')} without a score left out.", err=True)
    rest = content if whole else content.opinions
    if nothing := len(content.rows) - len(rest.rows):
        left_out = count(nothing, "text that says nothing is", "texts that say nothing are")
        click.echo(f"{left_out} left out, such as “n/a”. To keep them, add --with-nothing.", err=True)
    return rest


def _groups(content: ScoredRows, by: str | None) -> Sequence[str] | None:
    if by is None:
        return None
    try:
        return [cell.strip() or "(empty)" for cell in content.column(by)]
    except NotScored as error:
        raise Misasked(str(error)) from error


def _trait(labels: Table, asked: str | None) -> str | None:
    """Return the trait of the labels, which is the one asked about; raise `Misasked` for labels of another."""
    named = list(dict.fromkeys(cell for row in labels.rows if (cell := row.cells.get(_KEY, "").strip())))
    if len(named) > 1:
        raise Misasked(f"The labels are of several traits: {', '.join(named)}. Use a file for each.")
    if named and asked not in (None, *named):
        raise Misasked(f"The labels are of the trait {named[0]}, not of {asked}. Draw a sample for {asked}.")
    return named[0] if named else asked


def _labels(table: Table, content: ScoredRows, poles: Mapping[bool, str]) -> dict[int, float]:
    """Return the labels by the position of their row; raise `Refused` for a label or a row that cannot be used."""
    by = ROW if ROW in table.columns else _LINE
    missing = [name for name in (by, _LABEL) if name not in table.columns]
    if missing:
        wanted = ROW if missing[0] == _LINE else missing[0]
        raise Misasked(f"The labels have no column {wanted}. Use the file that `traitbench audit draw` wrote.")
    numbers = content.rows if by == ROW else content.lines
    if numbers is None:
        raise Misasked(
            "The labels name lines, as an earlier release wrote them, and the scored file has rows. Use the scored "
            "file that they were drawn from."
        )
    position = {number: at for at, number in enumerate(numbers)}
    words = _meanings({row.cells[_LABEL].strip() for row in table.rows}, poles)
    labels, others = dict[int, float](), list[int]()
    for row in table.rows:
        cell = row.cells.get(_LABEL, "").strip()
        if not cell:
            continue
        quality = quality_of(cell, words)
        number = as_number(row.cells.get(by, ""))
        if quality is None:
            named = ", ".join(dict.fromkeys(poles.values()))
            raise Refused(
                f"Line {row.number}: {cell!r} is not a label. Use the name of a pole ({named}), a number from 0 to 1, "
                "or leave it empty."
            )
        if number is None or number not in position:
            raise Refused(f"Line {row.number}: the scored file has no {by} {row.cells.get(by, '')}.")
        at = position[int(number)]
        labels[at] = quality
        if not _same(row.cells.get("text", content.texts[at]), content.texts[at]):
            others.append(row.number)
    _say_what_differs(table, content, labels, others)
    return labels


def _meanings(cells: Collection[str], poles: Mapping[bool, str]) -> dict[str, float | None]:
    """Return the quality of each word: the name of a pole, else a common word."""
    common = guess_words(cells, ())
    named = {folded(name): float(positive) for positive, name in poles.items()}
    return {cell: named.get(folded(cell), common[cell]) for cell in cells}


def _say_what_differs(table: Table, content: ScoredRows, labels: Collection[int], others: Sequence[int]) -> None:
    """Say on stderr if labels were drawn from other scores, or stand beside other texts."""
    if others:
        click.echo(
            f"{count(len(others), 'label')} of {len(labels):,} beside another text than in the scored file (first in "
            f"line {others[0]:,}). Is it the file that they were drawn from?",
            err=True,
        )
    drawn = {cell for row in table.rows if (cell := row.cells.get(VERSION, "").strip())}
    scored = {content.versions[at] for at in labels} - {""}
    if drawn and scored and drawn != scored:
        click.echo(
            f"The texts were drawn from scores of {', '.join(sorted(drawn))}, and these are scores of "
            f"{', '.join(sorted(scored))}. The labels are of the texts, so they count for both.",
            err=True,
        )


def _same(one: str, other: str) -> bool:
    """Whether two texts are equal but for what spreadsheets change: white space, and the end of a long cell."""
    short = min(len(one), len(other))
    if short >= _CUT_FROM:
        one, other = one[:short], other[:short]
    return "".join(one.split()) == "".join(other.split())


_CUT_FROM = 32_000


def _is(name: str, other: str | None) -> bool:
    return other is not None and folded(name) == folded(other)


def _seed(table: Table) -> int | None:
    number = as_number(table.rows[0].cells.get(_SEED, "")) if table.rows else None
    return None if number is None else int(number)


_MOST_WORDS = 8
_ALL = "-"


@click.command("agreement")
@click.argument("file", type=InputFile())
@click.argument("more", metavar="[COLUMN]...", nargs=-1)
@reads_file("--text")
@click.option("--labels", metavar="COLUMN...", multiple=True, help="A column of labels for each rater.")
@click.option("--trait", metavar="COLUMN", help="The column of the traits. Default: one trait for all rows.")
@word_meanings
@as_json
def agreement(
    file: str,
    more: tuple[str, ...],
    of_file: FileOptions,
    labels: tuple[str, ...],
    trait: str | None,
    meanings: dict[str, float],
    as_json: bool,
) -> None:
    """Compare the labels of several raters in a CSV, JSONL or Parquet FILE; `-` reads stdin.

    Without --labels, FILE has a row for each text and person, and the columns of people and labels are found.
    Prints the agreement of every two raters by trait: Cohen's kappa with its 95 % interval. Labels are numbers from 0
    to 1 or words; empty cells are left out. The exit code is 2 if the file or a column cannot be used.
    """
    # With numpy and scipy, for which no other command waits.
    from traitbench.tables import agreement as shown
    from traitbench.tables.rating_files import labels_of_people

    raters = tuple(dict.fromkeys((*labels, *more)))
    try:
        source, text = of_file.texts(file, of_file.open(file))
    except Refused as error:
        raise Misasked(error.message) from error
    table = source.whole
    check_columns(table, (trait, *raters))
    if not raters and (own := labels_of_people(of_file.reading(table))) is not None:
        table, raters, meanings = own.table, own.people, {**own.words, **meanings}
        text = table.columns[0]
        click.echo(f"labels of {', '.join(raters)}", err=True)
        if own.unclear:
            click.echo(f"{count(own.unclear, 'row')} with several labels left out.", err=True)
    if len(raters) < 2:
        raise click.UsageError("Name at least two columns of labels, one for each rater: --labels gpt anna.")
    columns = [LabelColumn(rater, _ALL, {**_words(table, rater, meanings), "": None}) for rater in raters]
    ratings = _ratings(table, FileLayout(text, tuple(columns), trait))
    compared, alphas = shown.all_pairs(ratings), shown.alphas(ratings)
    for rater, number in ratings.contradictions.items():
        click.echo(f"{rater} labels {count(number, 'text')} in two ways; these labels are left out.", err=True)
    if as_json:
        pairs = [
            {**pair, "trait": None if pair["trait"] == _ALL else pair["trait"]} for pair in shown.figures(compared)
        ]
        overall = [{"trait": None if name == _ALL else name, "alpha": value} for name, value in alphas.items()]
        click.echo(json.dumps({"pairs": pairs, "krippendorff": overall}, indent=2, ensure_ascii=False))
        return
    say_table(tuple(name.upper() for name in shown.COLUMNS), shown.rows(compared, {}))
    for name, value in alphas.items():
        figure = "undefined, because all labels are the same" if value is None else f"{value:.2f}"
        of = "" if name == _ALL else f" on {name}"
        say_text(f"All {len(raters)} raters{of}: Krippendorff's alpha {figure}.")


def _words(table: Table, rater: str, meanings: Mapping[str, float]) -> dict[str, float]:
    """The quality of each word in a column."""
    known = {**known_words(table, rater, ()), **meanings}
    if unknown := [word for word in words(table, rater) if word not in known]:
        named = ", ".join(map(repr, unknown[:_MOST_WORDS]))
        more = f" and {len(unknown) - _MOST_WORDS:,} more" if len(unknown) > _MOST_WORDS else ""
        raise click.UsageError(
            f"The meaning of these labels in {rater} is unknown: {named}{more}. Say what they mean, from 0 for the"
            f" negative pole to 1 for the positive one, such as --word '{unknown[0]}=1'."
        )
    return known


def _ratings(table: Table, layout: FileLayout) -> "Ratings":
    # With numpy and scipy, for which no other command waits.
    from traitbench.tables.rating_files import read_ratings

    ratings = read_ratings(table, layout, None)
    if ratings.problems:
        tell_problems([(each.row, f"{each.column} {each.reason}".strip()) for each in ratings.problems])
        raise Misasked(f"Nothing was compared: {count(len(ratings.problems), 'bad row')}. Correct the file.")
    if not ratings.items:
        raise Misasked("The columns have no labels.")
    return ratings
