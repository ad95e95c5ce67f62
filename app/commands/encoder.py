"""`traitbench encoder`: check a folder with an encoder. The service need not run."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from traitbench.app.commands.asking import Refused, as_json
from traitbench.app.commands.showing import say_fields, say_table
from traitbench.settings import read_settings

if TYPE_CHECKING:
    from traitbench.encoders import EncoderUnavailable
    from traitbench.encoders.check import Pair, Report


@click.group()
def encoder() -> None:
    """Check encoders in folders.

    These commands read the folder directly. The service need not run.
    """


@encoder.command("check")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@as_json
def check_folder(folder: Path, as_json: bool) -> None:
    """Show how TRAITBENCH_ENCODER=FOLDER would be read, and why.

    Prints the graph, its precision, pooling, prompt, length and speed, and compares ten pairs of sentences. The exit
    code is 1 if the folder is refused or the vectors do not make sense. For a choice that the folder leaves open, the
    command prints what to write into traitbench.json.
    """
    # Imported here: reading models is heavy, and other commands need none of it.
    from traitbench.encoders import EncoderUnavailable
    from traitbench.encoders.check import check

    path = folder.absolute()
    try:
        report = check(path, cache=read_settings().cache)
    except EncoderUnavailable as error:
        if as_json:
            click.echo(json.dumps(_refusal(path, error), indent=2))
        raise Refused(str(error)) from error
    if as_json:
        click.echo(json.dumps(report.to_json(), indent=2))
    else:
        _say(report)
    if not report.sane:
        raise Refused(
            f"The vectors do not make sense: in {25 - report.in_order} of 25 comparisons, a pair of sentences that are"
            " unlike is as close as a pair alike. Check the graph, its tokenizer and its language: the sentences are"
            " English."
        )


def _say(report: "Report") -> None:
    say_fields(
        (
            ("folder", report.folder),
            ("encoder", f"{report.id}, {report.dimension:,} numbers a text with the blocks that Traitbench adds"),
            *((fact.name, f"{fact.value}. {fact.why}") for fact in report.facts),
            ("speed", f"{report.ms_per_text:.2f} ms a text (median of short texts, one at a time)"),
        )
    )
    click.echo()
    say_table(("COSINE", "EXPECTED", "SENTENCES"), _rows(report.pairs))
    click.echo(f"\n{report.in_order} of 25 comparisons of a pair alike with a pair unlike are in order.")


def _rows(pairs: "Sequence[Pair]") -> list[tuple[str, str, str]]:
    return [
        (f"{pair.cosine:.2f}", "alike" if pair.alike else "unlike", f"{pair.first} / {pair.second}") for pair in pairs
    ]


def _refusal(folder: Path, error: "EncoderUnavailable") -> dict[str, object]:
    from traitbench.encoders.folder_settings import ChoiceOpen

    answer: dict[str, object] = {"folder": str(folder), "usable": False, "sane": None, "error": str(error)}
    if isinstance(error, ChoiceOpen):
        answer["write"] = {"file": str(error.file), "example": error.example}
        answer["choices"] = [
            {"setting": choice.setting, "question": choice.question, "options": list(choice.options)}
            for choice in error.choices
        ]
    return answer
