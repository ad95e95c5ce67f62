"""Names never overwrite one another: trait keys are derived, shared, found and refused as the contract says."""

import unicodedata
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select, update

from tests.contexts import AUTHOR, ON_BOTH, SCORER
from tests.contract.trait_names import NAMES
from tests.operations.author import add_samples, new_model, row, samples_of
from tests.operations.conftest import add_traits
from tests.size import sized
from traitbench.contract.traits import TraitUpdate
from traitbench.errors import DuplicateTrait, TraitbenchError, TraitNotFound, ValidationFailed
from traitbench.names import canonical
from traitbench.operations import traits
from traitbench.operations.context import Context
from traitbench.store import tables
from traitbench.store.database import reading, writing

CAFE, CAFE_NFD = "Café", "Cafe\u0301"


def _names(context: Context, handle: str) -> dict[str, str]:
    return {trait.key: trait.name for trait in traits.list_traits(context, AUTHOR, handle).traits}


def _refused(context: Context, handle: str, *inputs: dict[str, Any]) -> TraitbenchError:
    before = _names(context, handle)
    with pytest.raises(TraitbenchError) as caught:
        add_traits(context, handle, *inputs)
    assert _names(context, handle) == before
    return caught.value


def _problems(error: TraitbenchError) -> list[tuple[list[Any], str]]:
    return [(problem["loc"], problem["type"]) for problem in error.details["errors"]]


def test_a_derived_key_of_another_name_is_refused_with_the_other_trait_and_a_free_key(
    context: Context, handle: str
) -> None:
    add_traits(context, handle, {"name": "C++"})
    add_samples(context, handle, [("RAII", 1.0)], trait="C++")
    error = _refused(context, handle, {"name": "Rust"}, {"name": "C#"})
    assert isinstance(error, DuplicateTrait)
    [problem] = error.details["errors"]
    assert {name: value for name, value in problem.items() if name != "msg"} == {
        "loc": ["traits", 1, "key"],
        "type": "key_of_another_trait",
        "key": "c",
        "name": "C++",
        "free_key": "c_2",
    }
    assert all(word in error.message for word in ("traits[1].key", '"C#"', '"C++"', "`key`", '"c_2"'))
    assert add_traits(context, handle, {"name": "C#", "key": problem["free_key"]}) == ["c_2"]
    assert traits.get(context, AUTHOR, handle, "C++").sample_count == 1


def test_a_message_does_not_repeat_characters_that_steer_a_terminal(context: Context, handle: str) -> None:
    add_traits(context, handle, {"name": "C\x1b[2J\u202e"})
    error = _refused(context, handle, {"name": "c [2J\x07"})
    assert error.message.isprintable()
    assert error.details["names"] == ["C\x1b[2J\u202e"]
    with pytest.raises(TraitNotFound) as missing:
        traits.get(context, SCORER, handle, "\x1b[2J")
    assert missing.value.message.isprintable()


def test_two_names_of_one_key_in_a_batch_are_refused_and_each_gets_its_own_suggestion(
    context: Context, handle: str
) -> None:
    error = _refused(context, handle, {"name": "C++"}, {"name": "C#"}, {"name": "Zeal"}, {"name": "c"})
    assert isinstance(error, DuplicateTrait)
    assert _problems(error) == [(["traits", 1, "key"], "key_twice"), (["traits", 3, "key"], "key_twice")]
    assert [problem["free_key"] for problem in error.details["errors"]] == ["c_2", "c_3"]
    assert "(1 more in details.errors)" in error.message


def test_every_bad_trait_of_a_batch_is_named(context: Context, handle: str) -> None:
    add_traits(context, handle, {"name": "Tone"}, {"name": "Clarity"})
    error = _refused(
        context,
        handle,
        {"name": "tone"},
        {"name": "?!"},
        {"name": "Fine"},
        {"name": "Clarity", "key": "clear"},
        {"name": "Other", "key": "fine"},
    )
    assert isinstance(error, ValidationFailed)
    assert _problems(error) == [
        (["traits", 0, "key"], "key_of_another_trait"),
        (["traits", 1, "name"], "empty_key"),
        (["traits", 3, "name"], "name_of_another_trait"),
        (["traits", 4, "key"], "key_twice"),
    ]


def test_more_problems_than_can_be_named_are_counted(context: Context, handle: str) -> None:
    error = _refused(context, handle, *({"name": f"T{number}"} for number in range(1_001)))
    assert _problems(error) == [(["traits"], "too_many")]
    error = _refused(context, handle, *({"name": "?"} for _ in range(1_000)))
    assert (len(error.details["errors"]), "more_errors" in error.details) == (1_000, False)


# ---- scripts ---------------------------------------------------------------------------------------------------------


@ON_BOTH
@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("हिन्दी", "हिन्दी"),
        ("ความสุข", "ความสุข"),
        ("İstanbul", "i̇stanbul"),
        (CAFE_NFD, "café"),
        ("שָׁלוֹם", "שָׁלוֹם"),
        ("!\u0301bar", "bar"),
        ("x" * 70, "x" * 64),
    ],
)
def test_keys_keep_combining_marks(context: Context, handle: str, name: str, key: str) -> None:
    key = unicodedata.normalize("NFC", key)
    assert add_traits(context, handle, {"name": name}) == [key]
    assert traits.get(context, SCORER, handle, key).name == name
    assert add_traits(context, handle, {"name": name, "key": key}) == [key]


@ON_BOTH
def test_nfc_and_nfd_are_one_name_everywhere(context: Context, handle: str) -> None:
    add_traits(context, handle, {"name": CAFE, "positive_label": "old"})
    assert add_traits(context, handle, {"name": CAFE_NFD, "positive_label": "new"}) == ["café"]
    assert len(_names(context, handle)) == 1
    for spelled in (CAFE, CAFE_NFD, "café", "cafe\u0301"):
        assert traits.get(context, SCORER, handle, spelled).positive_label == "new"
        add_samples(context, handle, [("x", 1.0)], trait=spelled)
    assert len(samples_of(context, handle, trait="cafe\u0301")) == 4
    error = _refused(context, handle, {"name": CAFE, "key": "other"})
    assert _problems(error) == [(["traits", 0, "name"], "name_of_another_trait")]
    add_traits(context, handle, {"name": "Tea"})
    with pytest.raises(DuplicateTrait) as caught:
        traits.update(context, AUTHOR, handle, "tea", TraitUpdate(name=CAFE_NFD))
    assert _problems(caught.value) == [(["name"], "name_of_another_trait")]
    assert add_traits(context, handle, {"name": "Bar", "key": "cafe\u0301"}) == ["café"]


def _store(context: Context, handle: str, trait: str, **fields: str) -> None:
    """Give a trait what an import may have stored."""
    chosen = (tables.traits.c.model_id == row(context, handle).id, tables.traits.c.key == trait)
    with writing(context.engine) as connection:
        connection.execute(update(tables.traits).where(*chosen).values(**fields))


@ON_BOTH
def test_stored_keys_and_names_in_any_spelling_are_found(context: Context, handle: str) -> None:
    """An import stores keys and names as the bundle has them."""
    hangul = unicodedata.normalize("NFD", "한글")
    add_traits(context, handle, {"name": CAFE, "key": "a"}, {"name": "Tea", "key": "b"}, {"name": "Han", "key": "c"})
    _store(context, handle, "b", name=CAFE_NFD)
    _store(context, handle, "c", key=hangul)
    assert traits.get(context, SCORER, handle, CAFE).key == "a"
    assert traits.get(context, SCORER, handle, CAFE_NFD).key == "b"
    for spelled in (hangul, "한글"):
        assert traits.get(context, SCORER, handle, spelled).key == hangul
        assert add_traits(context, handle, {"name": "Han", "key": spelled}) == [hangul]
    changed = traits.update(context, AUTHOR, handle, "b", TraitUpdate(description="still editable")).traits[0]
    assert changed.name == CAFE_NFD
    with reading(context.engine) as connection:
        keys = connection.execute(select(tables.traits.c.key).where(tables.traits.c.key == hangul)).scalars().all()
    assert keys[-1:] == [hangul]


def test_an_unknown_trait_is_answered_with_what_was_sent_and_the_known_ones(context: Context, handle: str) -> None:
    add_traits(context, handle, {"name": "Tone"}, {"name": "C#", "key": "c-sharp"})
    known = [{"key": "tone", "name": "Tone"}, {"key": "c-sharp", "name": "C#"}]
    with pytest.raises(ValidationFailed) as caught:
        add_samples(context, handle, [("x", 1.0)], trait="Tonne")
    assert caught.value.details["errors"][0]["sent"] == "Tonne"
    assert caught.value.details["known_traits"] == known
    assert 'no trait "Tonne"' in caught.value.message
    assert "Known traits: tone, c-sharp." in caught.value.message
    with pytest.raises(TraitNotFound) as missing:
        traits.get(context, SCORER, handle, "Tonne")
    assert missing.value.details == {"trait": "Tonne", "known_traits": known}


@settings(max_examples=sized(15, 25), deadline=None, derandomize=True)
@given(
    st.lists(
        st.tuples(NAMES.filter(lambda name: "\x00" not in name and name.strip()), st.sampled_from(["NFC", "NFD"])),
        max_size=6,
    )
)
def test_no_name_ever_overwrites_another(context: Context, sent: list[tuple[str, Literal["NFC", "NFD"]]]) -> None:
    """Names from a few characters, so that many give one key; none loses its samples to another."""
    handle = new_model(context)
    owners: dict[str, str] = {}
    for place, (name, form) in enumerate(sent):
        spelled = unicodedata.normalize(form, name)
        before = _names(context, handle)
        try:
            [key] = add_traits(context, handle, {"name": spelled})
        except (DuplicateTrait, ValidationFailed):
            assert _names(context, handle) == before
            continue
        assert owners.setdefault(key, canonical(name)) == canonical(name)
        add_samples(context, handle, [(f"{place} of {key}", 1.0)], trait=spelled)
    for sample in samples_of(context, handle):
        assert sample.text.endswith(f" of {sample.trait}")
    assert {key: canonical(name) for key, name in _names(context, handle).items()} == owners
