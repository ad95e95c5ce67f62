"""How answers look in a notebook: what is in them is shown, escaped, and nothing is asked of anybody else."""

import re
from html.parser import HTMLParser
from typing import Any

import pytest

from tests.conftest import not_none
from tests.display.answers import EVIL, NOW, card, filled, trait_score
from traitbench.client.pages import ListedRows, Pages
from traitbench.contract.batches import FailedLine
from traitbench.contract.bundles import Bundle
from traitbench.contract.comparisons import (
    ComparedText,
    ComparedVersion,
    CompositeDelta,
    FigureDelta,
    ScoreDelta,
    TraitDifference,
    VersionsComparison,
)
from traitbench.contract.envelope import Health
from traitbench.contract.explanations import Explanation
from traitbench.contract.fields import Wire
from traitbench.contract.metrics import Metrics
from traitbench.contract.models import LastOperation, Model, RunStarted, VersionRetentionPolicy
from traitbench.contract.page import ModelPage, VersionPage
from traitbench.contract.samples import Sample, SampleInput
from traitbench.contract.scores import Card, Comparison, Delta
from traitbench.contract.texts import Extracted
from traitbench.contract.traits import Trait, TraitList
from traitbench.contract.versions import Version
from traitbench.display import notebook

PAIRED = {"table", "thead", "tbody", "tr", "td", "th", "div", "span", "b", "details", "summary"}


def scored(**scores: int) -> Card:
    return card({key: trait_score(score) for key, score in scores.items()})


def explanation(text: str, *, quoted: bool = True, **more: Any) -> Explanation:
    """A part of two pieces, and another that comes without its text."""
    middle = len(text) // 2
    pieces = [{"start": 0, "end": middle, "contribution": 2.5}, {"start": middle, "end": len(text), "contribution": -1}]
    part = {"start": 0, "end": len(text), "contribution": 1.5, "pieces": pieces, "text": text if quoted else None}
    near = [{"id": 12, "quality": 0.9, "similarity": 0.83, "text": text}]
    return Explanation.model_validate(
        {
            "unit": "logit",
            "position": 1.5,
            "baseline": 0.0,
            "parts": [part, {"start": 500, "end": 510, "contribution": 0.0, "pieces": []}],
            "refined": True,
            "decided_by": {"start": 0, "end": 9},
            "nearest": {"positive": near, "negative": near},
            "note": text,
            **more,
        }
    )


def model(text: str) -> Model:
    operation = filled(LastOperation, kind="discover", status="failed", progress=None)
    return filled(
        Model,
        handle="a.b",
        description=text,
        state="ready",
        version_no=3,
        version_tags=["best"],
        last_operation=operation,
        max_depth=1,
    )


def sample(text: str, **more: Any) -> Sample:
    given = {"id": 4, "trait": "warmth", "text": text, "quality": 0.5, "provenance": "authored", "held_out": False}
    return filled(Sample, **given | more)


def version(metrics: dict[str, Any], tag: str = "best") -> Version:
    given = {"version_no": 3, "sample_count": 20, "triggered_by": "train", "tags": [tag], "created_at": NOW}
    return filled(Version, metrics=Metrics.model_validate(metrics), **given)


MEASURED = {
    "auroc": 0.91,
    "traits": {
        "warmth": {
            "auroc": 0.912,
            "auroc_interval": [0.8, 0.99],
            "brier": None,
            "measured_on": EVIL,
            "confidence": {"high": {"samples": 12, "right": 11}, "low": {"samples": 8, "right": 5}},
            "test": {
                **{"auroc": 0.873, "auroc_interval": [0.7, 0.95], "error": 0.25, "positive": 4, "negative": 4},
                **{"must_pass": 3, "must_pass_failed": 1, "measured_on": EVIL, "test_set": EVIL},
            },
        }
    },
}
VERSIONS = filled(
    VersionsComparison,
    b=filled(ComparedVersion, handle="a.b", version_no=4),
    traits={
        EVIL: filled(
            TraitDifference,
            auroc=FigureDelta(a=0.8, b=0.9, delta=0.1, interval=[0.05, 0.15]),
            error=FigureDelta(a=0.2, b=0.1, delta=-0.1, interval=None),
            verdict="no_difference",
        )
    },
    texts=[
        ComparedText(
            index=0,
            traits={EVIL: filled(ScoreDelta, a=40, b=60, delta=20)},
            composite=CompositeDelta(a=40, b=60, delta=20),
        ),
        filled(FailedLine, index=1),
    ],
)

ANSWERS: dict[str, Wire] = {
    "model": model(EVIL),
    "page of models": ModelPage.model_construct(items=[model(EVIL)], limit=1, next_cursor="more"),
    "card": scored(warmth=77, clarity=40),
    "card of one trait": scored(**{EVIL: 50}),
    "card with reasons": scored(warmth=77).model_copy(update={"explanation": {EVIL: explanation(EVIL)}}),
    "reasons": explanation(EVIL),
    "reasons without a text": explanation("Words.", quoted=False),
    "reasons on the scale of scores": explanation("Words.", unit="score", position=0.65),
    "comparison": Comparison(
        a=scored(warmth=40),
        b=scored(warmth=55),
        improvement=-9,
        certain=False,
        per_trait={"warmth": Delta(a=40, b=55, delta=15, certain=True)},
    ),
    "versions compared": VERSIONS,
    "versions compared in vain": VERSIONS.model_copy(update={"traits": {}}),
    "trait": filled(Trait),
    "traits": TraitList.model_construct(traits=[filled(Trait)]),
    "sample": sample(EVIL),
    "version": version(MEASURED, EVIL),
    "version of another release": version({"traits": [EVIL], "auroc": EVIL}),
    "version with odd figures": version({"traits": {EVIL: {"auroc": EVIL, "auroc_interval": [EVIL]}, "b": 1}}),
    "extracted": filled(Extracted, content=EVIL * 50),
    "bundle": filled(Bundle, traits=[], samples=None, versions=[]),
    "any other answer": filled(RunStarted),
    "a body": filled(SampleInput),
}


class Page(HTMLParser):
    """The tags of a piece of HTML, their attributes, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.text = ""
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._open.append(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += f"{data} "


def shown(answer: Wire) -> str:
    """The HTML of an answer in a notebook."""
    html = not_none(answer._repr_html_())
    return html


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS.keys())
def test_whatever_is_in_an_answer_is_shown_and_does_nothing(answer: Wire) -> None:
    html = shown(answer)
    page = Page(html)
    assert set(page.tags) <= PAIRED
    assert page.attributes <= {"style"}
    assert "url(" not in html
    assert "<script" not in html


@pytest.mark.parametrize("name", ["model", "trait", "sample", "extracted", "any other answer"])
def test_text_is_shown_as_it_is(name: str) -> None:
    assert EVIL in Page(shown(ANSWERS[name])).text


def test_no_text_has_a_colour_of_its_own() -> None:
    html = "".join(shown(answer) for answer in ANSWERS.values())
    assert {*re.findall(r"(?<![-\w])color:\s*(\w+)", html)} == {"inherit"}


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("model", ["a.b", "ready, v3", "#best", "discover failed", "depth 1"]),
        ("card", ["why not high", "both kinds get this score", "warmth", "77", "●●○", "Solid"]),
        ("card", ["Composite", "61", "●○○", "v3 · 12 tokens", "stored as 8, 9"]),
        ("card with reasons", ["77", "+1.50", "0.83", "12"]),
        ("reasons", ["+1.50 from the middle", "▲ 0.83", "▼ 0.83", "0.9", "characters 0 to 9", "characters 500 to 510"]),
        ("reasons without a text", ["characters 0 to 6"]),
        ("reasons on the scale of scores", ["+65.0 points from the middle", "+150.0 points"]),
        (
            "comparison",
            [
                "b, warmth: moderate confidence. Texts of both kinds get this score.",
                "▲ +15",
                "b is higher (sure)",
            ],
        ),
        ("comparison", ["warmth", "40", "55", "▼ -9", "no sure difference"]),
        (
            "versions compared",
            [
                "to a.b@v4",
                "0.800 to 0.900",
                "+0.050 – +0.150",
                "no difference",
                "40",
                "60",
                "▲ +20",
                "text 0",
                "▼\xa0negative",
            ],
        ),
        ("sample", ["#4", "warmth", "0.5", "authored"]),
        (
            "version",
            ["12 of 20, 11 right", "v3", "train", "2026-03-04 05:06", "20 samples", "0.912", "0.800 – 0.990", "–"],
        ),
        ("bundle", ["no samples", "0 versions"]),
    ],
)
def test_an_answer_shows_what_matters(answer: str, words: list[str]) -> None:
    text = Page(shown(ANSWERS[answer])).text
    assert [word for word in words if word not in text] == []


def test_a_bar_is_as_long_as_its_score() -> None:
    assert "left:50%;width:27%" in shown(scored(warmth=77))
    assert "left:40%;width:10%" in shown(scored(warmth=40))


def test_a_card_of_one_trait_has_no_composite() -> None:
    assert "Composite" not in shown(scored(warmth=77))


def test_a_listing_shows_the_page_in_hand_and_says_that_there_is_more() -> None:
    pages = Pages(lambda _: ModelPage.model_construct(items=[model("Letters")], limit=1, next_cursor="b"))
    text = Page(not_none(pages._repr_html_())).text
    assert "Letters" in text
    assert "more pages" in text


def test_a_long_list_is_cut_with_its_length_told() -> None:
    text = Page(not_none(ListedRows([sample(f"text {number}") for number in range(250)])._repr_html_())).text
    assert "text 99" in text
    assert "text 100" not in text
    assert "150 more rows not shown" in text


@pytest.mark.parametrize(
    ("items", "words"), [([], "nothing to show"), ([1, 2], "2"), (["<b>"], "<b>"), ([Health(status="ok")], "ok")]
)
def test_any_list_can_be_shown(items: list[object], words: str) -> None:
    page = Page(notebook.listing(items))
    assert words in page.text
    assert "b" not in page.tags


def test_a_policy_in_hand_is_shown_too() -> None:
    assert "keep_unnamed" in Page(shown(VersionRetentionPolicy())).text


def test_figures_on_test_samples_come_before_those_out_of_fold() -> None:
    html = shown(version(MEASURED))
    assert html.index("AUROC 0.87 on 8 test samples") < html.index("1 of 3") < html.index("Out of fold")
    listed = shown(VersionPage.model_construct(items=[version(MEASURED)], limit=1, next_cursor=None))
    assert listed.index("AUROC on test samples") < listed.index("0.87") < listed.index("0.91")


def test_a_test_sample_says_what_it_is() -> None:
    assert "test sample, must pass" in shown(sample("A text.", held_out=True, must_pass=True))
    assert "test sample" not in shown(sample("A text."))
