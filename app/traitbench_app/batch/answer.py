"""What a batch says about a trait: the share of its texts on each side, in words and as one bar."""

from dataclasses import dataclass

import pandas as pd
import streamlit as st

from traitbench.contract.traits import Trait
from traitbench.display.colours import SIDES
from traitbench.display.pictures import shares
from traitbench.display.text import count, plain, shortened
from traitbench_app.batch.columns import score_of, sure_of
from traitbench_app.workspace.batches import Batch

_LONGEST, _MIDDLE = 40, 50


@dataclass(frozen=True)
class Sides:
    """How many scored texts are clearly or probably at each pole, and how many have no clear side."""

    negative: int
    positive: int
    neither: int


def sides_of(frame: pd.DataFrame, key: str) -> Sides:
    """Count the sides of a trait over all scored rows."""
    score, claimed = frame[score_of(key)], frame[sure_of(key)].astype("object").isin(["moderate", "high"])
    positive, negative = (int((claimed & side).sum()) for side in (score > _MIDDLE, score < _MIDDLE))
    return Sides(negative, positive, int(score.notna().sum()) - negative - positive)


def draw_answer(frame: pd.DataFrame, job: Batch, trait: Trait) -> None:
    """Draw the shares as the title, what they are of, and the bar; nothing if no text was scored."""
    sides = sides_of(frame, trait.key)
    of = sides.negative + sides.positive + sides.neither
    if not of:
        return
    negative, positive = (plain(shortened(each, _LONGEST)) for each in (trait.negative_label, trait.positive_label))
    st.header(
        f"{_percent(sides.positive, of)} :{SIDES[True].badge}[{positive}], "
        f"{_percent(sides.negative, of)} :{SIDES[False].badge}[{negative}], "
        f"{_percent(sides.neither, of)} no clear side",
        anchor=False,
    )
    name = f" about {plain(shortened(trait.name, _LONGEST))}" if len(job.traits) > 1 else ""
    st.markdown(
        f"Of {count(of, 'text')} in {plain(job.name)}{name}. This counts scores, and scores err: **What share?** gives "
        "an interval."
    )
    poles = {"negative": trait.negative_label, "positive": trait.positive_label}
    st.html(shares(sides.negative, sides.neither, sides.positive, **poles))


def _percent(part: int, of: int) -> str:
    share = 100 * part / of
    return f"{share:.1f} %" if 0 < share < 1 or 99 < share < 100 else f"{share:.0f} %"
