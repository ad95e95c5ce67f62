"""What a batch says about a trait: the share of its texts on each side, in words and as one bar."""

import pandas as pd
import streamlit as st

from traitbench.contract.traits import Trait
from traitbench.display.colours import SIDES
from traitbench.display.pictures import shares
from traitbench.display.text import count, plain, shortened
from traitbench_app.batch.columns import score_of, side_of
from traitbench_app.workspace.batches import Batch

_LONGEST = 40


def sides_of(frame: pd.DataFrame, key: str) -> tuple[int, int, int]:
    """Return how many scored texts are at the negative pole, have no clear side, and are at the positive pole."""
    sides = frame[side_of(key)][frame[score_of(key)].notna()]
    negative, neither, positive = (int((sides == side).sum()) for side in (-1, 0, 1))
    return negative, neither, positive


def draw_answer(frame: pd.DataFrame, job: Batch, trait: Trait) -> None:
    """Draw the shares as the title, what they are of, and the bar; nothing if no text was scored."""
    negative, neither, positive = sides_of(frame, trait.key)
    of = negative + neither + positive
    if not of:
        return
    left, right = (plain(shortened(each, _LONGEST)) for each in (trait.negative_label, trait.positive_label))
    # While the batch runs, its title says how far it is.
    title = st.subheader if job.state == "running" else st.header
    title(
        f"{_percent(positive, of)} :{SIDES[True].badge}[{right}], "
        f"{_percent(negative, of)} :{SIDES[False].badge}[{left}], "
        f"{_percent(neither, of)} no clear side",
        anchor=False,
    )
    name = f" about {plain(shortened(trait.name, _LONGEST))}" if len(job.traits) > 1 else ""
    st.markdown(
        f"Of {count(of, 'text')} in {plain(job.name)}{name}. Scores can be wrong: **What share?** gives an interval."
    )
    st.html(shares(negative, neither, positive, negative=trait.negative_label, positive=trait.positive_label))


def _percent(part: int, of: int) -> str:
    share = 100 * part / of
    return f"{share:.1f} %" if 0 < share < 1 or 99 < share < 100 else f"{share:.0f} %"
