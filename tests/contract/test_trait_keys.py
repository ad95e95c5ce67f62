"""The keys that are derived from any names, of all scripts (core/docs/contract.md, section 2)."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.contract.trait_names import NAMES
from tests.size import sized
from traitbench.contract.traits import TraitInput
from traitbench.errors import ValidationFailed
from traitbench.names import canonical, free_key, is_key, trait_key


@settings(max_examples=sized(200, 600), deadline=None, derandomize=True)
@given(NAMES)
def test_a_derived_key_is_valid_and_the_same_for_every_spelling(name: str) -> None:
    try:
        key = trait_key(name)
    except ValidationFailed:
        assert not any(char.isalnum() for char in unicodedata.normalize("NFKC", name))
        return
    assert is_key(key)
    assert TraitInput(name="x", key=key).key == key, "a model's traits come back by their keys"
    assert trait_key(key) == key == canonical(key)
    assert {trait_key(unicodedata.normalize(form, name)) for form in ("NFC", "NFD", "NFKC", "NFKD")} == {key}


@settings(max_examples=sized(100, 300), deadline=None, derandomize=True)
@given(st.text("ab_\u0301न", min_size=1, max_size=64).filter(is_key), st.integers(0, 120))
def test_a_free_key_is_valid_and_free(key: str, others: int) -> None:
    taken = {key, *(free for number in range(2, others) for free in (f"{key[:61].rstrip('_')}_{number}",))}
    free = free_key(key, taken)
    assert is_key(free)
    assert free not in taken
    assert free_key(free, taken) == free


@pytest.mark.parametrize("key", ["\u0301a", "", "a b", "a\u200db", "x" * 65, "a.b", "a\u00a0", "\U0001f600"])
def test_no_other_key_may_be_given(key: str) -> None:
    assert not is_key(key)
