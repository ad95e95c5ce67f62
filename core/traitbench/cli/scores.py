"""`traitbench score`, `compare` and `extract`."""

import math
from typing import Any, get_args

import click

from traitbench.cli import options
from traitbench.cli.batches import Form, score_file
from traitbench.cli.options import FileOptions, InputFile, answers, as_json, connected, given_text, text_of
from traitbench.cli.output import Output, say_text
from traitbench.cli.reasons import say_reasons
from traitbench.client import Traitbench
from traitbench.contract.batches import Mode
from traitbench.contract.scores import Card
from traitbench.display.barchart import draw, draw_pair
from traitbench.display.scored_rows import Also
from traitbench.display.words import sentences, why_not_high


@click.command()
@click.argument("handle")
@click.argument("text", required=False)
@click.option("--file", type=InputFile(), help="Read the text from a file; - for stdin.")
@options.traits
@click.option(
    "--feedback", "words", metavar="TRAIT=WORD", multiple=True, help="What the score should be: good, 0.7 or a pole."
)
@click.option("--explain", is_flag=True, help="Show what each part adds, and the most similar samples.")
@click.option("--batch", type=InputFile(), help="Score each row of a CSV, Excel, JSONL or Parquet file; - for stdin.")
@options.reads_file()
@options.writes_file("The output file of a batch.")
@click.option(
    "--format",
    "form",
    type=click.Choice(get_args(Form)),
    help="The output format. Default: by the name of -o, else as the input.",
)
@click.option("--mode", type=click.Choice(get_args(Mode)), help="full; the others are faster and less accurate.")
@click.option(
    *("--with", "also"),
    metavar="NAME[,NAME...]",
    multiple=True,
    callback=lambda _context, _option, values: _also(values),
    help="More columns in the output of a batch: tier, composite.",
)
@click.option("--fetch", is_flag=True, help="Score the page of a web address in a batch, not the address.")
@click.option("--resume", is_flag=True, help="Continue an interrupted batch.")
@as_json
def score(
    handle: str,
    text: str | None,
    file: str | None,
    traits: list[str] | None,
    words: tuple[str, ...],
    explain: bool,
    batch: str | None,
    as_json: bool,
    of_file: FileOptions,
    **options_of_batch: Any,
) -> None:
    """Score a TEXT, or every row of a file.

    With `-` as TEXT, or without TEXT in a pipe, read stdin. HANDLE may name a version: a.b@v3.

    With --batch, a row that cannot be scored is reported with its line number, the other rows continue, and the exit
    code is 1. Output has the columns of the input, then row, the columns of each trait such as warmth_score and
    warmth_side, version and error. A column of the input with such a name gets _input behind it. Until it is complete,
    the results are in the folder OUT.part. If the command is interrupted or killed, repeat it with --resume: it
    continues with the same version, and no row is lost or scored twice.
    """
    if batch is None:
        if any(options_of_batch.values()) or of_file != FileOptions():
            raise click.UsageError(
                "--output, --format, --mode, --with, --fetch, --resume and the options of a file, such as --column, "
                "need --batch."
            )
        _score(handle, given_text(text, file), traits, words, explain=explain, as_json=as_json)
        return
    if text is not None or file is not None or words or explain:
        raise click.UsageError("--batch does not take TEXT, --file, --feedback or --explain.")
    score_file(
        handle, batch, traits=traits, of_file=of_file, **options_of_batch | ({"form": "jsonl"} if as_json else {})
    )


@click.command()
@click.argument("handle")
@click.argument("texts", metavar="[A] [B]", nargs=-1)
@click.option("--file-a", type=InputFile(), help="Read text A from a file; - for stdin.")
@click.option("--file-b", type=InputFile(), help="Read text B from a file; - for stdin.")
@options.traits
@answers
def compare(
    client: Traitbench,
    handle: str,
    texts: tuple[str, ...],
    file_a: str | None,
    file_b: str | None,
    traits: list[str] | None,
) -> Output:
    """Score two texts, and show the change from A to B and whether it is sure."""
    files = (file_a, file_b)
    if len(texts) + sum(file is not None for file in files) != 2 or [*texts, *files].count("-") > 1:
        raise click.UsageError("Give two texts, as A and B or with --file-a and --file-b. One of them may be -.")
    rest = iter(texts)
    a, b = (given_text(next(rest), None) if file is None else text_of(file) for file in files)
    comparison = client.scores.compare(handle, a, b, traits=traits)

    def say() -> None:
        say_text("\n".join((draw_pair(comparison), "", *sentences(comparison, {}))))
        _say_why(comparison.a, "a: ")
        _say_why(comparison.b, "b: ")

    return Output(comparison, say)


def _score(
    handle: str, text: str, traits: list[str] | None, words: tuple[str, ...], *, explain: bool, as_json: bool
) -> None:
    feedback = dict(map(_feedback, words)) or None
    with connected() as client:
        card = client.scores.score(handle, text, traits=traits, feedback=feedback, explain=explain)
    Output(card, lambda: _say_card(card, text)).say(as_json=as_json)


def _say_card(card: Card, text: str) -> None:
    say_text(draw(card))
    _say_why(card)
    say_reasons(card, text)
    if card.metadata.sample_ids:
        ids = ", ".join(map(str, card.metadata.sample_ids))
        click.echo(f"The feedback is stored as {ids}, for the next retraining.", err=True)


def _say_why(card: Card, begin: str = "") -> None:
    """Say on stderr why the confidence of traits is not high, as stdout has only the chart."""
    for (level, reason), keys in why_not_high(card).items():
        click.echo(f"{begin}{', '.join(keys)}: {level} confidence. {reason}".rstrip(), err=True)


def _also(values: tuple[str, ...]) -> list[Also]:
    names = [name.strip() for value in values for name in value.split(",") if name.strip()]
    if unknown := [name for name in names if name not in get_args(Also)]:
        raise click.UsageError(f"--with {unknown[0]} is unknown. Use {' or '.join(get_args(Also))}.")
    return [each for each in get_args(Also) if each in names]


def _feedback(option: str) -> tuple[str, float | str]:
    trait, equals, word = option.partition("=")
    if not (trait and equals and word):
        raise click.UsageError(f"--feedback {option} is not TRAIT=WORD.")
    try:
        number = float(word)
    except ValueError:
        return trait, word
    return trait, number if math.isfinite(number) else word


@click.command()
@click.argument("url")
@answers
def extract(client: Traitbench, url: str) -> Output:
    """Print the readable text of the page at a URL.

    The service fetches it, and only from public addresses.
    """
    extracted = client.extract(url)
    return Output(extracted, lambda: say_text(extracted.content))
