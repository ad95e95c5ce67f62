"""The chart of groups: only a difference that is shown is in ink, and words say so."""

import pandas as pd

from traitbench.display.charts import group_scores
from traitbench.display.colours import PALETTE

INK = "#171A21"


def groups(*standing: str) -> pd.DataFrame:
    means = [30.0 + 20 * n for n in range(len(standing))]
    columns = {"rows": 40, "mean": means, "low": [mean - 4 for mean in means], "high": [mean + 4 for mean in means]}
    names = [f"r{n}" for n in range(len(standing))]
    return pd.DataFrame({"region": names, **columns, "median": 50.0, "above": 50.0, "standing": standing})


def test_only_a_difference_that_is_shown_is_in_ink_and_says_so() -> None:
    drawn = group_scores.figure(groups("lower", "none", "higher", "few"), PALETTE, ink=INK, mean=50)
    grey, shown = drawn.data
    assert (grey.marker.color, shown.marker.color) == (PALETTE.neutral, INK)
    assert pd.Series(grey.x).tolist()[1::2] == [50, 90]
    assert pd.Series(shown.x).tolist()[::2] == [30, 70]
    assert pd.isna([*grey.x[::2], *shown.x[1::2]]).all(), "each group is in one of the two, at its own place"
    assert [note.text for note in drawn.layout.annotations] == [
        *("<b>30, lower than the rest</b>", "50", "<b>70, higher than the rest</b>", "90")
    ]
    assert list(drawn.layout.yaxis.ticktext) == [f"\u2068r{n}\u2069  40" for n in range(4)]
    assert drawn.layout.xaxis.title.text == "mean score by region, 95 % interval; dashed: all, 50"
    words = group_scores.alt(groups("lower", "none"), "Tone", fewest=8)
    assert "r1 50 (46 to 54) of 40 texts, no difference shown" in words


def test_what_the_comparison_shows_is_a_sentence() -> None:
    assert group_scores.finding(groups("lower", "none", "higher"), fewest=8) == "2 of 3 groups differ from the rest"
    assert group_scores.finding(groups("none", "none"), fewest=8) == "No difference shown between 2 groups"
    assert group_scores.finding(groups("few", "few"), fewest=8) == "No group has the 8 rows that a comparison needs."
    assert list(group_scores.table(groups("none", "few"), fewest=8)["Compared"]) == [
        *("no difference shown", "fewer than 8 rows to compare")
    ]
