import pytest

from traitbench.fitting.phrases import names_the_rest, negates


@pytest.mark.parametrize(
    "label", ["not ironic", "Other", "anything else", "non-fiction", " no insult", "without hope", "neither"]
)
def test_labels_that_only_negate(label: str) -> None:
    assert negates(label)


@pytest.mark.parametrize(
    "label", ["notable", "too warm", "earnest", "unlike it seems", "nonsense", "nostalgic", "unhappy"]
)
def test_labels_that_say_something(label: str) -> None:
    assert not negates(label)


@pytest.mark.parametrize(
    "label",
    [
        *("other", "Other text", "others", "about other things", "another topic", "any other news", "the rest"),
        *("something else", "about something else", "anything else", "everything else", "all else", " anything "),
    ],
)
def test_labels_that_mean_the_rest(label: str) -> None:
    assert names_the_rest(label)


@pytest.mark.parametrize(
    "label",
    [
        *("not ironic", "neither", "about others", "thinks of others", "blames someone else", "other-directed", "rest"),
        *("everything is fine", "a bother", "otherworldly", "someone else's fault", ""),
    ],
)
def test_labels_that_mean_something_of_their_own_or_only_deny_it(label: str) -> None:
    assert not names_the_rest(label)
