"""What a model would lose: it is trained without your texts and their near duplicates, and stores nothing."""

import numpy as np
import pytest

from tests.conftest import COLD, WARM, make_draft
from traitbench.analysis.agreement import Item
from traitbench.client import Traitbench
from traitbench.contract.models import Model
from traitbench.contract.samples import text_hash
from traitbench.contract.traits import Trait
from traitbench.local import raters, vectors
from traitbench.tables.rating_files import Ratings

TEXTS = dict.fromkeys(WARM, 1.0) | dict.fromkeys(COLD, 0.0)


pytestmark = pytest.mark.usefixtures("here")


@pytest.fixture
def model(client: Traitbench, namespace: str) -> tuple[Model, Trait]:
    make_draft(client, f"{namespace}.tone")
    return client.models.get(f"{namespace}.tone"), client.traits.list(f"{namespace}.tone")[0]


def rated(labels: dict[str, float]) -> Ratings:
    items = tuple(item(text) for text in labels)
    texts = {text_hash(text): text for text in labels}
    return Ratings(("gpt",), items, texts, np.array([*labels.values()])[:, np.newaxis], {}, ())


def item(text: str) -> Item:
    return "warmth", text_hash(text)


def ignore(_done: int, _of: int) -> None:
    """Ignores progress."""


def test_near_duplicates_of_your_texts_are_not_trained_with(model: tuple[Model, Trait]) -> None:
    copies = {WARM[0].upper(): 1.0, COLD[0].replace(".", "!"): 0.0}
    yours = {item(text): TEXTS[text] for text in (WARM[0], WARM[1], COLD[0], COLD[1])}
    result = raters.loss(*model, rated(TEXTS | copies), "gpt", yours, ignore)
    assert (result.trained_on, result.near) == (16, 2)
    assert result.rater_right == (True,) * 4
    assert len(result.model_right) == 4


def test_only_texts_that_you_put_at_a_pole_and_the_rater_labelled_are_compared(model: tuple[Model, Trait]) -> None:
    ratings = rated(TEXTS | {WARM[2]: 0.0, COLD[2]: 0.5})
    yours = {item(WARM[1]): 0.5, item(WARM[2]): 1.0, item(COLD[2]): 0.0, item("never labelled"): 1.0}
    result = raters.loss(*model, rated_with(ratings, "never labelled"), "gpt", yours, ignore)
    assert result.rater_right == (False, False), "in between is not on your side"
    assert result.trained_on == 17


def rated_with(ratings: Ratings, text: str) -> Ratings:
    """The same ratings with one more text that has no label."""
    return Ratings(
        ratings.raters,
        (*ratings.items, item(text)),
        {**ratings.texts, text_hash(text): text},
        np.vstack([ratings.qualities, [[np.nan]]]),
        {},
        (),
    )


def test_no_stored_sample_can_be_mistaken_for_an_uploaded_label(model: tuple[Model, Trait]) -> None:
    kept: set[int] = set()
    vectors.listen(lambda _digest, new: kept.update(new))
    try:
        new = {f"{number} {text}": side for number in range(2) for text, side in TEXTS.items()}
        raters.loss(*model, rated(new), "gpt", {item(next(iter(new))): 1.0}, ignore)
    finally:
        vectors.listen(None)
    assert kept
    assert max(kept) < 0
