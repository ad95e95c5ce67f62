"""The pole balance of a trait: one bar per pole, left and right of a middle line, with the sample counts.

The bars are HTML in the page's own text colour, so they follow the theme at once. All traits of a page share one scale.
"""

from html import escape

import streamlit as st

from traitbench.contract.traits import Trait
from traitbench.display.colours import NEGATIVE_SIGN, NEUTRAL_SIGN, PALETTE, POSITIVE_SIGN
from traitbench.display.text import count, plain

_ROW = "display:flex;align-items:center;gap:0.5rem;line-height:1.35"
_HALF = f"flex:1 1 0;display:flex;height:0.75rem;background:{PALETTE.faint}"
_MIDDLE = "font-size:0.85rem;opacity:0.75;text-align:center"
_NUMBER = "min-width:2.2rem;font-variant-numeric:tabular-nums;font-weight:600"


def balance_bar(trait: Trait, *, most: int) -> None:
    """Draw the bars; `most` is the largest number of samples at any pole of the model."""
    between = trait.sample_count - trait.positive_samples - trait.negative_samples
    counts = (
        (trait.negative_samples, f"at {trait.negative_label}"),
        (trait.positive_samples, f"at {trait.positive_label}"),
        (between, "in between"),
        (trait.held_out_samples, "to test"),
    )
    label = "Samples: " + ", ".join(f"{samples} {where}" for samples, where in counts)
    apart = [f"{NEUTRAL_SIGN} {between:,} in between"] if between else []
    apart += [count(trait.held_out_samples, "test sample")] if trait.held_out_samples else []
    middle = f'<div style="{_MIDDLE}">{" · ".join(apart)}</div>' if apart else ""
    st.html(
        f'<div role="img" aria-label="{escape(label)}">'
        f'<div style="{_ROW};justify-content:space-between;font-size:0.9rem">'
        f'<span style="overflow-wrap:anywhere">{NEGATIVE_SIGN} {escape(trait.negative_label)}</span>'
        f'<span style="overflow-wrap:anywhere;text-align:right">{escape(trait.positive_label)} {POSITIVE_SIGN}</span>'
        "</div>"
        f'<div style="{_ROW}">'
        f'<span style="{_NUMBER}">{trait.negative_samples:,}</span>'
        f'<span style="{_HALF};justify-content:flex-end;border-radius:4px 0 0 4px">'
        f"{_bar(trait.negative_samples, most, PALETTE.negative, '4px 0 0 4px')}</span>"
        f'<span style="width:2px;height:1.1rem;margin:0 -0.5rem;background:{PALETTE.neutral}"></span>'
        f'<span style="{_HALF};border-radius:0 4px 4px 0">'
        f"{_bar(trait.positive_samples, most, PALETTE.positive, '0 4px 4px 0')}</span>"
        f'<span style="{_NUMBER};text-align:right">{trait.positive_samples:,}</span>'
        f"</div>{middle}</div>"
    )


def poles_line(trait: Trait) -> None:
    """Draw only the labels of the two poles."""
    st.markdown(f"{NEGATIVE_SIGN} {plain(trait.negative_label)} ↔ {plain(trait.positive_label)} {POSITIVE_SIGN}")


def _bar(samples: int, most: int, colour: str, radius: str) -> str:
    width = 100 * samples / most if most else 0
    return f'<span style="width:{width:.1f}%;background:{colour};border-radius:{radius}"></span>'
