"""The figures of one trait in one version or two: how reliable its scores are, and poles by tiers, whose cells open."""

from collections.abc import Mapping, Sequence
from html import escape

import pandas as pd
import streamlit as st

from traitbench.contract.metrics import POLES, Confusion, HeldOutFigures, Pole, TraitMetrics
from traitbench.contract.models import Model
from traitbench.contract.rounding import in_decimals
from traitbench.contract.scores import Tier
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.display.charts.auroc import Measured
from traitbench.display.colours import NEGATIVE_SIGN, PALETTE, POSITIVE_SIGN, TIER_NAMES, TIERS, seen_through
from traitbench.display.text import plain, shortened
from traitbench_app.parts.chart import download_table
from traitbench_app.parts.scored_samples import draw_cell_texts, pole_in_words
from traitbench_app.parts.training_report import curve_of, draw_curves, draw_outlook

"""A version's label, and its figures of the trait."""

_HELP = {
    "AUROC": "How often a positive sample scores above a negative one. 0.5 is chance, 1 is perfect.",
    "Brier": "Mean squared difference between score and quality. 0 is perfect; a constant score of 50 gets 0.25.",
    "Calibration error": "How far scores are from actual frequencies: of samples that score 80, 80 in 100 should be "
    "positive. Both poles count the same. 0 is perfect.",
    "Cross-entropy": "Penalty for scores that are confident and wrong, in nats. 0 is perfect; a constant score of 50 "
    "gets 0.69.",
}
_TEST_HELP = {
    "AUROC, test samples": _HELP["AUROC"],
    "Wrong side": "The share of test samples that score on the other pole's side of the middle.",
    "Brier, test samples": _HELP["Brier"],
    "Must-pass": "How many of the samples that must pass score on their own pole's side.",
}
_NAME = 40


def pick_trait(names: Mapping[str, str]) -> str:
    """The trait to show, which is part of the link; draws no choice if there is only one."""
    if len(names) == 1:
        return next(iter(names))
    return str(
        st.selectbox(
            "Trait",
            list(names),
            format_func=lambda key: names.get(key, key),
            key="trait",
            bind="query-params",
            width=320,
        )
    )


def draw_trait(model: Model, trait: Trait | None, shown: Version, *, own: str, key: str, file_name: str) -> None:
    """Draw the figures of the trait with the key `own` in a version; the cells of its tiers open their texts."""
    figures = shown.metrics.traits[own]
    if figures.why_not:
        st.markdown(f"**Not measured in v{shown.version_no}:** {plain(figures.why_not)}.")
    else:
        left, right = st.columns(2, gap="large")
        with left:
            opened = _draw_tiers(trait, figures, key=f"{key}.tiers", file_name=f"{file_name}-tiers")
        with right:
            _draw_curve(model, trait, shown, figures, key=f"{key}.curve", file_name=f"{file_name}-curve")
        if opened and trait:
            pole, tier = opened
            positive = pole == "positive"
            draw_cell_texts(
                model, shown, trait, lambda each: (each.positive, each.tier) == (positive, tier),
                title=f"**{pole_in_words(positive, trait)} in tier {tier}**", key=f"{key}.texts",
            )  # fmt: skip
        _draw_test_numbers(figures.test)
        _draw_numbers(figures)


def _draw_test_numbers(test: HeldOutFigures | None) -> None:
    """Draw the figures on test samples, which come first; nothing if there are none."""
    if test is None:
        return
    interval = Measured("", test.auroc, test.auroc_interval, "").text.partition(" ")[2].strip("()")
    passed = f"{test.must_pass - test.must_pass_failed:,} of {test.must_pass:,}" if test.must_pass else "–"
    with st.grid(4, min_column_width=150):
        for name, shown, note in (
            ("AUROC, test samples", "–" if test.auroc is None else in_decimals(test.auroc), interval),
            ("Wrong side", "–" if test.error is None else f"{test.error:.0%}", ""),
            ("Brier, test samples", "–" if test.brier is None else f"{test.brier:.3f}", ""),
            ("Must-pass", passed, ""),
        ):
            _draw_number(name, shown, note, _TEST_HELP[name])
    st.caption(f"Measured on: {plain(test.measured_on or 'unknown')}. Out of fold:")


def _draw_numbers(figures: TraitMetrics) -> None:
    interval = Measured("", figures.auroc, figures.auroc_interval, "").text.partition(" ")[2].strip("()")
    with st.grid(4, min_column_width=150):
        for name, value, note in (
            ("AUROC", figures.auroc, interval),
            ("Brier", figures.brier, ""),
            ("Calibration error", figures.calibration_error, ""),
            ("Cross-entropy", figures.cross_entropy, ""),
        ):
            shown = "–" if value is None else in_decimals(value) if name == "AUROC" else f"{value:.3f}"
            _draw_number(name, shown, note, _HELP[name])
    st.caption(f"Measured on: {plain(figures.measured_on or 'unknown')}.")


def _draw_number(name: str, shown: str, note: str, explained: str) -> None:
    st.metric(
        name,
        shown,
        delta=note or None,
        delta_color="off",
        delta_arrow="off",
        help=explained,
        border=True,
        height="stretch",
    )


def _draw_curve(
    model: Model, trait: Trait | None, shown: Version, figures: TraitMetrics, *, key: str, file_name: str
) -> None:
    st.markdown("**Gain from more samples**")
    if figures.curve:
        draw_curves([curve_of(f"v{shown.version_no}", figures)], key=key, file_name=file_name)
    else:
        st.caption(_why_no_curve(figures))
    if trait:
        draw_outlook(model, trait, figures)


def _why_no_curve(figures: TraitMetrics) -> str:
    if figures.curve is None:
        return "No learning curve was measured. Train again to get one."
    return "No learning curve: there are too few samples."


def _draw_tiers(trait: Trait | None, figures: TraitMetrics, *, key: str, file_name: str) -> tuple[Pole, Tier] | None:
    """Draw the table and return the open cell, if any."""
    st.markdown("**Held-out samples by tier**")
    if not figures.confusion:
        st.caption("No table was measured. Train again to get one.")
        return None
    poles = (trait.positive_label, trait.negative_label) if trait else ("positive", "negative")
    opens = trait is not None and trait.kind == "extrinsic"
    named = (shortened(poles[0], _NAME), shortened(poles[1], _NAME))
    return draw_confusion(figures.confusion, named, key=key, file_name=file_name, opens=opens)


_CSS = """
:host { display: block; overflow-x: auto; padding-bottom: 4px; color: var(--st-text-color); font: inherit; }
button {
  all: unset; box-sizing: border-box; display: block; width: 100%; text-align: center; cursor: pointer;
  border-radius: 4px; font-variant-numeric: tabular-nums;
}
button:hover b { text-decoration: underline; }
button:empty:hover { background: color-mix(in srgb, var(--st-text-color) 8%, transparent); }
button:focus-visible, button[aria-pressed="true"] { outline: 2px solid var(--st-primary-color); outline-offset: 2px; }
button:disabled { cursor: default; }
button:disabled:hover b { text-decoration: none; }
"""

_JS = """
export default function ({ data, parentElement, setStateValue }) {
  const place = parentElement.querySelector('.cells')
  if (place.dataset.shown !== data.html) {
    place.innerHTML = data.html
    place.dataset.shown = data.html
  }
  for (const button of place.querySelectorAll('button')) {
    button.setAttribute('aria-pressed', String(button.dataset.cell === data.pressed))
    button.onclick = () => setStateValue('pressed', `${button.dataset.cell} ${Date.now()}`)
  }
}
"""

_cells = st.components.v2.component("traitbench_cells", html='<div class="cells"></div>', css=_CSS, js=_JS)


def draw_cells(html: str, *, key: str) -> str | None:
    """Draw HTML whose buttons have `data-cell`; return the pressed cell, which a second press closes."""
    opened_key = f"{key}.open"

    def press() -> None:
        cell = str(st.session_state[key].get("pressed") or "").partition(" ")[0]
        st.session_state[opened_key] = None if st.session_state.get(opened_key) == cell else cell

    opened = st.session_state.get(opened_key)
    _cells(data={"html": html, "pressed": opened or ""}, key=key, on_pressed_change=press)
    return opened if isinstance(opened, str) and opened else None


_SIGNS: dict[Pole, str] = {"positive": POSITIVE_SIGN, "negative": NEGATIVE_SIGN}
_COLOURS: dict[Pole, str] = {"positive": PALETTE.positive, "negative": PALETTE.negative}
_FAINTEST, _DARKEST = 0.08, 0.55
_TABLE = "border-collapse:separate;border-spacing:3px;width:100%;max-width:44rem;table-layout:fixed"
_HEAD = "font-weight:600;font-size:0.8rem;text-align:center;padding:0.2rem 0;overflow-wrap:anywhere;border:0"
_SIDE = "font-weight:600;font-size:0.8rem;text-align:left;padding:0.3rem 0;border:0"
_CELL = "text-align:center;padding:0.45rem 0.1rem;border:0;border-radius:4px;font-variant-numeric:tabular-nums"


def draw_confusion(
    confusion: Confusion,
    poles: tuple[str, str],
    *,
    key: str,
    file_name: str,
    opens: bool = False,
) -> tuple[Pole, Tier] | None:
    """Draw the table; `poles` are the positive and the negative label.

    With `opens`, its cells are buttons; return the pole and the tier of the open cell.
    """
    pressed = None
    html = _table(confusion, dict(zip(POLES, poles, strict=True)), opens=opens)
    if opens:
        pressed = draw_cells(html, key=f"{key}.cells")
    else:
        st.html(html)
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        press = " Press a cell to read its texts." if opens else ""
        st.caption(
            "Samples by pole and by the tier of their held-out score. In a good trait, positive samples are on the "
            f"right and negative samples on the left.{press}",
            width="stretch",
        )
        download_table(_frame(confusion, poles), key=key, file_name=file_name)
    return _cell_of(pressed)


def _cell_of(pressed: str | None) -> tuple[Pole, Tier] | None:
    """The pole and the tier of a cell's name; None for a name of no cell."""
    return next(((pole, tier) for pole in POLES for tier in TIER_NAMES if pressed == _name(pole, tier)), None)


def _name(pole: Pole, tier: Tier) -> str:
    return f"{pole}.{tier}"


def _table(confusion: Confusion, labels: dict[Pole, str], *, opens: bool) -> str:
    """Return the counts as an HTML table; a darker cell has a larger share of its row."""
    heads = [f"{TIERS[tier].glyph} {tier}" for tier in TIER_NAMES]
    first = "".join(f'<th scope="col" style="{_HEAD}">{escape(head)}</th>' for head in heads)
    body = "".join(
        _row(
            f"{_SIGNS[pole]} {labels[pole]}",
            [confusion[pole][tier] for tier in TIER_NAMES],
            _COLOURS[pole],
            heads,
            [_name(pole, tier) if opens else "" for tier in TIER_NAMES],
        )
        for pole in POLES
    )
    corner = f'<td style="{_HEAD}"></td>'
    return f'<table style="{_TABLE}" aria-label="Held-out scores by tier"><tr>{corner}{first}</tr>{body}</table>'


def _row(head: str, counts: Sequence[int], colour: str, heads: Sequence[str], names: Sequence[str]) -> str:
    cells = "".join(
        _cell(count, sum(counts), colour, name, f"{count:,} of {head}, {column}: show the texts")
        for count, column, name in zip(counts, heads, names, strict=True)
    )
    return f'<tr><th scope="row" style="{_SIDE};overflow-wrap:anywhere">{escape(head)}</th>{cells}</tr>'


def _cell(samples: int, whole: int, colour: str, name: str, says: str) -> str:
    share = samples / whole if whole else 0.0
    background = f"background:{seen_through(colour, _FAINTEST + (_DARKEST - _FAINTEST) * share)}"
    part = f'<div style="font-size:0.75rem;opacity:0.8">{share:.0%}</div>' if whole else ""
    content = f"<b>{samples:,}</b>{part}"
    if name:
        disabled = "" if samples else " disabled"
        content = f'<button data-cell="{escape(name)}" aria-label="{escape(says)}"{disabled}>{content}</button>'
    return f'<td style="{_CELL};{background}">{content}</td>'


def _frame(confusion: Confusion, poles: tuple[str, str]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"Pole": name, **{tier: confusion[pole][tier] for tier in TIER_NAMES}}
            for pole, name in zip(POLES, poles, strict=True)
        ]
    )
