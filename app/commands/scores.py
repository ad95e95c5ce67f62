"""`traitbench score` and `compare`."""

import math
from typing import get_args

import click

from traitbench.app.commands import asking
from traitbench.app.commands.asking import InputFile, as_json, connected, given_text, text_of
from traitbench.app.commands.batch import Form, Order, score_file
from traitbench.app.commands.reasons import say_reasons
from traitbench.app.commands.showing import say_json, say_text
from traitbench.barchart import draw
from traitbench.contract.batch import Mode


@click.command()
@click.argument("handle")
@click.argument("text", required=False)
@click.option("--file", type=InputFile(), help="Score its text.")
@asking.traits
@click.option("--feedback", "words", metavar="TRAIT=WORD", multiple=True, help="What it should be: good, 0.7, a pole.")
@click.option("--explain", is_flag=True, help="Say what each part adds, and which samples are most like the text.")
@click.option("--batch", type=InputFile(), help="Score each row of a CSV, JSONL or Parquet file; - for stdin.")
@click.option("--column", help="The column of the texts of a batch; found out when left out.")
@click.option("-o", "--output", type=click.Path(dir_okay=False, allow_dash=True), help="Where a batch is written to.")
@click.option("--format", "form", type=click.Choice(get_args(Form)), help="How; as the name of -o says, or the batch.")
@click.option("--mode", type=click.Choice(get_args(Mode)), help="full, or what is faster and less exact.")
@click.option("--resume", is_flag=True, help="Go on with a batch that was interrupted, where its -o ends.")
@as_json
def score(
    handle: str,
    text: str | None,
    file: str | None,
    traits: list[str] | None,
    words: tuple[str, ...],
    explain: bool,
    batch: str | None,
    column: str | None,
    output: str | None,
    form: Form | None,
    mode: Mode | None,
    resume: bool,
    as_json: bool,
) -> None:
    """Score a TEXT, or every row of a file.

    `-` as the TEXT, or nothing in a pipe, reads stdin. The HANDLE may name a version: a.b@v3.

    With --batch every row is scored by itself: rows that cannot be are told by their line and the others go on; the
    exit code is then 1. CSV and Parquet out have the columns that came in, then the scores; JSONL out has line, row,
    and card or error. Until it is complete, OUT is OUT.part: when the command is interrupted, or killed, the same one
    with --resume goes on with it, by the same version, and no row is lost or scored twice.
    """
    if batch is None:
        if column or output or form or mode or resume:
            raise click.UsageError("--column, --output, --format, --mode and --resume go with --batch.")
        _score(handle, given_text(text, file), traits, words, explain=explain, as_json=as_json)
        return
    if text is not None or file is not None or words or explain:
        raise click.UsageError("With --batch there is no TEXT, no --file, no --feedback and no --explain.")
    form = "jsonl" if as_json else form
    score_file(Order(handle, batch, traits, mode or "full", column, output, form, resume))


@click.command()
@click.argument("handle")
@click.argument("texts", metavar="[A] [B]", nargs=-1)
@click.option("--file-a", type=InputFile(), help="The text A is in this file; - for stdin.")
@click.option("--file-b", type=InputFile(), help="The text B is in this file; - for stdin.")
@asking.traits
@as_json
def compare(
    handle: str,
    texts: tuple[str, ...],
    file_a: str | None,
    file_b: str | None,
    traits: list[str] | None,
    as_json: bool,
) -> None:
    """Score two texts, and what changes from A to B."""
    files = (file_a, file_b)
    if len(texts) + sum(file is not None for file in files) != 2 or [*texts, *files].count("-") > 1:
        raise click.UsageError("Give two texts: A and B, or --file-a, --file-b in their place; one of them may be -.")
    rest = iter(texts)
    a, b = (given_text(next(rest), None) if file is None else text_of(file) for file in files)
    with connected() as client:
        if as_json:
            say_json(client.scores.compare(handle, a, b, traits=traits))
        else:
            say_text(client.scores.compare_chart(handle, a, b, traits=traits))


def _score(
    handle: str, text: str, traits: list[str] | None, words: tuple[str, ...], *, explain: bool, as_json: bool
) -> None:
    feedback = dict(map(_feedback, words)) or None
    with connected() as client:
        card = client.scores.score(handle, text, traits=traits, feedback=feedback, explain=explain)
    if as_json:
        say_json(card)
        return
    say_text(draw(card))
    say_reasons(card, text)
    if card.metadata.sample_ids:
        kept = ", ".join(map(str, card.metadata.sample_ids))
        click.echo(f"The feedback waits for the next retraining, as {kept}.", err=True)


def _feedback(option: str) -> tuple[str, float | str]:
    trait, equals, word = option.partition("=")
    if not (trait and equals and word):
        raise click.UsageError(f"--feedback {option} is not TRAIT=WORD.")
    try:
        number = float(word)
    except ValueError:
        return trait, word
    return trait, number if math.isfinite(number) else word
