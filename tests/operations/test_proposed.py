"""Labels that other programs propose: kept for a person, never trained with. See core/docs/contract.md."""

from typing import Any

import pytest

from tests.contexts import AUTHOR, ON_BOTH, SCORER, STRANGER, export_of, new_handle, trained_here
from tests.operations import author
from traitbench.contract.bundles import Bundle
from traitbench.contract.operations import SCORES_SCORE
from traitbench.contract.proposed import MOST_PROPOSED, ProposedLabel
from traitbench.errors import (
    FeatureUnavailable,
    ModelArchived,
    ModelNotFound,
    NamespaceForbidden,
    TraitNotFound,
    ValidationFailed,
)
from traitbench.names import pin
from traitbench.operations import bundles, models, proposed, rules
from traitbench.operations.access import Caller
from traitbench.operations.context import Context
from traitbench.store import models as stored_models
from traitbench.store import proposed_labels
from traitbench.store.database import writing

pytestmark = ON_BOTH

TEN_SCRIPTS = ("Grüße", "Привет", "你好", "नमस्ते", "مرحبا", "שלום", "สวัสดี", "안녕", "γειά", "👩‍👩‍👧 hi")


@pytest.fixture(scope="module")
def bundle(context: Context) -> Bundle:
    return export_of(context, AUTHOR, trained_here(context))


@pytest.fixture
def handle(context: Context, bundle: Bundle) -> str:
    """A trained model of its own with the trait `warmth`: a copy, because only two tests need a fit."""
    return _copied(context, bundle)


def _copied(context: Context, bundle: Bundle) -> str:
    return bundles.import_(context, AUTHOR, bundle, handle=new_handle()).handle


def _propose(context: Context, handle: str, text: str, value: float = 1.0, caller: Caller = SCORER, **how: Any) -> None:
    fields: dict[str, Any] = {"trait": "warmth", "text": text, "value": value} | how
    proposed.propose(context, caller, SCORES_SCORE, handle, **fields)


def _labels(context: Context, handle: str) -> list[ProposedLabel]:
    return proposed.list_proposed(context, AUTHOR, handle).items


def test_a_label_is_kept_as_it_was_proposed_and_listed_newest_first(context: Context, handle: str) -> None:
    for number, text in enumerate(TEN_SCRIPTS):
        _propose(context, pin(handle, "v1"), text, number / 9, trait="Warmth", community="news", client_token=text)
    labels = _labels(context, handle)
    assert [(each.text, each.value) for each in labels] == [
        (text, number / 9) for number, text in reversed([*enumerate(TEN_SCRIPTS)])
    ]
    assert {(each.trait, each.community) for each in labels} == {("warmth", "news")}
    assert [each.client_token for each in labels] == [each.text for each in labels]
    pages = proposed.list_proposed(context, AUTHOR, handle, limit=7)
    rest = proposed.list_proposed(context, AUTHOR, handle, limit=7, cursor=pages.next_cursor)
    assert [*pages.items, *rest.items] == labels


def test_the_same_trait_and_text_with_the_same_token_replace_the_label_before(context: Context, handle: str) -> None:
    for token in (None, "a", "b", None, "a"):
        _propose(context, handle, "how kind", client_token=token)
    _propose(context, handle, "How kind", 0.0)
    _propose(context, handle, "how kind", 0.0, client_token="b")
    kept = [(each.text, each.value, each.client_token) for each in _labels(context, handle)]
    assert kept == [
        ("how kind", 0.0, "b"),
        ("How kind", 0.0, None),
        ("how kind", 1.0, "a"),
        ("how kind", 1.0, None),
    ]


def test_the_oldest_labels_go_when_there_are_too_many(context: Context, handle: str) -> None:
    with writing(context.engine) as connection:
        model = stored_models.find(connection, handle)
        assert model is not None
        for number in range(12):
            fields: dict[str, Any] = {"trait": "warmth", "community": None, "client_token": None, "now": rules.now()}
            proposed_labels.put(connection, model.id, text=f"text {number}", value=1.0, most=10, **fields)
    assert [each.text for each in _labels(context, handle)] == [f"text {number}" for number in range(11, 1, -1)]
    assert MOST_PROPOSED == 1_000


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"text": ""}, "text"),
        ({"text": " \u200b\n"}, "text"),
        ({"text": "a\0b"}, "text"),
        ({"text": "a\ud800"}, "text"),
        ({"text": "x" * 50_001}, "text"),
        ({"value": 1.01}, "value"),
        ({"value": -0.01}, "value"),
        ({"value": float("nan")}, "value"),
        ({"community": "x" * 501}, "community"),
        ({"client_token": "\udfff"}, "client_token"),
    ],
)
def test_what_cannot_be_a_sample_is_refused_without_repeating_it(
    context: Context, handle: str, wrong: dict[str, Any], field: str
) -> None:
    with pytest.raises(ValidationFailed) as refused:
        _propose(context, handle, **{"text": "SECRET"} | wrong)
    assert {each["loc"][0] for each in refused.value.details["errors"]} == {field}
    assert "SECRET" not in str(refused.value.details) + refused.value.message
    assert _labels(context, handle) == []


def test_a_text_of_the_greatest_length_is_kept(context: Context, handle: str) -> None:
    _propose(context, handle, "字" * 50_000)
    assert len(_labels(context, handle)[0].text) == 50_000


def test_only_a_key_that_owns_the_namespace_proposes(context: Context, public: str, handle: str) -> None:
    for caller, of, refusal in (
        (STRANGER, handle, ModelNotFound),
        (STRANGER, public, NamespaceForbidden),
        (SCORER, public, NamespaceForbidden),
        (SCORER, "local.missing", ModelNotFound),
    ):
        with pytest.raises(refusal):
            _propose(context, of, "how kind", caller=caller)
    with pytest.raises(TraitNotFound):
        _propose(context, handle, "how kind", trait="anger")


def test_labels_are_deleted_by_their_ids_or_all_at_once(context: Context, handle: str, bundle: Bundle) -> None:
    for number in range(5):
        _propose(context, handle, f"text {number}")
    other = _copied(context, bundle)
    _propose(context, other, "of another model")
    ids = [each.id for each in _labels(context, handle)]
    foreign = _labels(context, other)[0].id
    assert proposed.delete(context, AUTHOR, handle, ids=(ids[0], ids[2], foreign, 2**53)).count == 2
    assert [each.id for each in _labels(context, handle)] == [ids[1], ids[3], ids[4]]
    assert proposed.delete(context, AUTHOR, handle, ids=()).count == 0
    assert proposed.delete(context, AUTHOR, handle).count == 3
    assert proposed.delete(context, AUTHOR, handle).count == 0
    assert [each.text for each in _labels(context, other)] == ["of another model"]


def test_nothing_is_trained_with_them_and_no_copy_has_them(context: Context, handle: str) -> None:
    before = export_of(context, AUTHOR, handle)
    version = author.refit(context, handle)
    _propose(context, handle, "how kind", 0.0)
    assert author.refit(context, handle).param_hash == version.param_hash
    after = export_of(context, AUTHOR, handle)
    assert (after.samples, author.get(context, handle).retrain.pending) == (before.samples, 0)
    copy = author.fork(context, handle).handle
    assert (_labels(context, copy), len(_labels(context, handle))) == ([], 1)


def test_zero_retention_deletes_them_and_keeps_none(context: Context, handle: str) -> None:
    _propose(context, handle, "how kind")
    author.update(context, handle, zero_data_retention=True)
    assert _labels(context, handle) == []
    with pytest.raises(FeatureUnavailable) as refused:
        _propose(context, handle, "how kind")
    assert refused.value.details["reason"] == "zero_retention"
    assert _labels(context, handle) == []


def test_deleting_a_model_deletes_them(context: Context, handle: str) -> None:
    _propose(context, handle, "how kind")
    models.delete(context, AUTHOR, handle)
    assert _labels(context, handle) == []
    with pytest.raises(ModelArchived):
        _propose(context, handle, "how kind")
    assert models.restore(context, AUTHOR, handle).state == "ready"
    assert _labels(context, handle) == []


def test_they_outlive_a_promotion_and_a_promoted_fork_loses_its_own(context: Context, handle: str) -> None:
    copy = author.improved(context, handle)
    for each in (handle, copy):
        _propose(context, each, f"of {each}")
    author.promote(context, handle, copy)
    assert [each.text for each in _labels(context, handle)] == [f"of {handle}"]
    assert _labels(context, copy) == []
