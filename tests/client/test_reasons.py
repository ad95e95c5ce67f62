import math

from tests.conftest import COLD, WARM, Trained
from traitbench.client import Traitbench

TEXT = f"{WARM[0]} {COLD[0]}"


def test_reasons_come_with_the_words_they_are_about(trained: Trained) -> None:
    card = trained.client.scores.score(trained.handle, TEXT, explain=True)
    (result,) = (card.explanation or {}).values()
    assert [part.text for part in result.parts] == [TEXT[part.start : part.end] for part in result.parts]
    assert " ".join(str(part.text) for part in result.parts) == TEXT
    assert math.isclose(math.fsum(part.contribution for part in result.parts), result.position, abs_tol=1e-9)
    assert result.nearest is not None
    assert result.nearest.positive[0].text in {sample.text for sample in trained.client.samples.list(trained.handle)}


def test_characters_of_every_plane_are_counted_as_python_does(trained: Trained) -> None:
    text = "😀😀 Thank you so much 👩‍👩‍👧. No reply is needed."
    result = (trained.client.scores.score(trained.handle, text, explain=True).explanation or {})["warmth"]
    assert [part.text for part in result.parts] == ["😀😀 Thank you so much 👩‍👩‍👧.", "No reply is needed."]


def test_a_scoring_key_gets_reasons_without_the_texts_of_samples(
    trained: Trained, client: Traitbench, scoring_client: Traitbench, namespace: str
) -> None:
    bundle = trained.client.models.export(trained.handle)
    client.models.import_(bundle, handle=f"{namespace}.shared")
    result = (scoring_client.scores.score(f"{namespace}.shared", TEXT, explain=True).explanation or {})["warmth"]
    assert result.parts
    assert result.nearest is None or {near.text for near in result.nearest.positive} == {None}
