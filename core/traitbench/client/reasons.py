"""Add the text to the reasons of a card: the service sends only character positions."""

from traitbench.contract.scores import Card


def quoted(card: Card, content: str) -> Card:
    """Return the card with the `text` of every part, or unchanged if it has no explanation."""
    if card.explanation is None:
        return card
    explanation = {key: each.with_text(content) for key, each in card.explanation.items()}
    return card.model_copy(update={"explanation": explanation})
