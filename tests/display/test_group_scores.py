"""The chart of groups: only a difference that is shown has a colour, and words say the same."""

import pandas as pd

from traitbench.display.charts import group_scores
from traitbench.display.colours import PALETTE, SIDES


def groups(*standing: str) -> pd.DataFrame:
    count = len(standing)
    columns = {"rows": 40, "mean": [30.0 + 20 * n for n in range(count)], "median": 50.0, "above": 50.0}
    return pd.DataFrame({"region": [f"r{n}" for n in range(count)], **columns, "standing": standing})


def test_only_a_difference_that_is_shown_has_a_colour() -> None:
    drawn = group_scores.figure(groups("lower", "none", "higher", "few"), PALETTE, fewest=8)
    neutral = SIDES[None].colour
    assert list(drawn.data[0].marker.color) == [SIDES[False].colour, neutral, SIDES[True].colour, neutral]
    assert list(drawn.data[0].text) == ["30 lower", "50", "70 higher", "90"]
    assert "r1 50 of 40 rows, no difference shown" in group_scores.alt(groups("lower", "none"), "Tone", fewest=8)
    assert group_scores.finding(groups("lower", "none", "higher"), fewest=8).startswith("In colour: 2 of 3 groups")


def test_no_difference_is_said_in_words() -> None:
    assert group_scores.finding(groups("none", "none"), fewest=8) == (
        "No difference shown: random groups differ as much as these."
    )
    assert group_scores.finding(groups("few", "few"), fewest=8) == "No group has the 8 rows that a comparison needs."
    assert list(group_scores.table(groups("none", "few"), fewest=8)["Compared"]) == [
        *("no difference shown", "fewer than 8 rows to compare")
    ]
