"""`traitbench texts`: add, list, delete. People label them on the page Label."""

from pathlib import Path

import click

from traitbench.as_read import is_blank
from traitbench.cli.options import STDIN, FileOptions, InputFile, answers, confirm, reads_file, yes
from traitbench.cli.output import Listing, Output
from traitbench.client import Traitbench
from traitbench.contract.labelling import LONGEST_SOURCE, UnlabelledText
from traitbench.contract.page import LARGEST_POSITION_PAGE
from traitbench.contract.samples import LONGEST_TEXT
from traitbench.display.text import count


@click.group()
def texts() -> None:
    """Manage the texts to label of a model. People label them on the page Label."""


@texts.command("add")
@click.argument("handle")
@click.argument("file", type=InputFile())
@reads_file("--text")
@answers
def add_texts(client: Traitbench, handle: str, file: str, of_file: FileOptions) -> Output:
    """Add the texts of a CSV, Excel, JSONL, Parquet or text FILE; `-` reads stdin.

    Texts that the model has already are left as they are, so the same file can be added again. Blank and too long texts
    are left out and counted.
    """
    source, column = of_file.texts(file, of_file.open(file))
    table = source.whole
    values = [row.cells.get(column, "") for row in table.rows]
    usable = [each for each in values if not is_blank(each) and len(each) <= LONGEST_TEXT]
    if left_out := len(values) - len(usable) + len(table.problems):
        of = count(left_out + len(usable), "row")
        reasons = f"unreadable, blank, or over {LONGEST_TEXT:,} characters"
        click.echo(f"{file}: {left_out:,} of {of} left out: {reasons}.", err=True)
    added = client.texts.add(handle, usable, source=None if file == STDIN else Path(file).name[:LONGEST_SOURCE])
    known = f" {count(added.known, 'text was', 'texts were')} there already." if added.known else ""
    return Output(added, f"Added {count(added.added, 'text')} to {handle}.{known}")


@texts.command("list")
@click.argument("handle")
@answers
def list_texts(client: Traitbench, handle: str) -> Listing[UnlabelledText]:
    """List the texts that were brought, whether they have labels now or not."""
    return Listing(
        client.texts.list(handle, limit=LARGEST_POSITION_PAGE),
        "text",
        ("ID", "FROM", "ADDED (UTC)", "BY", "TEXT"),
        lambda each: (each.id, each.source, f"{each.added_at:%Y-%m-%d %H:%M}", each.by, each.text),
    )


@texts.command("delete")
@click.argument("handle")
@click.argument("text_ids", metavar="[ID...]", type=int, nargs=-1)
@yes
@answers
def delete_texts(client: Traitbench, handle: str, text_ids: tuple[int, ...], yes: bool) -> Output:
    """Delete texts by their ids, up to 500, or all of them, with what was decided about them. Samples stay."""
    if not text_ids:
        confirm(f"This deletes all texts to label of {handle}, and what was decided about them.", yes=yes)
    deleted = client.texts.delete(handle, text_ids or None)
    return Output(deleted, f"Deleted {count(deleted.count, 'text')} of {handle}.")
