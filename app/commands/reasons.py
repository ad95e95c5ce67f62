"""The reasons of a score on a terminal: what each part adds, and the samples that are most like the text."""

from collections.abc import Iterator

import click

from traitbench.app.commands.showing import say_table, say_text
from traitbench.app.reasons import amount, sign, text_of
from traitbench.contract.explanations import Explanation, Part
from traitbench.contract.scores import Card

_MOST_PARTS, _MOST_PIECES, _MOST_CHARACTERS = 20, 5, 120


def say_reasons(card: Card, text: str) -> None:
    """Trait by trait, each a sum that comes to where the text lies."""
    for key, told in (card.explanation or {}).items():
        far = told.position - told.baseline
        click.echo()
        say_text(f"{key} {card.scores[key]}: {sign(far)} {amount(far, told)} from the middle, the sum of")
        say_table(("adds", "part"), _parts(told, text))
        if told.decided_by is not None:
            click.echo(f"Characters {told.decided_by.start} to {told.decided_by.end} decide: no other part counts.")
        if told.nearest is not None:
            say_table(("like", "sample", "quality", "text"), _samples(told))
        if told.note:
            click.echo(told.note)


def _parts(told: Explanation, text: str) -> Iterator[tuple[object, ...]]:
    """The parts that add most, in the order of the text; below each the words or phrases that do."""
    strongest = sorted(told.parts, key=lambda part: -abs(part.contribution))
    shown = sorted(strongest[:_MOST_PARTS], key=lambda part: part.start)
    for part in shown:
        yield amount(part.contribution, told), _short(text_of(part, text))
        if part.pieces:
            yield "", f"- {_pieces(part, told, text)}"
    if rest := strongest[_MOST_PARTS:]:
        yield amount(sum(part.contribution for part in rest), told), f"({len(rest)} more parts)"


def _pieces(part: Part, told: Explanation, text: str) -> str:
    said = text_of(part, text)
    strongest = sorted(part.pieces, key=lambda each: -abs(each.contribution))[:_MOST_PIECES]
    return ", ".join(
        f"{_short(said[each.start - part.start : each.end - part.start])} {amount(each.contribution, told)}"
        for each in sorted(strongest, key=lambda each: each.start)
    )


def _samples(told: Explanation) -> Iterator[tuple[object, ...]]:
    nearest = told.nearest
    for mark, side in zip((1, -1), (nearest.positive, nearest.negative) if nearest else (), strict=False):
        for near in side:
            quality = "" if near.quality is None else f"{near.quality:g}"
            yield f"{sign(mark)} {near.similarity:.2f}", near.id, quality, _short(near.text or "")


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MOST_CHARACTERS else f"{line[: _MOST_CHARACTERS - 1]}…"
