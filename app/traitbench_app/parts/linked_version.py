"""The version in a link to a page that scores, if it does not exist."""

from collections.abc import Collection

from traitbench.display.text import plain
from traitbench_app.shell import session


def say_if_gone(chosen: str, offered: Collection[str]) -> None:
    """Say that the version of a link does not exist, so that nobody takes the scores of the active one for its own.

    The picker forgets an unknown version at once; then this says nothing more.
    """
    if chosen and offered and chosen not in offered:
        session.flash(f"{plain(chosen)} does not exist. The version in use scores instead.", "problem")
        session.show_flashes()
