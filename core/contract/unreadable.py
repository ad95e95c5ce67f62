"""What a listing says of a row that it could not read."""

from traitbench.contract.fields import Returned


class Unreadable(Returned):
    """`item` is the handle of a model, `vN`, the id of a sample or the key of a trait, or `row N` where that is
    unreadable too; `reason` says what is wrong with the row."""

    item: str
    reason: str
