"""The texts that a discovery reads."""

from traitbench.local.discovery_texts import texts_of


def test_texts_that_say_nothing_are_not_discovered() -> None:
    pool = {"a": "n/a", "b": "The parcel came late.", "c": "なし", "d": "-"}
    texts = texts_of([], pool)
    assert texts.to_send() == ["The parcel came late."]
    assert (len(texts), texts.nothing) == (1, 3)
