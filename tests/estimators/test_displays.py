"""How estimators and what they return look: figures and words, escaped, and nothing is asked of anybody else."""

import pickle
import re
from pathlib import Path
from typing import Any

import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import traitbench as tb
from tests.conftest import Trained
from tests.estimators.conftest import NAMES, TEXTS, score_card, scorer
from traitbench.analysis import corpus
from traitbench.contract.rounding import in_decimals
from traitbench.display.colours import PALETTE
from traitbench.display.reasons import highlighted

EVIL = "<script src='https://evil.test'>x</script>"


@pytest.fixture(scope="module")
def hostile() -> tb.Scorer:
    return scorer(EVIL, key="warmth").fit(TEXTS, NAMES)


def drawn(value: Any) -> str:
    """The HTML, which must load nothing and run nothing, before scikit-learn's own diagram."""
    whole: str = value._repr_html_() if callable(value._repr_html_) else value._repr_html_
    html, _, diagram = whole.partition("<style>")
    assert not re.search(r"<link|<img|<script\s|url\(['\"]?http|@import", diagram)
    assert not re.search(r"<script|<link|<img|(src|href)\s*=\s*[\"']|url\(|@import", html)
    return html


def test_a_fitted_scorer_shows_its_figures(hostile: tb.Scorer) -> None:
    html = drawn(hostile)
    assert "&lt;script" in html
    assert hostile.auroc_ is not None
    auroc = in_decimals(hostile.auroc_, 3)
    for shown in ("▼&nbsp;cold", "▲&nbsp;warm", "▼ 8 · 8 ▲", "16 labels", hostile.param_hash_[:19], "ngrams", auroc):
        assert shown in html
    assert hostile._repr_mimebundle_()["text/plain"].startswith("Scorer(")
    whole = hostile._repr_mimebundle_()["text/html"]
    assert whole.startswith(html)
    assert all(f"param-{name}" in whole or name in whole for name in hostile.get_params())
    assert "sk-top-container" in whole[len(html) :]


def test_before_a_fit_and_in_a_pipeline_scikit_learn_draws_it(hostile: tb.Scorer) -> None:
    assert "sk-top-container" in tb.Scorer()._repr_mimebundle_()["text/html"]
    assert "Scorer" in make_pipeline(FunctionTransformer(), hostile)._repr_mimebundle_()["text/html"]


def test_a_score_card_shows_every_trait(fitted_card: tb.ScoreCard) -> None:
    assert all(words in drawn(fitted_card) for words in ("▼&nbsp;cold", "▲&nbsp;long", "ScoreCard"))
    assert set(fitted_card.learning_curve_) == {"warmth", "length"}


def test_cards_and_explanations_draw_themselves(hostile: tb.Scorer) -> None:
    [card] = hostile.cards(TEXTS[:1])
    assert all(words in drawn(card) for words in ("warmth", "▼&nbsp;cold", "▲&nbsp;warm"))
    assert card == hostile.loaded.score(TEXTS[:1])[0]
    words = re.sub("<[^>]*>", "", drawn(hostile.explain(TEXTS[0])))
    assert TEXTS[0] in words
    assert "pulls towards ▼ cold or ▲ warm" in words


@pytest.mark.parametrize(("pole", "positive"), [("warm", True), ("cold", False)])
def test_a_pole_has_the_colour_and_the_line_that_it_has_in_the_workbench(
    hostile: tb.Scorer, pole: str, positive: bool
) -> None:
    colour, line = PALETTE.positive if positive else PALETTE.negative, "solid" if positive else "dashed"
    text = TEXTS[NAMES.index(pole)]
    reasons = hostile.explain(text)
    pieces = [each for part in reasons.parts for each in part.pieces or [part]]
    most = max(pieces, key=lambda each: abs(each.contribution))
    assert (most.contribution > 0) == positive
    [look] = re.findall(rf'style="([^"]*)">{re.escape(text[most.start : most.end])}<', drawn(reasons))
    assert f"border-bottom-color: {colour}; border-bottom-style: {line}" in look
    assert look in highlighted(reasons, text, by_pieces=True)
    assert f"2px {line} {colour}" in drawn(hostile)
    assert f"background:{colour}" in drawn(hostile.cards([text])[0]) or hostile.cards([text])[0].confidence == "low"


def test_comparisons_by_a_service_have_the_texts_beside_their_numbers(trained: Trained) -> None:
    client, handle = trained.client, trained.handle
    pair = client.scores.compare(handle, TEXTS[0], EVIL)
    assert TEXTS[0] in drawn(pair)
    assert "&lt;script" in drawn(pair)
    versions = client.versions.compare(handle, handle, texts=TEXTS[:3])
    assert all(text in drawn(versions) for text in TEXTS[:3])
    for answer in (pair, versions):
        assert (
            pickle.loads(pickle.dumps(answer)) == answer == type(answer).model_validate_json(answer.model_dump_json())
        )
        assert "▲&nbsp;positive" in drawn(answer)
        assert "▲&nbsp;warm" in tb.notebook.html(answer, traits=client.traits.list(handle))


def test_a_long_text_is_folded_and_none_of_its_shown_part_is_lost(hostile: tb.Scorer) -> None:
    other = scorer("w", key="warmth", use_labels=False).fit(TEXTS[:-1], NAMES[:-1])
    long = "Thank you, dear friend. " * 1_000
    html = drawn(tb.diff(hostile, other, [long]))
    assert "<details>" in html
    words = re.sub("…?<[^>]*>", "", html)
    assert long[:20_000] in words
    assert "(4,000 more characters)" in words
    explained = drawn(hostile.explain(long))
    assert explained.index("+") < explained.index("<details>") < explained.index("that add less")


def test_the_learning_curve_is_that_of_the_metrics(hostile: tb.Scorer) -> None:
    curve = hostile.learning_curve_
    figures = hostile.metrics_["traits"]["warmth"]
    assert [each.samples for each in curve.points] == [each["samples"] for each in figures["curve"]]
    assert curve.forecast is not None
    assert curve.forecast.auroc == figures["forecast"]["auroc"]
    assert f"{curve.points[-1].samples}" in drawn(curve)
    assert f"width:{round(200 * curve.points[0].auroc - 100, 1)}%" in drawn(curve)
    assert "begins at 0.5, a guess" in drawn(curve)
    assert "▼&nbsp;cold" in drawn(curve)
    assert "forecast with 20 more" in str(curve)
    assert curve.to_frame()["forecast"].tolist() == [False] * len(curve.points) + [True]
    few = scorer().fit(TEXTS[7:9], NAMES[7:9])
    assert "too few samples" in drawn(few.learning_curve_)
    assert few.auroc_ is None


def test_the_check_names_rows(hostile: tb.Scorer) -> None:
    findings = hostile.check([*TEXTS, TEXTS[0]], [*NAMES, "cold"])
    assert findings[0].kind == "conflict"
    assert set(findings[0].sample_ids) == {0, 16}
    assert "Same text at both poles" in drawn(findings)
    assert "Same text at both poles (error)" in str(findings)
    assert findings.to_frame()["rows"].tolist()[0] in ("0, 16", "16, 0")
    assert len(findings) == len(list(findings))


def test_a_shortcut_is_named_by_the_check_and_said_before_the_figures_of_a_fit(fitted: tb.Scorer) -> None:
    texts = [f"Zylor: {text}" if name == "warm" else text for text, name in zip(TEXTS, NAMES, strict=True)]
    plain = scorer(use_labels=False)
    finding = next(each for each in plain.check(texts, NAMES) if each.kind == "shortcut")
    assert finding.says.startswith(
        "“zylor” occurs in 8 of 8 warm texts and in 0 of 8 cold ones: a model may learn that"
    )
    assert not [each for each in plain.check(TEXTS, NAMES) if each.kind == "shortcut"]
    page = drawn(plain.fit(texts, NAMES))
    assert page.index("One word alone gets 8 of 8 positive and 8 of 8 negative texts right") < page.index("AUROC</th>")
    assert "alone" not in drawn(fitted)


def test_a_check_compares_the_sources_of_the_poles(hostile: tb.Scorer) -> None:
    sources = ["letters" if name == "warm" else "notes" for name in NAMES]
    finding = next(each for each in hostile.check(TEXTS, NAMES, sources=sources) if each.kind == "source")
    assert finding.says.startswith("8 of 8 cold texts come from notes, and 0 of 8 warm ones: a model may learn that")
    with pytest.raises(ValueError, match="There are 3 sources for 16 texts"):
        hostile.check(TEXTS, NAMES, sources=sources[:3])


def test_a_difference_of_two_scorers(hostile: tb.Scorer, tmp_path: Path) -> None:
    other = scorer("w", key="warmth", use_labels=False).fit(TEXTS[:-1], NAMES[:-1])
    texts = [*TEXTS[:3], EVIL, *(f"{text} {number}" for number in range(5) for text in TEXTS)]
    changes = tb.diff(hostile, other, texts)
    frame = changes.to_frame()
    assert frame["a"].tolist() == hostile.score_texts(texts).tolist()
    assert frame["b"].tolist() == other.score_texts(texts).tolist()
    assert (frame["b"] - frame["a"]).tolist() == frame["delta"].tolist()
    assert "&lt;script" in drawn(changes)
    changes.write_html(tmp_path / "diff.html")
    page = (tmp_path / "diff.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "<script" not in page
    assert 'content="light dark"' in page
    assert str(changes).startswith("warmth: ")


def test_files_can_be_compared_and_equal_ones_are_the_same(hostile: tb.Scorer, tmp_path: Path) -> None:
    hostile.save(tmp_path / "a.json")
    same = tb.diff(tmp_path / "a.json", hostile, TEXTS)
    assert same.same
    assert "all scores are equal" in drawn(same)
    with pytest.raises(ValueError, match="no trait in common: warmth; other"):
        tb.diff(hostile, scorer("other").fit(TEXTS, NAMES), TEXTS)


def test_a_share_is_that_of_the_corpus_module(hostile: tb.Scorer, tmp_path: Path) -> None:
    texts = [f"{text} {number}" for number in range(20) for text in TEXTS]
    rows = corpus.draw(len(texts), size=60, seed=7)
    labels = {row: NAMES[row % 16] for row in rows}
    answer = tb.share(texts, labels, scorer=hostile, seed=7)
    by_hand = corpus.answer(
        hostile.score_texts(texts).tolist(),
        {row: float(name == "warm") for row, name in labels.items()},
        pole="warm",
        seed=7,
    )
    assert answer == by_hand
    assert abs(answer.share.value - 0.5) < 0.2
    assert tb.share(texts, labels, scorer=hostile, pole="cold").share.value == pytest.approx(1 - answer.share.value)
    assert answer.paragraph[:20] in drawn(answer)
    answer.write_html(tmp_path / "share.html")
    assert "Share of texts that are warm" in (tmp_path / "share.html").read_text()


def test_a_score_card_is_checked_and_asked_for_the_share_of_one_of_its_traits(hostile: tb.Scorer) -> None:
    card = score_card(warmth=("cold", "warm"), haste=("slow", "fast"))
    again = [*TEXTS, TEXTS[0]]
    findings = card.check(again, {"warmth": [*NAMES, "cold"], "haste": [None] * 15 + ["slow", "fast"]})
    assert {(each.trait_key, *sorted(each.sample_ids)) for each in findings if each.kind == "conflict"} == {
        ("warmth", 0, 16)
    }
    card.fit(TEXTS, {"warmth": NAMES, "haste": ["slow", "fast"] * 8})
    labels = {row: NAMES[row] for row in range(0, 16, 2)}
    assert tb.share(TEXTS, labels, scorer=card, trait="warmth", seed=1) == tb.share(
        TEXTS, labels, scorer=hostile, seed=1
    )
    with pytest.raises(ValueError, match="Name the trait: 'warmth', 'haste'"):
        tb.share(TEXTS, labels, scorer=card)
    with pytest.raises(ValueError, match="There is no trait 'x', only 'warmth', 'haste'"):
        tb.share(TEXTS, labels, scorer=card, trait="x")


@pytest.mark.parametrize(
    ("labels", "pole", "message"),
    [
        ({0: "warm"}, "hot", "'hot' is no pole of the scorer"),
        ({400: "warm"}, None, "There is a label for row 400, but there are 16 texts"),
        ({3: "hot"}, None, "Row 3: 'hot' is not a label"),
    ],
)
def test_a_share_needs_labels_of_its_texts(hostile: tb.Scorer, labels: Any, pole: str | None, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tb.share(TEXTS, labels, scorer=hostile, pole=pole)


def test_charts_show_the_figures(hostile: tb.Scorer) -> None:
    dots = tb.charts.auroc(hostile)
    assert hostile.auroc_ in [x for trace in dots.data for x in trace.x]
    lines = tb.charts.learning_curve(hostile)
    measured = {point.auroc for point in hostile.learning_curve_.points}
    assert measured <= {y for trace in lines.data for y in trace.y}
    with pytest.raises(ValueError, match="There is no trait 'x'"):
        tb.charts.learning_curve(hostile, trait="x")
    answer = tb.share(TEXTS * 5, {row: NAMES[row % 16] for row in range(0, 80, 4)}, scorer=hostile, seed=1)
    assert 100 * answer.share.value in [x for trace in tb.charts.share(answer).data for x in trace.x]
    assert not re.search(r'src="http', dots.to_html(include_plotlyjs=False))
