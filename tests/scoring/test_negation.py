import pytest

from traitbench.scoring.negation import negates


@pytest.mark.parametrize("label", ["not ironic", "Other", "anything else", "non-fiction", " no insult", "without hope"])
def test_labels_that_only_negate(label: str) -> None:
    assert negates(label)


@pytest.mark.parametrize("label", ["notable", "too warm", "earnest", "unlike it seems", "nonsense", "a bother"])
def test_labels_that_say_something(label: str) -> None:
    assert not negates(label)
