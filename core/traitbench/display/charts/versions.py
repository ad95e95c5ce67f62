"""Two versions side by side: for each trait how often both are right, and the difference with its 95 % interval.

Version A is hollow, B solid; where both are right as often, A is above B. Only a difference that is shown has a colour.
"""

from collections.abc import Mapping, Sequence
from math import ceil, floor

import pandas as pd
import plotly.graph_objects as go

from traitbench.contract.comparisons import FigureDelta, TraitDifference, VersionVerdict
from traitbench.contract.rounding import rounded
from traitbench.display.charts.layout import as_is, segments
from traitbench.display.colours import Palette
from traitbench.display.sides import COLOURS
from traitbench.display.text import shortened
from traitbench.display.verdicts import counts, points, right, title

ROW_HEIGHT, HEAD = 80, 28
"""The heights of a row and of what is above the first one, in pixels."""

_FOOT, _LONGEST, _SAME = 26, 40, 0.03
_LEFT, _RIGHT = (0.0, 0.45), (0.55, 1.0)
_DOWN = 0.14  # of a row: the marks are below its name
_STAYS = {"marker": {"opacity": 1}, "textfont": {"color": COLOURS[None]}}
_UNDIMMED = {"selected": _STAYS, "unselected": _STAYS}


def figure(traits: Mapping[str, TraitDifference], a: str, b: str, figures: int, palette: Palette) -> go.Figure:
    """A row for each trait, by its name; `a` and `b` name the versions, whose verdicts rest on so many `figures`."""
    rows, rights = (
        [*range(len(traits))],
        [None if each.error is None else right(each.error, figures) for each in traits.values()],
    )
    colours = [_colour(each.verdict, palette) for each in traits.values()]
    least = min([0.5, *(floor(10 * min(each[:2])) / 10 for each in rights if each)])
    spans = [each[2] for each in rights if each and each[2]]
    reach = max([0.1, *(ceil(10 * max(abs(low), abs(high))) / 10 for low, high in spans)])
    drawn = go.Figure()
    for axis, base, width in (("x", least, 1 - least), ("x2", -reach, 2 * reach)):  # a row is pressed anywhere
        look = {"opacity": 0}
        drawn.add_bar(
            x=[width] * len(rows), base=base, y=rows, width=1, orientation="h", xaxis=axis, hoverinfo="none",
            marker=look, selected={"marker": look}, unselected={"marker": look},
        )  # fmt: skip
    for row, (each, colour) in enumerate(zip(rights, colours, strict=True)):
        if each is not None and abs(each[1] - each[0]) >= _SAME:
            edge = 0.02 if each[1] > each[0] else -0.02  # that of the hollow mark
            _line(drawn, (each[0] + edge, each[1]), row, colour, "x")
        if each is not None and each[2] is not None:
            low, high = each[2]
            _line(drawn, (low, high), row, colour if low > 0 or high < 0 else palette.neutral, "x2")
    apart = [0.13 if each and abs(each[1] - each[0]) < _SAME else 0.0 for each in rights]
    for index, name in enumerate("AB"):
        drawn.add_scatter(
            x=[each and each[index] for each in rights],
            y=[row + _DOWN + (index * 2 - 1) * off for row, off in zip(rows, apart, strict=True)],
            mode="markers+text",
            cliponaxis=False,
            text=[name] * len(rows),
            textfont={"size": 11, "weight": 600},
            marker={
                "size": 18,
                "symbol": "circle" if index else "circle-open",
                "color": colours if index else palette.neutral,
                "line": {"width": 1.5},
            },
            customdata=[as_is(each) for each in traits],
            hovertemplate=f"<b>%{{customdata}}</b><br>{as_is((a, b)[index])}: %{{x:.1%}} right<extra></extra>",
            **_UNDIMMED,
        )
    drawn.add_scatter(
        x=[each[1] - each[0] if each and each[2] else None for each in rights],
        y=[row + _DOWN for row in rows],
        xaxis="x2",
        mode="markers+text",
        text=[f"<b>{points(each[1] - each[0])}</b>" if each else "" for each in rights],
        textposition="top center",
        marker={"size": 11, "color": colours},
        hoverinfo="none",
        **_UNDIMMED,
    )
    return _laid_out(drawn, traits, (least, reach), palette)


def alt(traits: Mapping[str, TraitDifference], a: str, b: str, notes: Sequence[str]) -> str:
    """The alt text of the chart."""
    said = (
        f"{name}: {title(each.verdict)}, {_counted(each)}. {note}"
        for (name, each), note in zip(traits.items(), notes, strict=True)
    )
    return f"How often {a} (A) and {b} (B) are right on the same test texts, by trait. {' '.join(said)}"


def table(traits: Mapping[str, TraitDifference], names: Mapping[str, str], a: str, b: str) -> pd.DataFrame:
    """One row for each trait: the figures of both versions on the same test samples, and the verdict."""
    return pd.DataFrame(
        [
            {
                "Trait": names.get(key, key),
                "Verdict": title(each.verdict),
                f"AUROC {a}": each.auroc and rounded(each.auroc.a, 3),
                f"AUROC {b}": each.auroc and rounded(each.auroc.b, 3),
                "Change (95 % interval)": _change(each.auroc),
                f"Wrong side {a}": each.error and f"{each.error.a:.1%}",
                f"Wrong side {b}": each.error and f"{each.error.b:.1%}",
                "Change of wrong side (95 % interval)": _change(each.error),
                "Test samples": each.n,
                "Must pass, newly failed": each.must_pass.newly_failed if each.must_pass.samples else None,
                "Why": each.reason,
            }
            for key, each in traits.items()
        ]
    )


def _change(figure: FigureDelta | None) -> str | None:
    if figure is None:
        return None
    between = "" if figure.interval is None else f" ({' to '.join(f'{end:+.3f}' for end in figure.interval)})"
    return f"{figure.delta:+.3f}{between}"


def _laid_out(
    drawn: go.Figure,
    traits: Mapping[str, TraitDifference],
    ends: tuple[float, float],
    palette: Palette,
) -> go.Figure:
    least, reach = ends
    drawn.update_layout(
        height=HEAD + ROW_HEIGHT * len(traits) + _FOOT,
        margin={"l": 0, "r": 0, "t": HEAD, "b": _FOOT},
        barmode="overlay",
        showlegend=False,
        hoverlabel={"align": "left"},
        dragmode=False,
        clickmode="event+select",
        paper_bgcolor="rgba(0, 0, 0, 0)",
        plot_bgcolor="rgba(0, 0, 0, 0)",
        uirevision="constant",
    )
    common = {"fixedrange": True, "zeroline": False, "ticks": "", "showticklabels": False, "anchor": "y"}
    room = (1 - least) * 0.04
    ticks = [tenth / 10 for tenth in range(round(10 * least), 11)]
    drawn.update_layout(
        xaxis={
            **common, "domain": _LEFT, "range": [least - room, 1 + room], "tickvals": ticks, "gridcolor": palette.grid,
        },
        xaxis2={**common, "domain": _RIGHT, "range": [-1.04 * reach, 1.04 * reach], "tickvals": [0], "showgrid": False},
        yaxis={**common, "anchor": "x", "range": [len(traits) - 0.5, -0.5], "showgrid": False},
    )  # fmt: skip
    zero = {"type": "line", "xref": "x2", "x0": 0, "x1": 0, "line": {"color": palette.neutral, "width": 1}}
    between = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "line": {"color": palette.grid, "width": 1}}
    drawn.layout.shapes = [
        *({**zero, "y0": row - 0.2, "y1": row + 0.4} for row, each in enumerate(traits.values()) if not _few(each)),
        *({**between, "y0": row - 0.5, "y1": row - 0.5} for row in range(len(traits))),
    ]
    (left, middle), (start, end) = _LEFT, _RIGHT
    few = "no interval from so few texts"
    drawn.layout.annotations = [
        _words("Right, of its test texts", left, 1, 4, "left", "bottom"),
        _words("Difference in 100", start, 1, 4, "left", "bottom"),
        _words(f"{round(10 * least)} in 10", left, 0, -4, "left", "top"),
        _words("10 in 10", middle, 0, -4, "right", "top"),
        _words("A better", start, 0, -4, "left", "top"),
        _words("B better", end, 0, -4, "right", "top"),
        *(
            _words(f"<b>{as_is(shortened(name, _LONGEST))}</b>  {_counted(each)}", left, row - 0.42, 0, "left", "top")
            | {"yref": "y", "font": {"size": 14}}
            for row, (name, each) in enumerate(traits.items())
        ),
        *(
            _words(few, (start + end) / 2, row + _DOWN, 0, "center", "middle") | {"yref": "y"}
            for row, each in enumerate(traits.values())
            if _few(each)
        ),
    ]
    return drawn


def _few(each: TraitDifference) -> bool:
    return each.error is None or each.error.interval is None


def _words(text: str, x: float, y: float, shift: int, across: str, down: str) -> dict[str, object]:
    return {
        "text": text, "x": x, "y": y, "yshift": shift, "xref": "paper", "yref": "paper", "xanchor": across,
        "yanchor": down, "showarrow": False, "font": {"size": 12},
    }  # fmt: skip


def _line(drawn: go.Figure, ends: Sequence[float], row: int, colour: str, axis: str) -> None:
    x, y = segments([ends[0]], [ends[1]], [row + _DOWN])
    drawn.add_scatter(x=x, y=y, xaxis=axis, mode="lines", line={"color": colour, "width": 4}, hoverinfo="skip")


def _colour(verdict: VersionVerdict, palette: Palette) -> str:
    return {"better": palette.accent, "worse": palette.bad}.get(verdict, palette.neutral)


def _counted(each: TraitDifference) -> str:
    """`44 → 54 of 60`, in 100 if near duplicates count once."""
    if each.error is None:
        return f"{each.n:,} test texts" if each.n else "no test texts"
    whole, error = counts(each), each.error
    if whole is None:
        return f"{100 - 100 * error.a:.0f} → {100 - 100 * error.b:.0f} in 100 of {each.n:,}"
    return f"{whole[0]:,} → {whole[1]:,} of {each.n:,}"
