"""One engine of labelling behind the page and the notebook: recorded orders and hints, which both give."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.conftest import COLD, WARM
from tests.contexts import home_in_environment
from tests.estimators.conftest import scorer
from tests.patience import PATIENCE_S
from traitbench.contract.models import DEFAULT_EFFORT, Model
from traitbench.contract.samples import Sample, text_hash
from traitbench.contract.traits import Trait
from traitbench.local.draft_learner import draft_learner
from traitbench.local.label_session import LabelSession, LabelWork
from traitbench.local.labeller import LabelAnswer, decide
from traitbench.local.samples import LocalTrait
from traitbench_app.label.work import PoolWork

TEXTS = [f"{text} {more}".strip() for text in (*WARM, *COLD) for more in ("", "That is all.", "Read this twice.")]
LABELLED = dict.fromkeys(WARM[:4], 1.0) | dict.fromkeys(COLD[:3], 0.0)
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

SCORES = {"random": 2, "informative": 36, "top": 88, "bottom": 29}
"""The score of the first text of each order by a fit to the labels."""


@pytest.fixture(autouse=True)
def _home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.setenv("TRAITBENCH_ENCODER", "ngrams")
    with home_in_environment(tmp_path_factory.mktemp("labels") / "home"):
        yield


def in_notebook(order: Any, labels: dict[str, float]) -> LabelSession:
    """The session behind a widget."""
    given = [labels.get(text, np.nan) for text in TEXTS] if labels else None
    queue: Any = "uncertain" if order == "informative" else order
    return scorer(effort=DEFAULT_EFFORT).label(TEXTS, queue=queue, labels=given)._session


def on_page(order: Any, labels: dict[str, float]) -> LabelSession:
    """The session behind the page of a draft."""
    poles: Any = {"positive_label": "warm", "negative_label": "cold"}
    trait = Trait.model_construct(
        key="warmth", name="warmth", description="", kind="extrinsic", aggregation="mean", **poles
    )
    model = Model.model_construct(handle="local.tone", scoring_method="balanced_cosine", max_depth=1)
    samples = [
        Sample.model_construct(
            id=row, trait="warmth", text=text, quality=quality, held_out=False, content_sha256=text_hash(text),
            provenance="human", seed_sample_id=None,
        )
        for row, (text, quality) in enumerate(labels.items())
    ]  # fmt: skip
    texts = {text_hash(text): text for text in sorted(TEXTS, key=text_hash)}
    session = LabelSession()
    learner = draft_learner(model, [trait], samples, None)
    session.update(PoolWork(texts, [trait], [], samples).labelled(order, learner))
    session.work()
    return session


@pytest.mark.parametrize(("order", "with_labels"), list(ORDERS))
def test_page_and_notebook_give_the_recorded_order_and_score(order: str, *, with_labels: bool) -> None:
    labels = LABELLED if with_labels else {}
    wanted = [TEXTS[place] for place in ORDERS[order, with_labels]]
    for made in (in_notebook, on_page):
        session = made(order, labels)
        assert session.wait(PATIENCE_S)
        assert session.problem is None
        first = session.items(10)
        assert [each["text"] for each in first] == wanted, made.__name__
        assert first[0].get("hint", {}).get("score") == (SCORES[order] if labels else None)


def test_without_an_encoder_it_says_so_and_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAITBENCH_ENCODER", "no-such-encoder")
    session = on_page("informative", {})
    assert session.wait(PATIENCE_S)
    assert "There is no encoder here" in str(session.problem)


def test_several_traits_come_one_after_another_and_test_samples_teach_nothing() -> None:
    warmth, form = (LocalTrait(key, key, "", "more", "less", "mean") for key in ("warmth", "form"))
    texts, given, decided = {"a": "One.", "b": "Two."}, {"warmth": {"a": None}}, {"b:form": 0.67}
    session = LabelSession(LabelWork([warmth, form], texts, given=given, decided=decided))
    assert session.upcoming(9) == ["b:warmth", "a:form"]
    assert (session.labels("warmth"), session.labels("form")) == ({}, {"b": 0.67})
    assert (session.done, session.total, session.last) == (2, 4, "b:form")


def test_pool_that_changes_keeps_its_vectors() -> None:
    session = on_page("informative", {})
    assert session.wait(PATIENCE_S)
    texts = dict(list(session._texts.items())[:40]) | {"new": "Something else."}
    session.update(replace(session._of, texts=texts, order="top"))
    assert session._count == 40
    session.work()
    assert session.wait(PATIENCE_S)
    assert (session._count, session.problem) == (41, None)


def test_answers_become_decisions_the_newest_last() -> None:
    given: Any = [
        ("a", "label", 1.0),
        ("b", "skip", None),
        ("a", "label", 0.0),
        ("b", "undo", None),
        ("", "leave", None),
    ]
    answers = [LabelAnswer(n, item, action, quality) for n, (item, action, quality) in enumerate(given)]
    assert decide({"z": 0.5}, answers) == {"z": 0.5, "a": 0.0}
    assert list(decide({"a": 0.0, "z": 0.5}, answers)) == ["z", "a"]


def test_a_new_label_counts_for_the_texts_that_are_sent_next() -> None:
    session = on_page("informative", LABELLED)
    assert session.wait(PATIENCE_S)
    first = session.upcoming(1)[0]
    decided = {first: 1.0}
    session.update(replace(session._of, decided=decided))
    waiting = [each for each in session.upcoming(10) if each != first]
    session.rank()
    assert session.upcoming(9) != waiting[:9]
    anew = on_page("informative", LABELLED)
    anew.update(replace(anew._of, decided=decided))
    anew.work()
    assert anew.wait(PATIENCE_S)
    assert session.upcoming(9) == anew.upcoming(9)
