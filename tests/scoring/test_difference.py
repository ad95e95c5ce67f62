"""Which traits differ for certain between two cards of a version."""

from tests.scoring.hand import axis, snapshot
from traitbench.scoring.card import certain, trait_score
from traitbench.scoring.certainty import Certainty, Levels

LEVELS = Levels(high=(20, 80), moderate=(35, 65))


def test_a_version_says_of_each_trait_whether_it_is_certain_or_unlike() -> None:
    sure = Certainty(LEVELS, LEVELS, difference=2.0)
    version = snapshot(axis("a", certainty=sure), axis("b", certainty=sure))
    low, high = ({trait.key: trait_score(trait, at) for trait in version.traits} for at in (0.2, 0.8))
    near = high | {"b": low["b"]}
    unlike = {key: score._replace(confidence_reason="unlike_samples") for key, score in high.items()}
    assert certain(version, low, high) == {"a": True, "b": True}
    assert certain(version, low, near) == {"a": True, "b": False}
    assert certain(version, low, unlike) == certain(version, unlike, low) == {"a": False, "b": False}
    assert certain(version, {"b": low["b"]}, {"b": high["b"]}) == {"b": True}
