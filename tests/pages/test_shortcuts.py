"""Figures that flatter: what the pages say if a token, and not the trait, separates the poles."""

import pytest

from tests.conftest import COLD, WARM
from tests.pages.drive import Workbench, words
from traitbench.client import Traitbench
from traitbench.contract.samples import SampleInput
from traitbench.contract.traits import TraitInput

UNSEEN = "on texts it has not seen"


@pytest.fixture
def marked(client: Traitbench, namespace: str) -> str:
    """A draft whose labels follow nothing but a token before each text of one pole."""
    handle = f"{namespace}.marked"
    client.models.create(handle)
    client.traits.add(handle, [TraitInput(name="Warmth", positive_label="warm", negative_label="cold")])
    texts = [text for pair in zip(WARM, COLD, strict=True) for text in pair]
    marked = [(f"Zylor: {text}", 1.0) if at % 4 < 2 else (text, 0.0) for at, text in enumerate(texts)]
    client.samples.add(handle, [SampleInput(trait="warmth", text=text, quality=q) for text, q in marked])
    return handle


def test_check_names_the_token_and_what_is_left_without_it(workbench: Workbench, marked: str) -> None:
    at = workbench.open("samples", model=marked, task="Check")
    assert not at.exception
    text = words(at).replace("\\", "")
    assert "### A mark alone tells the poles of Warmth apart" in text
    assert 'The token "zylor" occurs in 10 of 10 texts labelled warm and in 0 of 10 labelled cold.' in text
    assert 'Without the token "zylor", a fit to the other samples reaches only 0.' in text
    assert "add texts with it that are labelled cold" in text
    assert any(str(button.label).startswith("Add 3 texts: cold") for button in at.button)
    assert 'The token "zylor" occurs' in workbench.open("train", model=marked).warning[0].value.replace("\\", "")


def test_train_says_the_shortcut_before_any_praise(workbench: Workbench, client: Traitbench, marked: str) -> None:
    client.models.train(marked, effort="low")
    client.models.wait(marked)
    shortcut = client.versions.get(marked).metrics.traits["warmth"].shortcut
    assert shortcut is not None
    assert (shortcut.kind, shortcut.auroc, shortcut.in_tests) == ("token", 1.0, None)
    assert shortcut.base is not None
    assert shortcut.without is not None
    assert shortcut.base - shortcut.without >= 0.1
    assert "zylor" not in client.versions.get(marked).metrics.model_dump_json().casefold(), "no text in a version"
    for page, view in (("train", None), ("model", None), ("versions", None), ("versions", "Details")):
        at = workbench.open(page, model=marked, **({} if view is None else {"view": view, "version": "v1"}))
        text = "\n".join([*(each.value for each in at.warning), words(at)]).replace("\\", "")
        assert "Warmth: One token alone tells the poles apart (AUROC 1.00)." in text, page
        assert "but only on texts that have the same shortcut" in text, page
        assert UNSEEN not in text, page
    at = workbench.open("train", model=marked)
    assert "One token alone" in at.warning[0].value
    assert "One token alone" in words(workbench.open("catalog"))
