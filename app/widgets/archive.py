"""The question before a model is archived, wherever it is asked."""

from functools import partial

from traitbench.app import session
from traitbench.app.service import client
from traitbench.app.text import plain
from traitbench.app.widgets.confirm import asked, confirm

ARCHIVE = "catalog.archive"


def archive() -> None:
    """Draw the question while it is open."""
    if leaving := asked(ARCHIVE):
        confirm(
            ARCHIVE,
            title="Archive this model?",
            body=f"**{plain(leaving)}** stops scoring, for every program that uses it. Its traits, samples and "
            "versions can still be read. Its name stays taken, and it cannot be brought back.",
            yes="Archive",
            icon=":material/inventory_2:",
            act=partial(_archive, leaving),
        )


def _archive(handle: str) -> None:
    client().models.delete(handle)
    session.flash(f"{plain(handle)} is archived. The filter by state shows it.")
