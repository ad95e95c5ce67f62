"""One engine of labelling behind the page and the notebook: recorded orders and hints, which both give."""

import time
from functools import partial

import numpy as np
import pytest
from sklearn.base import clone

from tests.conftest import COLD, WARM
from tests.contexts import home_in_environment
from tests.estimators.conftest import scorer
from traitbench.contract.models import DEFAULT_EFFORT, Model
from traitbench.contract.samples import Sample, text_hash
from traitbench.contract.traits import Trait
from traitbench.estimators.scorer import _given
from traitbench.local.assistant import Assistant, HeapText, Wanted
from traitbench.local.label_session import LabelSession, Means
from traitbench_app.label.order import Work, upcoming

TEXTS = [f"{text} {more}".strip() for text in (*WARM, *COLD) for more in ("", "That is all.", "Read this twice.")]
LABELLED = {text: 1.0 for text in WARM[:4]} | {text: 0.0 for text in COLD[:3]}
"""The labels that are given in the second half of the recordings."""

ORDERS = {
    ("random", False): [32, 24, 49, 6, 47, 19, 23, 11, 57, 41],
    ("random", True): [32, 24, 49, 47, 19, 23, 11, 57, 41, 14],
    ("informative", False): [1, 16, 56, 7, 20, 4, 47, 33, 41, 23],
    ("informative", True): [56, 20, 47, 41, 23, 53, 44, 59, 50, 29],
    ("top", False): [24, 26, 25, 54, 57, 56, 48, 55, 6, 59],
    ("top", True): [24, 25, 26, 7, 1, 57, 10, 58, 2, 8],
    ("bottom", False): [3, 4, 42, 5, 43, 44, 15, 16, 17, 33],
    ("bottom", True): [42, 44, 35, 43, 34, 32, 38, 31, 37, 41],
}
"""The first ten texts by order, without and with the labels: places in `TEXTS`."""

SCORES = {"random": 2, "informative": 30, "top": 82, "bottom": 36}
"""The score of the first text of each order by a fit to the labels."""


@pytest.fixture(autouse=True)
def _home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.setenv("TRAITBENCH_ENCODER", "ngrams")
    with home_in_environment(tmp_path_factory.mktemp("labels") / "home"):
        yield


def in_notebook(order: str, labels: dict[str, float]) -> tuple[list[str], int | None]:
    """The first texts and the score of the first."""
    learner = scorer(effort=DEFAULT_EFFORT)
    trait = learner._local_trait()
    means = Means(trait, lambda: clone(learner), None, learner._labelling_encoder, learner._label_axis)
    given = partial(_given, [labels.get(text, np.nan) for text in TEXTS] if labels else None, trait)
    session = LabelSession(means, TEXTS, queue="uncertain" if order == "informative" else order, given=given)
    while session.step():
        pass
    first = session.upcoming(10)
    hint = session.hint(first[0])
    return [session.texts[at] for at in first], hint.score.score if hint else None


def on_page(order: str, labels: dict[str, float]) -> tuple[list[str], int | None]:
    """The first texts and the score of the first."""
    words = {"key": "warmth", "name": "warmth", "positive_label": "warm", "negative_label": "cold", "description": ""}
    trait = Trait.model_construct(**words, kind="extrinsic", aggregation="mean")
    model = Model.model_construct(handle="local.tone", scoring_method="balanced_cosine", max_depth=1)
    samples = [
        Sample.model_construct(
            id=row, trait="warmth", text=text, quality=quality, held_out=False, content_sha256=text_hash(text),
            provenance="human", seed_sample_id=None,
        )
        for row, (text, quality) in enumerate(labels.items())
    ]  # fmt: skip
    work = Work([HeapText(text_hash(text), text) for text in TEXTS], [trait], [], samples)
    helper = Assistant()
    for _ in range(3):
        first = upcoming(helper, work, order, 10)
        helper.ask(work.texts, Wanted(model, [trait], samples, [each.text for each in first]))
        while helper.busy:
            time.sleep(0.05)
    first = upcoming(helper, work, order, 10)
    hint = helper.hints_of(first[0].text).get("warmth")
    helper.end()
    return [each.text.text for each in first], hint.score.score if hint else None


@pytest.mark.parametrize(("order", "with_labels"), list(ORDERS))
def test_page_and_notebook_give_the_recorded_order_and_score(order: str, *, with_labels: bool) -> None:
    labels = LABELLED if with_labels else {}
    wanted = [TEXTS[place] for place in ORDERS[order, with_labels]]
    for given in (in_notebook, on_page):
        assert given(order, labels) == (wanted, SCORES[order] if with_labels else None), given.__name__
