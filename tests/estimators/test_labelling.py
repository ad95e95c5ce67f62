"""Labelling in a notebook, without a browser: the order of texts, what is decided, and the scorer fitted meanwhile."""

import numpy as np
import pandas as pd
import pytest

from tests.conftest import COLD, WARM
from tests.estimators.conftest import scorer
from traitbench.estimators.label_widget import Labeller
from traitbench.local.labeller import BATCH

TEXTS = [*WARM, *COLD]
TRUTH = dict.fromkeys(WARM, 1.0) | dict.fromkeys(COLD, 0.0)


def press(widget: Labeller, *events: tuple[str, str, float | None]) -> None:
    """Answer as the script does: numbered on, and with all answers that are not handled."""
    before = widget.data["handled"].get("m", 0)
    numbered = [
        {"n": n, "id": item, "action": action, "quality": quality, "seconds": 1.0}
        for n, (item, action, quality) in enumerate(events, start=before + 1)
    ]
    widget.answers = {"run": widget.data["run"], "mount": "m", "events": numbered, "left": 0}


def test_labels_fit_a_copy_of_the_scorer_as_a_fit_on_the_samples_would() -> None:
    mine = scorer()
    widget = mine.label(TEXTS)
    for _ in range(8):
        item = widget.data["items"][0]
        press(widget, (item["id"], "label", TRUTH[item["text"]]))
    assert widget.wait()
    frame = pd.DataFrame(widget.samples)
    assert frame["quality"].tolist() == [TRUTH[text] for text in frame["text"]]
    again = scorer().fit(frame["text"], frame["quality"])
    assert widget.scorer.param_hash_ == again.param_hash_
    assert not hasattr(mine, "snapshot_")
    assert widget.data["status"].endswith("The scorer is fitted to all 8 labels.")
    assert "of 8 samples fall on the side of their label. Always guessing" in widget.data["status"]
    assert [figure["name"] for figure in widget.data["figures"]] == ["Labels", "Right so far"]
    assert "hint" in widget.data["items"][0]


def test_labels_are_one_for_each_text_and_another_widget_goes_on_with_them() -> None:
    texts = [*TEXTS[:3], TEXTS[0]]
    widget = scorer().label(texts, queue="random")
    item = next(each for each in widget.data["items"] if each["text"] == TEXTS[0])
    press(widget, (item["id"], "label", 1.0))
    np.testing.assert_array_equal(widget.labels, [1.0, np.nan, np.nan, 1.0])
    on = scorer().label(texts, queue="random", labels=widget.labels)
    assert on.samples == [{"text": TEXTS[0], "quality": 1.0}]
    assert (on.data["done"], on.data["total"]) == (1, 3)
    assert TEXTS[0] not in {each["text"] for each in on.data["items"]}


def test_an_answer_that_arrives_twice_counts_once_and_undo_brings_the_text_back() -> None:
    widget = scorer().label(TEXTS, queue="random")
    first, second = (each["id"] for each in widget.data["items"][:2])
    press(widget, (first, "label", 1.0), (second, "skip", None))
    sent = widget.answers
    widget.answers = {}
    widget.answers = sent
    assert (len(widget.samples), widget.data["done"], widget.data["last"]) == (1, 2, second)
    press(widget, (first, "undo", None), ("999", "label", 1.0), ("none", "label", 0.0))
    assert (widget.samples, widget.data["done"]) == ([], 1)
    assert first in {each["id"] for each in widget.data["items"]}


def test_a_fitted_scorer_ranks_and_scores_the_texts() -> None:
    fitted = scorer().fit(TEXTS, [TRUTH[text] for text in TEXTS])
    others = [f"{text} That is all." for text in TEXTS]
    top, bottom = (fitted.label(others, queue=queue) for queue in ("top", "bottom"))
    assert top.wait()
    assert bottom.wait()
    scores = dict(zip(others, fitted.score_texts(others), strict=True))
    for widget, sign in ((top, -1), (bottom, 1)):
        shown = widget.data["items"][0]
        assert sign * scores[shown["text"]] == min(sign * score for score in scores.values())
        assert shown["hint"]["score"] == scores[shown["text"]]
        assert shown["highlights"]
    blind = fitted.label(others, blind=True)
    assert blind.wait()
    assert not any("hint" in each or "highlights" in each for each in blind.data["items"])


def test_a_widget_sends_few_texts_ahead_however_many_there_are() -> None:
    widget = scorer().label([f"Text {number} of many." for number in range(5_000)], queue="random")
    assert len(widget.data["items"]) == BATCH


def test_what_cannot_be_labelled_is_refused() -> None:
    with pytest.raises(ValueError, match="Row 1: the text is blank"):
        scorer().label(["One.", " "])
    with pytest.raises(ValueError, match="The queue 'best' is unknown"):
        scorer().label(["One."], queue="best")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="2 texts and 1 labels"):
        scorer().label(["One.", "Two."], labels=[1.0])
