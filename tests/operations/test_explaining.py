"""Explanations of a score: what the parts add up to, which samples are shown, and who may read them."""

import math
from dataclasses import replace
from functools import partial

import pytest
from scipy.special import expit

from tests.contexts import AUTHOR, ON_SQLITE, SCORER, done_here, export_of, new_handle, trained_here
from tests.extract.loopback import ANY_PORT, page, serve, this_machine
from tests.operations import author
from traitbench.contract.explanations import Nearest, Neighbour
from traitbench.contract.samples import SampleInput, SamplesCreate
from traitbench.contract.traits import DiscoverRequest, TraitInput
from traitbench.extract import extract
from traitbench.operations import bundles, discovery, samples, training, traits
from traitbench.operations.access import Caller
from traitbench.operations.context import Context
from traitbench.store import tables
from traitbench.store.database import writing

pytestmark = ON_SQLITE

TEXT = "Thank you so much, my friend. The form was denied."
SENTENCE = "Thank you so much for the lovely evening, and do come again whenever you like, dear friends."
DEMO = Caller("key_demo", "authoring", frozenset({"demo"}))


def both(nearest: Nearest | None) -> list[Neighbour]:
    assert nearest is not None
    return [*nearest.positive, *nearest.negative]


# ---- parts -----------------------------------------------------------------------------------------------------------


def test_what_nobody_asks_for_is_not_there_and_changes_nothing(context: Context, toned: str) -> None:
    plain, result = author.score(context, toned, TEXT), author.score(context, toned, TEXT, explain=True)
    assert "explanation" not in plain.model_dump_json()
    assert result.model_copy(update={"explanation": None}).model_dump_json() == plain.model_dump_json()
    assert author.score(context, toned, TEXT, explain=True).model_dump_json() == result.model_dump_json()


def test_the_reasons_add_up_to_the_score_of_the_card(context: Context, toned: str) -> None:
    for text in (TEXT, "no", "Dear friend,\n\nthe deadline has passed. " * 30):
        shown = author.score(context, toned, text, explain=True)
        assert shown.explanation is not None
        assert shown.explanation.keys() == shown.scores.keys()
        for key, reasons in shown.explanation.items():
            total = math.fsum([reasons.baseline, *(part.contribution for part in reasons.parts)])
            assert total == pytest.approx(reasons.position, abs=1e-9)
            assert 2 * expit(reasons.position) - 1 == pytest.approx(shown.detail[key].native.polarity, abs=1e-12)


def test_what_is_kind_pulls_one_way_and_what_is_not_the_other(context: Context, toned: str) -> None:
    kind, cold = author.explained(context, toned, TEXT)["warmth"].parts
    assert kind.contribution > 0 > cold.contribution
    assert TEXT[kind.start : kind.end] == "Thank you so much, my friend."
    assert (kind.text, cold.text) == (None, None)
    alone = author.score(context, toned, TEXT, explain=True, traits=["Cool"]).explanation
    assert alone == {"coldness": author.explained(context, toned, TEXT)["coldness"]}


def test_what_was_read_at_an_address_is_told_with_its_parts(context: Context, toned: str) -> None:
    fetching = replace(context, extract=partial(extract, limits=ANY_PORT, permits=this_machine))
    with serve(page(f"<html><body><article><p>{SENTENCE}</p></article></body></html>")) as site:
        read, sent = (author.explained(fetching, toned, content)["warmth"] for content in (site.url, SENTENCE))
    assert [part.text for part in read.parts] == [SENTENCE[part.start : part.end] for part in read.parts] == [SENTENCE]
    assert [part.model_copy(update={"text": None}) for part in read.parts] == sent.parts


# ---- samples ---------------------------------------------------------------------------------------------------------


def test_the_nearest_samples_are_the_traits_own_by_side_and_nearness(context: Context, toned: str) -> None:
    listed = {each.id: each for each in author.samples_of(context, toned)}
    for key, reasons in author.explained(context, toned, TEXT).items():
        assert reasons.nearest is not None
        assert reasons.note is None
        for side, quality in ((reasons.nearest.positive, 1.0), (reasons.nearest.negative, 0.0)):
            assert [each.similarity for each in side] == sorted((each.similarity for each in side), reverse=True)
            assert len({each.id for each in side}) == 3
            for each in side:
                sample = listed[each.id]
                assert (sample.trait, sample.quality, sample.text) == (key, quality, each.text)
                assert each.quality == quality
    (sample, *_) = author.samples_of(context, toned, trait="warmth")
    itself = both(author.explained(context, toned, sample.text)["warmth"].nearest)[0]
    assert itself == Neighbour(id=sample.id, quality=1.0, similarity=1.0, text=sample.text)


def test_a_scoring_key_sees_which_samples_are_near_and_none_of_their_texts(context: Context, toned: str) -> None:
    seen, whole = (author.explained(context, toned, TEXT, caller=caller)["warmth"] for caller in (SCORER, AUTHOR))
    assert both(seen.nearest) == [each.model_copy(update={"text": None}) for each in both(whole.nearest)]
    assert "may not list" in (seen.note or "")


def test_of_a_public_model_only_its_owner_reads_samples(context: Context) -> None:
    handle = author.new_model(
        context, TraitInput(name="Warmth"), caller=DEMO, handle=new_handle().replace("local.", "demo.")
    )
    results = [SampleInput(trait="warmth", text=f"secret {i} words", quality=i % 2) for i in range(8)]
    samples.add(context, DEMO, handle, SamplesCreate(samples=results))
    done_here(context, training.start(context, DEMO, handle, author.QUICK)[0].run_id)
    for caller, reads in ((SCORER, False), (AUTHOR, False), (DEMO, True)):
        card = author.score(context, handle, "Some other words.", caller=caller, explain=True)
        assert ("secret" in card.model_dump_json()) == reads


def test_under_zero_retention_no_sample_is_near(context: Context) -> None:
    handle = trained_here(context)
    assert author.explained(context, handle, TEXT)["warmth"].nearest is not None
    for on, word in ((True, "zero data retention"), (False, "no longer exist")):
        author.update(context, handle, zero_data_retention=on)
        reasons = author.explained(context, handle, TEXT)["warmth"]
        assert (reasons.nearest, len(reasons.parts)) == (None, 2)
        assert word in (reasons.note or "")


def test_samples_that_the_version_has_not_learned_or_that_have_no_vector_are_not_near(context: Context) -> None:
    handle = trained_here(context)
    late = author.give_feedback(context, handle, TEXT)
    assert late not in {each.id for each in both(author.explained(context, handle, TEXT)["warmth"].nearest)}
    with writing(context.engine) as connection:
        connection.execute(tables.vectors.delete())
    reasons = author.explained(context, handle, TEXT)["warmth"]
    assert (reasons.nearest, context.encoder.id in (reasons.note or "")) == (None, True)


def test_a_model_that_was_imported_is_explained_by_the_samples_that_came_with_it(context: Context) -> None:
    copy = new_handle()
    bundles.import_(context, AUTHOR, export_of(context, AUTHOR, trained_here(context)), copy)
    assert author.explained(context, copy, TEXT)["warmth"].note
    author.refit(context, copy)
    for version in ("v1", "v2"):
        assert len(both(author.explained(context, f"{copy}@{version}", TEXT)["warmth"].nearest)) == 4


def test_the_samples_of_a_found_trait_lie_on_the_sides_where_it_puts_them(context: Context) -> None:
    handle = author.headlines(context)
    done_here(context, discovery.start(context, AUTHOR, handle, DiscoverRequest(effort="low")).run_id)
    author.train(context, handle)
    key = next(each.key for each in traits.list_traits(context, AUTHOR, handle).traits if each.kind == "intrinsic")
    nearest = author.explained(context, handle, "Central bank raises rates by a quarter point")[key].nearest
    assert nearest is not None
    assert {each.quality for each in both(nearest)} == {None}
    for side, sign in ((nearest.positive, 1), (nearest.negative, -1)):
        assert side
        for each in side:
            assert sign * author.score(context, handle, str(each.text)).detail[key].native.polarity > 0
