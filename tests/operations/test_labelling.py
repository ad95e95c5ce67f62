"""Texts without labels and decisions: rows of the service, for every colleague. See core/docs/contract.md."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from sqlalchemy import text

from tests.contexts import AUTHOR, ON_BOTH, ON_SQLITE, SCORER, STRANGER, draft, export_of, new_handle, trained_here
from tests.operations import author
from traitbench.contract.bundles import Bundle
from traitbench.contract.labelling import DecisionPut, TextDecision, TextInput, TextsAdd, TextsAdded
from traitbench.contract.samples import Sample
from traitbench.errors import (
    FeatureUnavailable,
    InsufficientScope,
    ModelArchived,
    ModelNotDraft,
    ModelNotFound,
    NamespaceForbidden,
    SampleChanged,
    TextNotFound,
    TraitNotFound,
    ValidationFailed,
)
from traitbench.operations import bundles, labelling, models, samples
from traitbench.operations.access import Caller
from traitbench.operations.context import Context
from traitbench.store.database import writing

TEN_SCRIPTS = ("Grüße", "Привет", "你好", "नमस्ते", "مرحبا", "שלום", "สวัสดี", "안녕", "γειά", "👩‍👩‍👧 hi")
ANA = replace(AUTHOR, name="Ana", person="person_ana")
BEN = replace(AUTHOR, name="Ben", person="person_ben")


@pytest.fixture(scope="module")
def bundle(context: Context) -> Bundle:
    return export_of(context, AUTHOR, trained_here(context))


@pytest.fixture
def trained(context: Context, bundle: Bundle) -> str:
    """A trained model of its own with the trait `warmth`."""
    return bundles.import_(context, AUTHOR, bundle, handle=new_handle()).handle


@pytest.fixture
def handle(context: Context) -> str:
    """A draft with the trait `warmth` and no samples."""
    return draft(context)


def _add(context: Context, handle: str, texts: Sequence[str], caller: Caller = ANA, **how: str) -> TextsAdded:
    body = TextsAdd(texts=[TextInput(text=each) for each in texts], **how)
    return labelling.add(context, caller, handle, body)


def _texts(context: Context, handle: str) -> dict[str, int]:
    return {each.text: each.id for each in labelling.list_texts(context, AUTHOR, handle, limit=5_000).items}


def _decide(
    context: Context, handle: str, words: str, quality: float | None, caller: Caller = ANA, **how: object
) -> TextDecision:
    body = DecisionPut.model_validate({"quality": quality, **how})
    return labelling.decide(
        context, caller, handle, _texts(context, handle)[words], "warmth", body, request_id="req_test"
    )


def _take_back(context: Context, handle: str, words: str, caller: Caller = ANA) -> TextDecision:
    return labelling.take_back(context, caller, handle, _texts(context, handle)[words], "Warmth")


def _samples(context: Context, handle: str) -> list[Sample]:
    return samples.list_samples(context, AUTHOR, handle, limit=500).items


def _decisions(context: Context, handle: str, caller: Caller = ANA, *, everyone: bool = False) -> list[TextDecision]:
    return labelling.list_decisions(context, caller, handle, limit=5_000, everyone=everyone).items


@ON_BOTH
def test_texts_are_stored_once_as_they_were_and_listed_in_order(context: Context, handle: str) -> None:
    assert _add(context, handle, TEN_SCRIPTS, source="ten.csv").added == 10
    again = _add(context, handle, [*TEN_SCRIPTS, "new", "new"], caller=BEN)
    assert (again.added, again.known, again.count, again.most) == (1, 11, 11, 100_000)
    first = labelling.list_texts(context, AUTHOR, handle, limit=7)
    rest = labelling.list_texts(context, AUTHOR, handle, limit=7, cursor=first.next_cursor)
    listed = [*first.items, *rest.items]
    assert [each.text for each in listed] == [*TEN_SCRIPTS, "new"]
    assert [(each.source, each.by) for each in listed] == [("ten.csv", "Ana")] * 10 + [(None, "Ben")]
    since = labelling.list_texts(context, AUTHOR, handle, after=listed[9].id)
    assert ([each.text for each in since.items], since.count) == (["new"], 11)


@ON_SQLITE
def test_a_model_has_a_hundred_thousand_texts_at_most(context: Context, handle: str) -> None:
    many = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 99999)"
        " INSERT INTO tb_texts (model_id, text, content_sha256, added_at) SELECT :model_id, 'text ' || i, i, 1 FROM n"
    )
    with writing(context.engine) as connection:
        connection.execute(text(many), {"model_id": author.row(context, handle).id})
    with pytest.raises(ValidationFailed) as refused:
        _add(context, handle, ["one", "two"])
    assert "100,001" in refused.value.details["errors"][0]["msg"]
    assert _add(context, handle, ["one"]).count == 100_000
    assert labelling.delete(context, AUTHOR, handle).count == 100_000


@ON_BOTH
def test_a_label_makes_a_sample_of_a_draft_with_one_call_and_goes_with_it(context: Context, handle: str) -> None:
    body = TextsAdd(texts=[TextInput(text="how kind", group="letter 1")])
    labelling.add(context, ANA, handle, body)
    decision = _decide(context, handle, "how kind", 0.75, note="Polite, not warm.")
    [sample] = _samples(context, handle)
    assert (sample.id, sample.quality, sample.group) == (decision.sample_id, 0.75, "letter 1")
    assert sample.note == decision.note
    assert (decision.by, decision.note, decision.conflict) == ("Ana", "Polite, not warm.", None)
    assert _decisions(context, handle) == [decision]
    # The same again changes nothing; another quality changes the sample, which stays the same one.
    assert _decide(context, handle, "how kind", 0.75).sample_id == sample.id
    assert _decide(context, handle, "how kind", 1.0).sample_id == sample.id
    assert [(each.id, each.quality) for each in _samples(context, handle)] == [(sample.id, 1.0)]
    assert _take_back(context, handle, "how kind").quality == 1.0
    assert (_samples(context, handle), _decisions(context, handle)) == ([], [])
    with pytest.raises(TextNotFound):
        _take_back(context, handle, "how kind")


@ON_BOTH
def test_a_skip_is_remembered_and_takes_the_sample_of_the_label_before(context: Context, handle: str) -> None:
    _add(context, handle, ["how kind"])
    _decide(context, handle, "how kind", 1.0)
    skipped = _decide(context, handle, "how kind", None)
    assert (skipped.quality, skipped.sample_id) == (None, None)
    assert _samples(context, handle) == []


@ON_BOTH
def test_nobody_replaces_the_label_of_another_unasked(context: Context, handle: str) -> None:
    _add(context, handle, ["how kind", "send it"])
    hers = _decide(context, handle, "how kind", 1.0)
    his = _decide(context, handle, "how kind", 0.0, caller=BEN)
    assert his.conflict is not None
    assert (his.quality, his.sample_id, his.conflict.id, his.conflict.quality) == (0.0, None, hers.sample_id, 1.0)
    # Agreeing needs no second sample, and taking it back leaves the one of the other.
    _decide(context, handle, "send it", 0.0)
    assert _decide(context, handle, "send it", 0.0, caller=BEN).conflict is None
    _take_back(context, handle, "send it", caller=BEN)
    assert len(_samples(context, handle)) == 2
    with pytest.raises(SampleChanged) as moved:
        _decide(context, handle, "how kind", 0.0, caller=BEN, replaces=his.conflict.revision + 1)
    assert moved.value.details["samples"][0]["quality"] == 1.0
    settled = _decide(context, handle, "how kind", 0.0, caller=BEN, replaces=his.conflict.revision)
    assert (settled.sample_id, settled.conflict) == (hers.sample_id, None)
    assert {each.quality for each in _samples(context, handle)} == {0.0}
    everyone = _decisions(context, handle, everyone=True)
    assert sorted((each.by, each.quality) for each in everyone) == [("Ana", 0.0), ("Ana", 1.0), ("Ben", 0.0)]
    assert [each.by for each in _decisions(context, handle, caller=BEN)] == ["Ben"]


@ON_BOTH
def test_a_label_is_feedback_of_a_model_with_a_version(context: Context, trained: str) -> None:
    address = "https://example.org/how-kind"
    before = len(_samples(context, trained))
    _add(context, trained, ["how kind of you", address])
    decision = _decide(context, trained, "how kind of you", 1.0)
    # An address is a text: nothing is fetched.
    _decide(context, trained, address, 0.0)
    waiting = [each for each in _samples(context, trained) if each.pending]
    assert [(each.text, each.quality) for each in waiting] == [("how kind of you", 1.0), (address, 0.0)]
    assert all(each.score_then is not None for each in waiting)
    assert author.get(context, trained).retrain.pending == 2
    assert _decide(context, trained, "how kind of you", 0.0).sample_id == decision.sample_id
    _take_back(context, trained, "how kind of you")
    assert len(_samples(context, trained)) == before + 1


@ON_BOTH
def test_a_label_that_a_version_has_learned_stays(context: Context, trained: str) -> None:
    learned = _samples(context, trained)[0]
    _add(context, trained, [learned.text])
    assert _decide(context, trained, learned.text, learned.quality).sample_id == learned.id
    conflict = _decide(context, trained, learned.text, 1 - learned.quality).conflict
    assert conflict is not None
    with pytest.raises(ModelNotDraft):
        _decide(context, trained, learned.text, 1 - learned.quality, replaces=conflict.revision)


@ON_BOTH
def test_forks_of_the_namespace_have_the_texts_of_the_original(context: Context, trained: str) -> None:
    _add(context, trained, ["how kind"])
    fork = author.fork(context, trained).handle
    fork_of_fork = author.fork(context, fork).handle
    assert _texts(context, fork_of_fork) == _texts(context, trained)
    _add(context, fork_of_fork, ["from the fork"])
    assert [*_texts(context, trained)] == ["how kind", "from the fork"]
    before = len(_samples(context, trained))
    _decide(context, fork, "how kind", 1.0)
    assert len(_samples(context, trained)) == before
    assert [each.quality for each in _decisions(context, trained)] == [1.0]
    models.delete(context, AUTHOR, fork)
    assert len(_texts(context, trained)) == 2


@ON_BOTH
def test_texts_are_deleted_with_decisions_and_samples_stay(context: Context, handle: str) -> None:
    _add(context, handle, ["one", "two", "three"])
    _decide(context, handle, "one", 1.0)
    ids = _texts(context, handle)
    assert labelling.delete(context, AUTHOR, handle, ids=(ids["one"], 2**53 - 1)).count == 1
    assert ([*_texts(context, handle)], _decisions(context, handle)) == (["two", "three"], [])
    assert labelling.delete(context, AUTHOR, handle).count == 2
    assert [each.text for each in _samples(context, handle)] == ["one"]


@ON_BOTH
def test_zero_retention_deletes_texts_and_stores_none_of_the_original_or_its_forks(
    context: Context, trained: str
) -> None:
    fork = author.fork(context, trained).handle
    _add(context, trained, ["how kind"])
    author.update(context, trained, zero_data_retention=True)
    assert _texts(context, trained) == {}
    for each in (trained, fork):
        with pytest.raises(FeatureUnavailable) as refused:
            _add(context, each, ["how kind"])
        assert refused.value.details == {"handle": trained, "reason": "zero_retention"}


@ON_BOTH
def test_who_may_and_when(context: Context, handle: str, public: str) -> None:
    _add(context, handle, ["how kind"])
    for caller, of, refusal in (
        (SCORER, handle, InsufficientScope),
        (STRANGER, handle, NamespaceForbidden),
        (AUTHOR, public, NamespaceForbidden),
        (AUTHOR, "local.missing", ModelNotFound),
    ):
        with pytest.raises(refusal):
            _add(context, of, ["how kind"], caller=caller)
    with pytest.raises(TraitNotFound):
        labelling.decide(
            context, ANA, handle, _texts(context, handle)["how kind"], "anger", DecisionPut(), request_id="req_test"
        )
    with pytest.raises(TextNotFound):
        labelling.decide(context, ANA, handle, 2**60, "warmth", DecisionPut(quality=1.0), request_id="req_test")
    models.delete(context, AUTHOR, handle)
    with pytest.raises(ModelArchived):
        _decide(context, handle, "how kind", 1.0)
    assert [*_texts(context, handle)] == ["how kind"]
