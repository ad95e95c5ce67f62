"""The faster modes for batches, and what each of them costs in AUROC."""

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from traitbench.contract.metrics import Figures, TraitMetrics
from traitbench.contract.versions import Version
from traitbench.display.text import count, plain
from traitbench_app.parts.chart import download_table
from traitbench_app.parts.version_figures import on_screen

FULL = "full"
NAMES: Mapping[str, str] = {
    FULL: "Full",
    "layer4": "Layer 4 only",
    "layer6": "Layer 6 only",
    "static": "Static",
}
"""The names of the modes on screen; a mode without one is shown by its key."""

_SPEEDS: Mapping[str, Mapping[str, float]] = {
    "multilingual-e5-l6f-int8-1": {"layer6": 2.1, "static": 40.0},
    "full-l4fws-int8-1": {"layer4": 1.7, "static": 15.0},
}
"""By encoder: texts per second of a batch in each mode, relative to full mode (20-word texts over HTTP)."""


def draw_modes(
    versions: Sequence[tuple[str, Mapping[str, TraitMetrics]]],
    names: Mapping[str, str],
    speeds: Mapping[str, float],
    *,
    key: str,
    file_name: str,
) -> None:
    """Draw the modes of each version (label, figures by trait), full first; nothing if no version has modes."""
    if not any(each.modes for _, figures in versions for each in figures.values()):
        return
    for label, figures in versions:
        before = f"**{label}**: " if len(versions) > 1 else ""
        prices = [sentence for mode in modes_of(figures) if (sentence := price(figures, mode, speeds))]
        if prices:
            st.markdown("\n".join(f"- {before}{sentence}" for sentence in prices))
    rows = pd.concat([table(label, figures, names) for label, figures in versions], ignore_index=True)
    grid = f"{key}.table"
    number = st.column_config.NumberColumn(format="%.3f")
    shown = on_screen(rows, ("AUROC", "95 % from", "95 % to"), 3)
    st.dataframe(
        shown if len(versions) > 1 else shown.drop(columns="Version"),
        hide_index=True,
        width="stretch",
        key=grid,
        placeholder="–",
        column_config={
            "AUROC": number,
            "Against full": st.column_config.NumberColumn(
                format="%+.3f", help="AUROC of the mode minus AUROC of full mode."
            ),
            "95 % from": number,
            "95 % to": number,
            "Brier": number,
            "Calibration error": number,
        },
    )
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.caption(
            "A faster mode uses a smaller part of the encoder. All modes are measured on the same samples; speeds are "
            "for batches of 20-word texts.",
            width="stretch",
        )
        download_table(rows, key=key, file_name=file_name)


def speeds(version: Version) -> dict[str, float]:
    """The speed of each mode relative to full mode, for the encoder of the version; empty if not measured."""
    encoder = version.metrics.encoder
    return dict(_SPEEDS.get(encoder.id or "", {})) if encoder else {}


def modes_of(figures: Mapping[str, TraitMetrics]) -> list[str]:
    """The modes other than full, in order of first appearance."""
    return list(dict.fromkeys(mode for each in figures.values() for mode in each.modes if mode != FULL))


_WORTH = ((-0.005, "as good"), (-0.02, "a little worse"), (-1.0, "worse"))
"""The least difference of the AUROC, and what it means in words."""


def price(figures: Mapping[str, TraitMetrics], mode: str, speeds: Mapping[str, float]) -> str:
    """`**Layer 4 only**: a little worse, 1.5 times as fast`, in Markdown; empty if nothing is known."""
    costs = [cost for each in figures.values() if (cost := _cost(each, each.modes.get(mode))) is not None]
    parts = []
    if costs:
        of = f" on average over {count(len(costs), 'trait')}" if len(costs) > 1 else ""
        mean = sum(costs) / len(costs)
        parts.append(f"{next(words for least, words in _WORTH if mean >= least)}{of}")
    if mode in speeds:
        parts.append(f"{_times(speeds[mode])} times as fast")
    return f"**{plain(NAMES.get(mode, mode))}**: {', '.join(parts)}." if parts else ""


def table(label: str, figures: Mapping[str, TraitMetrics], names: Mapping[str, str]) -> pd.DataFrame:
    """One row per trait and mode, full first."""
    return pd.DataFrame(
        [
            {
                "Version": label,
                "Trait": names.get(key, key),
                "Mode": NAMES.get(mode, mode),
                "AUROC": measured.auroc,
                "Against full": None if mode == FULL else _cost(each, measured),
                "95 % from": measured.auroc_interval[0] if measured.auroc_interval else None,
                "95 % to": measured.auroc_interval[1] if measured.auroc_interval else None,
                "Brier": measured.brier,
                "Calibration error": measured.calibration_error,
                "Measured on": measured.measured_on or "unknown",
            }
            for key, each in figures.items()
            for mode, measured in ((FULL, each), *((mode, one) for mode, one in each.modes.items() if mode != FULL))
        ]
    )


def signed(change: float) -> str:
    """`−0.006`, `+0.002`, `±0`."""
    rounded = round(change, 3)
    return f"{'+' if rounded > 0 else '−'}{abs(rounded):.3f}" if rounded else "±0"


def _cost(full: Figures, mode: Figures | None) -> float | None:
    if mode is None or full.auroc is None or mode.auroc is None:
        return None
    return mode.auroc - full.auroc


def _times(speed: float) -> str:
    return f"{speed:.1f}" if speed < 9.95 else f"{speed:.0f}"
