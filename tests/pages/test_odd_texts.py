"""Odd texts on pages: typed, in links and as samples, they are shown and scored as they are."""

from tests import wild
from tests.conftest import Trained
from tests.pages.drive import Workbench
from tests.size import sized
from traitbench.client import Traitbench
from traitbench.contract.samples import SampleInput

TYPED = [text for text in (*wild.ODD, *wild.texts(100)) if text.strip("\ufeff") == text and "\r" not in text]
"""What a text field keeps: a browser sends line feeds only."""


def test_an_odd_text_that_is_typed_has_the_score_that_the_service_gives(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("score", model=trained.handle, numbers="true")
    for text in TYPED[:: sized(12, 3)]:
        at.text_area(key="score.text").set_value(text).run()
        assert at.metric[0].value.removeprefix("≈ ") == str(trained.client.scores.score(trained.handle, text).composite)


def test_odd_texts_in_links_and_as_samples_break_no_page(
    workbench: Workbench, trained: Trained, client: Traitbench, draft: str
) -> None:
    for text in [*TYPED, "a\x00b", " "][:: sized(40, 3)]:
        for query in ({"text": text, "against": text}, {"version": text}):
            workbench.open("score", model=trained.handle, **query)
    samples = [SampleInput(trait="warmth", text=text, quality=float(at % 2)) for at, text in enumerate(wild.ODD)]
    client.samples.add(draft, samples)
    for page, query in (("samples", {}), ("samples", {"task": "check"}), ("label", {}))[:: sized(2, 1)]:
        workbench.open(page, model=draft, **query)
