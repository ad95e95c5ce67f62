"""Explanations of a score: what the parts add up to, which samples are shown, and who may read them."""

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import pytest
from scipy.special import expit

from tests.contexts import AUTHOR, ON_SQLITE, SCORER, done_here, export_of, new_handle, trained_here
from tests.extract.loopback import ANY_PORT, Site, page, serve, this_machine
from tests.operations.test_discovery import LOW, _headlines
from traitbench.contract.explanations import Explanation, Nearest, Neighbour
from traitbench.contract.models import ModelCreate, ModelUpdate, TrainRequest
from traitbench.contract.samples import SampleInput, SamplesCreate
from traitbench.contract.scores import Card, ScoreRequest
from traitbench.contract.traits import TraitInput, TraitsCreate
from traitbench.extract import extract
from traitbench.operations import bundles, discovery, models, samples, scores, training, traits
from traitbench.operations.access import Caller
from traitbench.operations.context import Context
from traitbench.store import tables
from traitbench.store.database import writing

pytestmark = ON_SQLITE

TEXT = "Thank you so much, my friend. The form was denied."
DEMO = Caller("key_demo", "authoring", frozenset({"demo"}))


def card(context: Context, handle: str, text: str = TEXT, *, caller: Caller = AUTHOR, explain: bool = True) -> Card:
    return scores.score(context, caller, handle, ScoreRequest(content=text, explain=explain), request_id="req_1")


def explained(context: Context, handle: str, text: str = TEXT, *, caller: Caller = AUTHOR) -> dict[str, Explanation]:
    result = card(context, handle, text, caller=caller).explanation
    assert result is not None
    return result


def both(nearest: Nearest | None) -> list[Neighbour]:
    assert nearest is not None
    return [*nearest.positive, *nearest.negative]


def test_what_nobody_asks_for_is_not_there(working: Context, toned: str) -> None:
    plain, result = card(working, toned, explain=False), card(working, toned)
    assert "explanation" not in plain.model_dump_json()
    assert result.model_copy(update={"explanation": None}).model_dump_json() == plain.model_dump_json()


def test_the_reasons_add_up_to_the_score_of_the_card(working: Context, toned: str) -> None:
    for text in (TEXT, "no", "Dear friend,\n\nthe deadline has passed. " * 30):
        shown = card(working, toned, text)
        assert shown.explanation is not None
        assert shown.explanation.keys() == shown.scores.keys()
        for key, reasons in shown.explanation.items():
            total = math.fsum([reasons.baseline, *(part.contribution for part in reasons.parts)])
            assert total == pytest.approx(reasons.position, abs=1e-9)
            assert 2 * expit(reasons.position) - 1 == pytest.approx(shown.detail[key].native.polarity, abs=1e-12)


def test_what_is_kind_pulls_one_way_and_what_is_not_the_other(working: Context, toned: str) -> None:
    kind, cold = explained(working, toned)["warmth"].parts
    assert kind.contribution > 0 > cold.contribution
    assert TEXT[kind.start : kind.end] == "Thank you so much, my friend."
    assert (kind.text, cold.text) == (None, None)


def test_only_the_traits_asked_for_are_explained_and_each_as_ever(working: Context, toned: str) -> None:
    body = ScoreRequest(content=TEXT, explain=True, traits=["Cool"])
    alone = scores.score(working, AUTHOR, toned, body, request_id="req_1").explanation
    assert alone == {"coldness": explained(working, toned)["coldness"]}


def test_the_same_request_has_the_same_reasons_byte_for_byte(working: Context, toned: str) -> None:
    assert len({card(working, toned).model_dump_json() for _ in range(3)}) == 1


def test_the_nearest_samples_are_the_traits_own_by_side_and_nearness(working: Context, toned: str) -> None:
    listed = {each.id: each for each in samples.list_samples(working, AUTHOR, toned, limit=500).items}
    for key, reasons in explained(working, toned).items():
        assert reasons.nearest is not None
        assert reasons.note is None
        for side, quality in ((reasons.nearest.positive, 1.0), (reasons.nearest.negative, 0.0)):
            assert [each.similarity for each in side] == sorted((each.similarity for each in side), reverse=True)
            assert len({each.id for each in side}) == 3
            for each in side:
                sample = listed[each.id]
                assert (sample.trait, sample.quality, sample.text) == (key, quality, each.text)
                assert each.quality == quality


def test_a_text_that_is_a_sample_is_its_own_neighbour(working: Context, toned: str) -> None:
    (sample, *_) = samples.list_samples(working, AUTHOR, toned, trait="warmth").items
    nearest = explained(working, toned, sample.text)["warmth"].nearest
    assert nearest is not None
    assert nearest.positive[0] == Neighbour(id=sample.id, quality=1.0, similarity=1.0, text=sample.text)


def test_a_scoring_key_sees_which_samples_are_near_and_none_of_their_texts(working: Context, toned: str) -> None:
    unlabelled, explanation = (explained(working, toned, caller=caller)["warmth"] for caller in (SCORER, AUTHOR))
    assert [(each.id, each.similarity) for each in both(unlabelled.nearest)] == [
        (each.id, each.similarity) for each in both(explanation.nearest)
    ]
    assert {each.text for each in both(unlabelled.nearest)} == {None}
    assert unlabelled.note is not None
    assert "may not list" in unlabelled.note


@pytest.mark.parametrize("caller", [SCORER, AUTHOR])
def test_of_a_public_model_only_its_owner_reads_samples(context: Context, caller: Caller) -> None:
    handle = new_handle().replace("local.", "demo.")
    models.create(context, DEMO, ModelCreate(handle=handle))
    traits.add(context, DEMO, handle, TraitsCreate(traits=[TraitInput(name="Warmth")]))
    results = [SampleInput(trait="warmth", text=f"secret {i} words", quality=i % 2) for i in range(8)]
    samples.add(context, DEMO, handle, SamplesCreate(samples=results))
    done_here(context, training.start(context, DEMO, handle, TrainRequest(effort="low"))[0].run_id)
    assert "secret" not in card(context, handle, "Some other words.", caller=caller).model_dump_json()
    assert "secret" in card(context, handle, "Some other words.", caller=DEMO).model_dump_json()


def test_under_zero_retention_no_sample_is_near(context: Context) -> None:
    handle = trained_here(context)
    assert explained(context, handle)["warmth"].nearest is not None
    for on, word in ((True, "zero data retention"), (False, "no longer exist")):
        models.update(context, AUTHOR, handle, ModelUpdate(zero_data_retention=on))
        reasons = explained(context, handle)["warmth"]
        assert (reasons.nearest, len(reasons.parts)) == (None, 2)
        assert reasons.note is not None
        assert word in reasons.note


def test_what_the_version_has_not_learnt_is_no_reason_of_it(context: Context) -> None:
    handle = trained_here(context)
    body = ScoreRequest(content=TEXT, feedback={"warmth": 1.0})
    (late,) = scores.score(context, AUTHOR, handle, body, request_id="req_1").metadata.sample_ids
    assert late not in {each.id for each in both(explained(context, handle)["warmth"].nearest)}


def test_samples_without_vectors_of_the_encoder_are_not_compared(context: Context) -> None:
    handle = trained_here(context)
    with writing(context.engine) as connection:
        connection.execute(tables.vectors.delete())
    reasons = explained(context, handle)["warmth"]
    assert (reasons.nearest, bool(reasons.note and context.encoder.id in reasons.note)) == (None, True)


def test_a_model_that_was_imported_is_explained_by_the_samples_that_came_with_it(context: Context) -> None:
    bundle = export_of(context, AUTHOR, trained_here(context))
    copy = new_handle()
    bundles.import_(context, AUTHOR, bundle, copy)
    assert explained(context, copy)["warmth"].note
    retrained = training.start(context, AUTHOR, copy, TrainRequest(effort="low", reoptimize_params=True))[0]
    done_here(context, retrained.run_id)
    for version in ("v1", "v2"):
        assert len(both(explained(context, f"{copy}@{version}")["warmth"].nearest)) == 4


def test_the_samples_of_a_found_trait_lie_on_the_sides_where_it_puts_them(context: Context) -> None:
    handle = _headlines(context)
    done_here(context, discovery.start(context, AUTHOR, handle, LOW).run_id)
    done_here(context, training.start(context, AUTHOR, handle, TrainRequest(effort="low"))[0].run_id)
    shown = explained(context, handle, "Central bank raises rates by a quarter point")
    result = next(each.key for each in traits.list_traits(context, AUTHOR, handle).traits if each.kind == "intrinsic")
    nearest = shown[result].nearest
    assert nearest is not None
    assert {each.quality for each in both(nearest)} == {None}
    for side, sign in ((nearest.positive, 1), (nearest.negative, -1)):
        assert side
        for each in side:
            assert sign * card(context, handle, str(each.text)).detail[result].native.polarity > 0


SENTENCE = "Thank you so much for the lovely evening, and do come again whenever you like, dear friends."
HTML = f"<html><head><title>A letter</title></head><body><article><p>{SENTENCE}</p></article></body></html>"


@pytest.fixture
def site() -> Iterator[Site]:
    with serve(page(HTML)) as site:
        yield site


def test_what_was_read_at_an_address_is_told_with_its_parts(working: Context, toned: str, site: Site) -> None:
    fetching = replace(working, extract=partial(extract, limits=ANY_PORT, permits=this_machine))
    read, sent = (explained(fetching, toned, content)["warmth"] for content in (site.url, SENTENCE))
    assert [part.text for part in read.parts] == [SENTENCE[part.start : part.end] for part in read.parts] == [SENTENCE]
    assert [part.model_copy(update={"text": None}) for part in read.parts] == sent.parts
