"""`traitbench proposed`: list, delete."""

import click

from traitbench.cli.options import answers, confirm, yes
from traitbench.cli.output import Listing, Output
from traitbench.client import Traitbench
from traitbench.contract.page import LARGEST_SAMPLE_PAGE
from traitbench.contract.proposed import ProposedLabel
from traitbench.display.text import count


@click.group()
def proposed() -> None:
    """Manage labels that other programs proposed. No version is trained with them."""


@proposed.command("list")
@click.argument("handle")
@answers
def list_proposed(client: Traitbench, handle: str) -> Listing[ProposedLabel]:
    """List proposed labels, newest first."""
    return Listing(
        client.proposed.list(handle, limit=LARGEST_SAMPLE_PAGE),
        "label",
        ("ID", "TRAIT", "VALUE", "PROPOSED (UTC)", "TEXT"),
        lambda each: (each.id, each.trait, f"{each.value:g}", f"{each.proposed_at:%Y-%m-%d %H:%M}", each.text),
    )


@proposed.command("delete")
@click.argument("handle")
@click.argument("label_ids", metavar="[ID...]", type=int, nargs=-1)
@yes
@answers
def delete_proposed(client: Traitbench, handle: str, label_ids: tuple[int, ...], yes: bool) -> Output:
    """Delete proposed labels by their ids, up to 500, or all of them."""
    if not label_ids:
        confirm(f"This deletes all labels that were proposed for {handle}. They cannot be brought back.", yes=yes)
    deleted = client.proposed.delete(handle, label_ids or None)
    return Output(deleted, f"Deleted {count(deleted.count, 'proposed label')} of {handle}.")
