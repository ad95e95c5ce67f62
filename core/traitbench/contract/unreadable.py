"""Rows of a listing that could not be read, on the wire."""

from traitbench.contract.fields import Returned


class Unreadable(Returned):
    """A row that could not be read, and the reason.

    `item` is the handle of a model, `vN`, the id of a sample or the key of a trait; `row N` if that is unreadable too.
    """

    item: str
    reason: str
