"""The confirmation before a model is archived, shared by all pages that offer it."""

from functools import partial

from traitbench.app.shell import session
from traitbench.app.shell.service import client
from traitbench.app.shell.text import plain
from traitbench.app.widgets.common.confirm import asked, confirm

ARCHIVE = "catalog.archive"


def archive() -> None:
    """Draw the confirmation while it is open."""
    if leaving := asked(ARCHIVE):
        confirm(
            ARCHIVE,
            title="Archive this model?",
            body=f"**{plain(leaving)}** stops scoring for every program that uses it. You can still read its traits, "
            "samples and versions, but you cannot restore the model or reuse its name.",
            yes="Archive",
            icon=":material/inventory_2:",
            act=partial(_archive, leaving),
        )


def _archive(handle: str) -> None:
    client().models.delete(handle)
    session.flash(f"{plain(handle)} was archived. To see it, filter the catalog by the state Archived.")
