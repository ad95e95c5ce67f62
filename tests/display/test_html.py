"""The HTML of every display is as recorded, tag by tag and text by text.

`python -m tests.display.test_html` records it again; review the difference.
"""

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.display.answers import EVIL, filled
from tests.display.test_notebook import ANSWERS, MEASURED, model, sample, version
from traitbench.analysis import corpus
from traitbench.client.pages import ListedRows, Pages
from traitbench.contract.comparisons import ComparedText, ScoreDelta
from traitbench.contract.metrics import CurvePoint, Feed, Forecast
from traitbench.contract.page import ModelPage
from traitbench.estimators.diff import Diff
from traitbench.estimators.displays import LearningCurve, fitted_html
from traitbench.local.checks import Findings

RECORDED = Path(__file__).with_name("html.txt")


class Events(HTMLParser):
    """The tags and texts of HTML: how the characters of both are escaped does not count."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._text = ""
        self.feed(html)
        self.close()
        self._flush()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._flush()
        self.lines.append(f"<{tag}{''.join(f' {name}={value!r}' for name, value in attrs)}>")

    def handle_endtag(self, tag: str) -> None:
        self._flush()
        self.lines.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        self._text += data

    def _flush(self) -> None:
        # Line breaks between tags are the template's; those within a text belong to it.
        if self._text.strip():
            self.lines.append(repr(self._text))
        self._text = ""


SCORED = {
    "text": [f"{EVIL} {row}" for row in range(4)] + ["word " * 5_000],
    "warmth_score": [0, 30, 50, 99, None],
    "warmth_side": ["cold", None, None, EVIL, None],
    "warmth_confidence": ["high", "low", "moderate", "moderate", None],
    "warmth_reason": [None, "overlap", None, "overlap", None],
    "error": [None, None, None, None, EVIL],
}


def displays() -> Iterator[tuple[str, Any]]:
    """Every display by name."""
    yield from ANSWERS.items()
    yield "no rows", ListedRows([])
    yield "numbers", ListedRows([1, 2])
    yield "samples", ListedRows([sample(f"{EVIL}\n{number}") for number in range(2)])
    yield "models", Pages(lambda _: ModelPage.model_construct(items=[model(EVIL)], limit=1, next_cursor="b"))
    yield "versions", ListedRows([version(MEASURED, EVIL), version({})])
    points = [CurvePoint(samples=20, auroc=0.8, interval=(0.7, 0.9)), CurvePoint(samples=40, auroc=0.85)]
    yield "no curve", LearningCurve("warmth", [], None, None)
    forecast = Forecast(samples=60, auroc=0.9, interval=(0.85, 0.95), more=20)
    yield "curve", LearningCurve(EVIL, points, forecast, Feed(pole="positive", why=EVIL))
    yield "diff of equals", Diff(["warmth"], ["A text."], [], True)
    up = filled(ScoreDelta, a=40, b=60, delta=20, side_changed=True)
    down = filled(ScoreDelta, a=9, b=8, delta=-1, side_changed=False)
    texts = [filled(ComparedText, index=at, traits={"warmth": each, EVIL: each}) for at, each in enumerate((down, up))]
    yield "diff", Diff(["warmth", EVIL], ["A text.", f"{EVIL}\n\nends " + "long " * 100], texts, False)
    yield "no findings", Findings((), 1200)
    finding = SimpleNamespace(
        kind="conflict", severity="error", says=EVIL, more="More.", fix=SimpleNamespace(says=EVIL), sample_ids=range(12)
    )
    alone = SimpleNamespace(kind="conflict", severity="notice", says="Says.", more="", fix=None, sample_ids=[3])
    yield "findings", Findings((finding, alone), 20)  # type: ignore[arg-type]
    labels = {row: float(row % 3 == 0) for row in range(60)}
    yield "share", corpus.answer([30.0, 60.0] * 100, labels, pole=EVIL, groups=[EVIL, "b"] * 100, seed=7)
    yield (
        "fitted",
        SimpleNamespace(
            _repr_html_=lambda: fitted_html("Scorer", fitted(), ["warmth"], "<b>Parameters of scikit-learn</b>")
        ),
    )


def fitted() -> Any:
    """As much of a fitted version as its display reads."""
    trait = SimpleNamespace(key="warmth", name=EVIL, negative_label=EVIL, positive_label="warm")
    figures = {
        "auroc": 0.9123,
        "auroc_interval": [0.8, 0.95],
        "counts": {"positive": 8, "negative": 7},
        "measured_on": "out of fold",
        "shortcut": {
            "kind": "token",
            "auroc": 0.9,
            "sides": {"positive": {"samples": 8, "right": 8}, "negative": {"samples": 7, "right": 7}},
        },
    }
    return SimpleNamespace(
        traits=[trait, SimpleNamespace(key="other")],
        samples=1500,
        snapshot=SimpleNamespace(encoder=SimpleNamespace(id="ngrams")),
        param_hash="sha256:" + "0" * 64,
        metrics={"effort": "low", "traits": {"warmth": figures, "other": {}}},
    )


def drawn() -> str:
    """All displays as recorded."""
    result = ""
    for name, each in displays():
        page = " ".join(Events(each._repr_html_()).lines)
        result += f"# {name}\n" + page.replace("<tr>", "\n<tr>").replace("</div> ", "</div>\n") + "\n"
    return result


def test_the_html_of_every_display_is_as_recorded() -> None:
    assert drawn().splitlines() == RECORDED.read_text("utf-8").splitlines()


def test_a_page_has_a_title_and_loads_nothing(tmp_path: Path) -> None:
    Diff([EVIL], [], [], True).write_html(tmp_path / "page.html")
    page = Events((tmp_path / "page.html").read_text("utf-8")).lines
    assert page.count("'Difference of two scorers'") == 2
    assert not [each for each in page if "src=" in each or "href=" in each]


if __name__ == "__main__":
    RECORDED.write_text(drawn(), "utf-8")
