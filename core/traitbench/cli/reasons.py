"""The explanation of a score in a terminal: what each part adds, and the most similar samples."""

from collections.abc import Iterator

import click

from traitbench.cli.output import say_table, say_text
from traitbench.contract.explanations import Explanation, Part
from traitbench.contract.scores import Card
from traitbench.display.reasons import amount, sign, text_of
from traitbench.display.text import shortened

_MOST_PARTS, _MOST_PIECES, _MOST_CHARACTERS = 20, 5, 120


def say_reasons(card: Card, text: str) -> None:
    """Print for each trait what each part adds, and the most similar samples."""
    for key, explanation in (card.explanation or {}).items():
        far = explanation.position - explanation.baseline
        click.echo()
        move = f"{sign(far)} {amount(far, explanation.unit)}"
        say_text(f"{key} {card.scores[key]}: {move} from the middle. It is the sum of:")
        say_table(("adds", "part"), _parts(explanation, text))
        if explanation.decided_by is not None:
            decided = explanation.decided_by
            click.echo(f"Characters {decided.start} to {decided.end} decide. No other part counts.")
        if explanation.nearest is not None:
            say_table(("like", "sample", "quality", "text"), _samples(explanation))
        if explanation.note:
            click.echo(explanation.note)


def _parts(explanation: Explanation, text: str) -> Iterator[tuple[object, ...]]:
    """Yield a row for each part that adds most, in the order of the text, followed by its words or phrases."""
    strongest = sorted(explanation.parts, key=lambda part: -abs(part.contribution))
    shown = sorted(strongest[:_MOST_PARTS], key=lambda part: part.start)
    for part in shown:
        yield amount(part.contribution, explanation.unit), shortened(text_of(part, text), _MOST_CHARACTERS)
        if part.pieces:
            yield "", f"- {_pieces(part, explanation, text)}"
    if rest := strongest[_MOST_PARTS:]:
        yield amount(sum(part.contribution for part in rest), explanation.unit), f"({len(rest)} more parts)"


def _pieces(part: Part, explanation: Explanation, text: str) -> str:
    words = text_of(part, text)
    strongest = sorted(part.pieces, key=lambda each: -abs(each.contribution))[:_MOST_PIECES]
    return ", ".join(
        f"{shortened(words[each.start - part.start : each.end - part.start], _MOST_CHARACTERS)}"
        f" {amount(each.contribution, explanation.unit)}"
        for each in sorted(strongest, key=lambda each: each.start)
    )


def _samples(explanation: Explanation) -> Iterator[tuple[object, ...]]:
    nearest = explanation.nearest
    for mark, side in zip((1, -1), (nearest.positive, nearest.negative) if nearest else (), strict=False):
        for near in side:
            quality = "" if near.quality is None else f"{near.quality:g}"
            yield f"{sign(mark)} {near.similarity:.2f}", near.id, quality, shortened(near.text or "", _MOST_CHARACTERS)
