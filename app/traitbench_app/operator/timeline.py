"""When runs were requested and ended, as a picture: one row for each kind, grey except for what failed."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from html import escape

from traitbench.contract.models import OperationKind
from traitbench.display.text import count
from traitbench.display.tokens import token
from traitbench.operations.operating import Listed
from traitbench_app.operator.state import outcome, took
from traitbench_app.parts.runs import KINDS

_SPANS = (
    (timedelta(hours=1), "1 hour ago", "30 min ago"),
    (timedelta(hours=24), "24 hours ago", "12 hours ago"),
    (timedelta(days=8), "8 days ago", "4 days ago"),
    (timedelta(days=30), "30 days ago", "15 days ago"),
)
_NOTE = f"font-size:12px;line-height:16px;color:{token('ink-3')}"


def timeline(runs: Sequence[Listed], now: datetime | None = None) -> str:
    """Draw the runs in the shortest span that has all of them, at most the last 30 days; empty without any."""
    now = now or datetime.now(UTC)
    recent = [each for each in runs if now - each.created_at <= _SPANS[-1][0]]
    if not recent:
        return ""
    oldest = max(now - each.created_at for each in recent)
    length, start, middle = next((each for each in _SPANS if oldest <= each[0]), _SPANS[-1])
    rows = "".join(_row(KINDS[kind], own, now, length) for kind, own in _by_kind(recent))
    axis = "".join(f"<span>{each}</span>" for each in (start, middle, "now"))
    words = f"{count(len(recent), 'run')} since {start}: " + "; ".join(
        f"{KINDS[kind]} {_numbers(own)}" for kind, own in _by_kind(recent)
    )
    return (
        f'<div role="img" aria-label="{escape(words, quote=True)}">{rows}'
        f'<div style="display:flex;justify-content:space-between;padding-top:4px;{_NOTE}">{axis}</div></div>'
    )


def _by_kind(runs: Sequence[Listed]) -> Iterator[tuple[OperationKind, list[Listed]]]:
    for kind in KINDS:
        if own := [each for each in runs if each.kind == kind]:
            yield kind, own


def _row(name: str, runs: Sequence[Listed], now: datetime, length: timedelta) -> str:
    bars = "".join(_bar(each, now, length) for each in runs)
    return (
        f'<div style="display:flex;justify-content:space-between;gap:8px;padding-top:8px;font-size:13px;'
        f'line-height:20px;color:{token("ink-2")}"><span>{escape(name)}</span><span>{_numbers(runs, bad=True)}</span>'
        f'</div><div style="position:relative;height:16px;border-radius:4px;background:{token("sunk")}">{bars}</div>'
    )


def _numbers(runs: Sequence[Listed], *, bad: bool = False) -> str:
    failed = sum(outcome(each) == "failed" for each in runs)
    said = f"{failed:,} failed"
    if bad:
        said = f'<b style="color:{token("bad")}">{said}</b>'
    return f"{count(len(runs), 'run')}{f', {said}' if failed else ''}"


def _bar(run: Listed, now: datetime, length: timedelta) -> str:
    left = 100 * (1 - (now - run.created_at) / length)
    width = 100 * max(((run.finished_at or now) - run.created_at) / length, 0.0)
    state = outcome(run)
    colour = "bad" if state == "failed" else "ink-3" if run.finished_at else "ink"
    look = f"border:1px solid {token('ink-3')}" if state in ("waits", "cancelled") else f"background:{token(colour)}"
    title = escape(f"{run.handle}: {state}, {took(run, now)}", quote=True)
    return (
        f'<div title="{title}" style="position:absolute;box-sizing:border-box;top:2px;bottom:2px;min-width:4px;'
        f'left:min({left:.2f}%,100% - 4px);width:{width:.2f}%;border-radius:2px;{look}"></div>'
    )
