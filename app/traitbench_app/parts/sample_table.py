"""What tables of samples share: the height of rows, and words for where samples come from."""

from collections.abc import Mapping

from traitbench.contract.samples import Provenance

ROW_HEIGHT, _HEADER_HEIGHT = 34, 36

ORIGINS: Mapping[Provenance, str] = {
    "authored": "Written or imported",
    "score_feedback": "Corrections of scores",
    "synthesized": "Synthesized",
}
"""Where samples come from, in words."""


def table_height(rows: int, *, most: int) -> int:
    """The height in pixels of a table that shows all its rows, up to `most`."""
    return ROW_HEIGHT * min(max(rows, 1), most) + _HEADER_HEIGHT
