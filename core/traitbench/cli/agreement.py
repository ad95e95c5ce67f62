"""`traitbench agreement`: how far the label columns of a file agree. It needs no service."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from traitbench.cli.files import check_columns, read_table, tell_problems
from traitbench.cli.options import InputFile, Misasked, Refused, as_json
from traitbench.cli.output import say_table, say_text
from traitbench.cli.samples import meaning
from traitbench.display.text import count
from traitbench.tables.sample_files import Table, guess_words, words

if TYPE_CHECKING:
    from traitbench.tables.rating_files import Ratings

_MOST_WORDS = 8
_ALL = "-"


@click.command("agreement")
@click.argument("file", type=InputFile())
@click.argument("more", metavar="[COLUMN]...", nargs=-1)
@click.option("--text", metavar="COLUMN", required=True, help="The column of the texts.")
@click.option("--labels", metavar="COLUMN...", multiple=True, required=True, help="A column of labels for each rater.")
@click.option("--trait", metavar="COLUMN", help="The column of the traits. Default: one trait for all rows.")
@click.option(
    "--word", "meanings", metavar="WORD=QUALITY", multiple=True, help="The quality that a word means, such as fine=1."
)
@as_json
def agreement(
    file: str,
    more: tuple[str, ...],
    text: str,
    labels: tuple[str, ...],
    trait: str | None,
    meanings: tuple[str, ...],
    as_json: bool,
) -> None:
    """Compare the labels of several raters in a CSV, JSONL or Parquet FILE; `-` reads stdin.

    Prints the agreement of every two raters by trait: Cohen's kappa with its 95 % interval. Labels are numbers from 0
    to 1 or words; empty cells are left out. The exit code is 2 if the file or a column cannot be used.

    Example: traitbench agreement labels.csv --text review --labels gpt anna
    """
    from traitbench.tables import agreement as shown

    raters = tuple(dict.fromkeys((*labels, *more)))
    try:
        table = read_table(file)
    except Refused as error:
        raise Misasked(error.message) from error
    check_columns(table, (text, trait, *raters))
    if len(raters) < 2:
        raise click.UsageError("Name at least two columns of labels, one for each rater: --labels gpt anna.")
    by_trait = _ratings(table, text, trait, {rater: _words(table, rater, meanings) for rater in raters})
    compared = [pair for ratings in by_trait.values() for pair in shown.all_pairs(ratings)]
    alphas = {name: value for ratings in by_trait.values() for name, value in shown.alphas(ratings).items()}
    _say_contradictions(by_trait)
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


def _words(table: Table, rater: str, meanings: Sequence[str]) -> dict[str, float]:
    """The quality of each word in a column."""
    used = words(table, rater)
    known = {word: each for word, each in guess_words(used, ()).items() if each is not None}
    known |= dict(map(meaning, meanings))
    if unknown := [word for word in used if word not in known]:
        named = ", ".join(map(repr, unknown[:_MOST_WORDS]))
        more = f" and {len(unknown) - _MOST_WORDS:,} more" if len(unknown) > _MOST_WORDS else ""
        raise click.UsageError(
            f"The meaning of these labels in {rater} is unknown: {named}{more}. Say what they mean, from 0 for the"
            f" negative pole to 1 for the positive one, such as --word '{unknown[0]}=1'."
        )
    return known


def _ratings(
    table: Table, text: str, trait: str | None, words_of: Mapping[str, Mapping[str, float]]
) -> "dict[str, Ratings]":
    """The labels by trait."""
    # With numpy and scipy, for which no other command waits.
    from traitbench.tables.rating_files import Columns, read_ratings

    parts: dict[str, list[int]] = {}
    for at, row in enumerate(table.rows):
        parts.setdefault(row.cells.get(trait, "").strip() or _ALL if trait else _ALL, []).append(at)
    by_trait = {
        name: read_ratings(
            replace(table, rows=tuple(table.rows[at] for at in rows)), Columns(text, None, name, words_of), ()
        )
        for name, rows in parts.items()
    }
    problems = {problem: None for ratings in by_trait.values() for problem in ratings.problems}
    if problems:
        tell_problems([(each.row, f"{each.column} {each.reason}".strip()) for each in problems])
        raise Misasked(f"Nothing was compared: {count(len(problems), 'bad row')}. Correct the file.")
    if not any(ratings.items for ratings in by_trait.values()):
        raise Misasked("The columns have no labels.")
    return {name: ratings for name, ratings in by_trait.items() if ratings.items}


def _say_contradictions(by_trait: "Mapping[str, Ratings]") -> None:
    for name, ratings in by_trait.items():
        for rater, number in ratings.contradictions.items():
            of = "" if name == _ALL else f" for {name}"
            click.echo(f"{rater} labels {count(number, 'text')} in two ways{of}; these labels are left out.", err=True)
