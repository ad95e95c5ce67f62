"""Every verb of the client against a real service: what goes in comes out, and errors arrive as their classes."""

from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from tests.conftest import COLD, WARM, Service, Trained, free_port, make_draft, served
from tests.extract.loopback import ANY_PORT, page, serve, this_machine
from traitbench.client import Traitbench
from traitbench.client._sync import comparisons
from traitbench.contract.batches import FailedLine
from traitbench.contract.bundles import Bundle
from traitbench.contract.comparisons import ComparedText
from traitbench.contract.models import ForkedFrom, Model, VersionRetentionPolicy
from traitbench.contract.samples import SampleInput
from traitbench.contract.traits import TraitInput
from traitbench.errors import (
    DuplicateRun,
    HandleTaken,
    InsufficientScope,
    InvalidHandle,
    ModelArchived,
    ModelNotFound,
    ModelNotTrained,
    NamespaceForbidden,
    PromotionConflict,
    TraitNotFound,
    Unauthenticated,
    Unreachable,
    UrlNotFetchable,
    ValidationFailed,
)
from traitbench.extract import extract
from traitbench.sample_data import demo_models


def test_a_healthy_service_says_so_without_a_key(service: Service) -> None:
    with Traitbench(service.base_url) as client:
        assert client.health().status == "ok"


def test_nobody_at_the_address_is_unreachable() -> None:
    with Traitbench(f"http://127.0.0.1:{free_port()}") as client, pytest.raises(Unreachable, match="does not answer"):
        client.models.get("a.b")


def test_a_wrong_key_is_unauthenticated(service: Service) -> None:
    with Traitbench(service.base_url, "wrong") as client, pytest.raises(Unauthenticated) as caught:
        client.models.list()
    assert caught.value.request_id is not None
    assert caught.value.headers["WWW-Authenticate"] == "Bearer"


def test_a_model_is_created_read_changed_and_archived(client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.letters"
    created = client.models.create(handle, description="Letters", max_depth=2)
    assert (created.handle, created.state, created.max_depth) == (handle, "draft", 2)
    changed = client.models.update(handle, description=None, readme_markdown="# Letters")
    assert (changed.description, changed.readme_markdown, changed.max_depth) == ("", "# Letters", 2)
    assert client.models.get(handle) == changed
    assert client.models.delete(handle).deleted
    assert client.models.get(handle).state == "archived"
    with pytest.raises(ModelArchived):
        client.models.update(handle, description="again")


def test_listing_goes_through_all_pages(client: Traitbench, namespace: str) -> None:
    handles = [f"{namespace}.m{number}" for number in range(5)]
    for handle in handles:
        client.models.create(handle)
    pages = client.models.list(namespace=namespace, limit=2)
    assert [model.handle for model in pages.items] == handles[:2]
    assert [model.handle for model in pages] == handles
    rest = client.models.list(namespace=namespace, limit=2, cursor=pages.next_cursor)
    assert [model.handle for model in rest] == handles[2:]
    assert client.models.list(namespace=namespace, state="ready").first() is None


def test_own_models_are_listed_before_the_public_ones_and_each_once(service: Service, namespace: str) -> None:
    others, empty = f"{namespace}-b", f"{namespace}-a"
    key = service.issue(namespaces=(namespace, empty, others, "demo"))
    with Traitbench(service.base_url, key) as client:
        for handle in (f"{others}.one", f"{namespace}.one", f"{namespace}.two", f"demo.{namespace}"):
            client.models.create(handle)
        listing = client.models.list()
        own = [f"demo.{namespace}", f"{namespace}.one", f"{namespace}.two", f"{others}.one"]
        seen = [model.handle for model in listing]
        assert [handle for handle in seen if handle in own] == own
        assert len(set(seen)) == len(seen)
        assert client.models.namespaces() == ("demo", namespace, empty, others)
        rest = client.models.list(cursor=listing.next_cursor)
        assert [*(model.handle for model in listing.items), *(model.handle for model in rest)] == seen
        for public in (client.models.list(public=True), client.models.list(limit=50)):
            assert {model.handle.partition(".")[0] for model in public} == {"demo"}
    with Traitbench(service.base_url, service.issue("scoring", (f"{namespace}-none",))) as client:
        some = [model.handle for model in client.models.list()]
        assert f"demo.{namespace}" in some
        assert client.models.list().items[0].handle.startswith("demo.")
    with Traitbench(service.base_url, key) as client:
        client.models.delete(f"demo.{namespace}")


def test_traits_are_added_read_changed_and_removed(client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.traits"
    client.models.create(handle)
    added = client.traits.add(handle, [TraitInput(name="Clear and short"), TraitInput(name="Warm / kind", key="warm")])
    assert [trait.key for trait in added] == ["clear_and_short", "warm"]
    assert client.traits.list(handle) == added
    assert client.traits.get(handle, "Warm / kind").key == "warm"
    assert client.traits.update(handle, "warm", positive_label="kind").positive_label == "kind"
    assert client.traits.delete(handle, "warm").deleted
    with pytest.raises(TraitNotFound):
        client.traits.get(handle, "warm")


def test_samples_are_added_listed_and_removed(client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.samples"
    make_draft(client, handle)
    samples = list(client.samples.list(handle, trait="warmth", limit=7))
    assert [(sample.text, sample.quality) for sample in samples] == [(text, 1.0) for text in WARM] + [
        (text, 0.0) for text in COLD
    ]
    client.samples.delete(handle, samples[0].id)
    assert len(list(client.samples.list(handle))) == len(samples) - 1


def test_any_number_of_samples_goes_in_and_ids_keep_their_order(client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.many"
    client.models.create(handle)
    client.traits.add(handle, [TraitInput(name="Tone")])
    texts = [f"text number {number}" for number in range(1_203)]
    ids = client.samples.add(handle, [SampleInput(trait="tone", text=text, quality=1.0) for text in texts])
    stored = {sample.id: sample.text for sample in client.samples.list(handle, limit=500)}
    assert [stored[sample_id] for sample_id in ids] == texts
    assert ids == sorted(ids)


def test_large_samples_go_in_without_meeting_the_limit_on_a_body(client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.large"
    client.models.create(handle)
    client.traits.add(handle, [TraitInput(name="Tone")])
    text = "long " * 10_000
    ids = client.samples.add(handle, [SampleInput(trait="tone", text=text, quality=0.0)] * 250)
    assert len(ids) == 250


def test_no_samples_are_added_when_one_is_refused_in_a_later_request(client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.undone"
    client.models.create(handle)
    client.traits.add(handle, [TraitInput(name="Tone")])
    kept = client.samples.add(handle, [SampleInput(trait="tone", text="before", quality=1.0)])
    good = [SampleInput(trait="tone", text=f"text {number}", quality=1.0) for number in range(504)]
    bad = SampleInput(trait="colour", text="of an unknown trait", quality=1.0)
    with pytest.raises(ValidationFailed) as caught:
        client.samples.add(handle, [*good, bad])
    assert [error["loc"][:2] for error in caught.value.details["errors"]] == [["samples", 504]]
    assert "samples[504]" in caught.value.message
    assert "left_behind" not in caught.value.details
    nothing: list[Any] = [*good, None]
    with pytest.raises(TypeError, match=r"samples\[504\]: a SampleInput is needed, not NoneType"):
        client.samples.add(handle, nothing)
    assert [sample.id for sample in client.samples.list(handle)] == kept


def test_a_training_is_waited_for_and_its_progress_seen(client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.training"
    make_draft(client, handle)
    started = client.models.train(handle, effort="low")
    assert started.state == "busy"
    seen: list[Model] = []
    model = client.models.wait(handle, on_progress=seen.append)
    assert (model.state, model.version_no) == ("ready", 1)
    assert seen[-1] == model
    assert model.last_operation is not None
    assert model.last_operation.run_id == started.run_id
    again = client.models.train(handle)
    assert (again.state, again.run_id) == ("ready", None)


def test_waiting_ends_when_its_time_is_over(client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.impatient"
    make_draft(client, handle)
    client.models.train(handle)
    with pytest.raises(TimeoutError, match="still busy after 0 s"):
        client.models.wait(handle, timeout=0)
    assert client.models.wait(handle).state == "ready"


def test_versions_are_listed_read_tagged_and_activated(client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.versions"
    make_draft(client, handle)
    client.models.train(handle, effort="low")
    client.models.wait(handle)
    assert [version.version_no for version in client.versions.list(handle)] == [1]
    assert client.versions.get(handle).snapshot == client.versions.get(handle, "v1").snapshot
    assert client.versions.tag(handle, "best").version_no == 1
    assert client.versions.get(handle, "best").tags == ["best"]
    assert client.versions.activate(handle, version="v1").version_no == 1
    assert client.versions.activate(handle, tag="best").version_no == 1
    assert client.versions.untag(handle, "best").deleted
    with pytest.raises(ValidationFailed):
        client.versions.activate(handle)


def test_a_text_is_scored_as_a_card_and_as_a_chart(trained: Trained) -> None:
    card = trained.client.scores.score(trained.handle, WARM[0])
    assert card.scores["warmth"] > trained.client.scores.score(trained.handle, COLD[0]).scores["warmth"]
    assert card.metadata.version_id == "v1"
    pinned = trained.client.scores.score(f"{trained.handle}@v1", WARM[0], traits=["warmth"])
    assert pinned.scores == card.scores
    chart = trained.client.scores.chart(trained.handle, WARM[0])
    assert chart.startswith("warmth  ")
    assert "█" in chart


def test_a_scoring_key_reads_without_snapshot_and_may_not_write(
    client: Traitbench, scoring_client: Traitbench, namespace: str
) -> None:
    handle = f"{namespace}.shared"
    make_draft(client, handle)
    client.models.train(handle, effort="low")
    client.models.wait(handle)
    assert scoring_client.versions.get(handle).snapshot is None
    assert scoring_client.scores.score(handle, WARM[0]).scores
    with pytest.raises(InsufficientScope):
        scoring_client.models.update(handle, description="mine")


def test_refusals_arrive_as_their_classes(client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.refused"
    client.models.create(handle)
    with pytest.raises(HandleTaken):
        client.models.create(handle)
    with pytest.raises(InvalidHandle):
        client.models.get("no handle")
    with pytest.raises(ModelNotFound):
        client.models.get("elsewhere.model")
    with pytest.raises(NamespaceForbidden):
        client.models.create("elsewhere.model")
    with pytest.raises(ModelNotTrained):
        client.scores.score(handle, "text")
    with pytest.raises(ValidationFailed):
        client.models.create(f"{namespace}.deep", max_depth=9)


def test_two_texts_are_compared_as_cards_and_as_a_chart(trained: Trained) -> None:
    compared = trained.client.scores.compare(f"{trained.handle}@v1", COLD[0], WARM[0], traits=["Warmth"])
    assert compared.a.scores == trained.client.scores.score(trained.handle, COLD[0]).scores
    assert compared.per_trait["warmth"].delta == compared.b.scores["warmth"] - compared.a.scores["warmth"] > 0
    assert compared.certain is compared.per_trait["warmth"].certain is True
    assert trained.client.scores.compare(trained.handle, COLD[0], COLD[0]).certain is False
    chart = trained.client.scores.compare_chart(trained.handle, COLD[0], WARM[0])
    assert "warmth" in chart
    assert "█" in chart


def test_two_versions_are_compared_on_any_number_of_texts(trained: Trained, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparisons, "MOST_TEXTS", 4)
    texts = [*WARM, "", *COLD]
    compared = trained.client.versions.compare(
        trained.handle, f"{trained.handle}@v1", texts=iter(texts), traits=["Warmth"]
    )
    assert compared.verdict == "no_difference"
    assert compared.texts is not None
    assert [each.index for each in compared.texts] == list(range(len(texts)))
    scores = [each.traits["warmth"] for each in compared.texts if isinstance(each, ComparedText)]
    assert len(scores) == len(texts) - 1
    assert all(each.a == each.b and each.delta == 0 for each in scores)
    assert scores[0].a == trained.client.scores.score(trained.handle, WARM[0]).scores["warmth"]
    assert trained.client.versions.compare(trained.handle, trained.handle).texts is None
    assert trained.client.versions.compare(trained.handle, trained.handle, texts=[]).texts == []


def test_what_is_no_text_has_its_line_in_a_comparison(trained: Trained, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparisons, "MOST_TEXTS", 2)
    sent: list[Any] = [None, WARM[0], 7, WARM[1], COLD[0], float("nan")]
    compared = trained.client.versions.compare(trained.handle, f"{trained.handle}@v1", texts=sent)
    assert [each.index for each in compared.texts or ()] == [*range(6)]
    assert [type(each) for each in compared.texts or ()] == [
        *(FailedLine, ComparedText, FailedLine, ComparedText, ComparedText, FailedLine)
    ]
    nothing: list[Any] = [None, None]
    compared = trained.client.versions.compare(trained.handle, trained.handle, texts=nothing)
    assert [each.index for each in compared.texts or ()] == [0, 1]


def test_a_model_card_is_markdown(trained: Trained) -> None:
    card = trained.client.models.card(trained.handle)
    assert trained.handle in card
    assert "How warm a message is." in card


def test_answers_show_themselves_in_a_notebook(trained: Trained) -> None:
    client, handle = trained.client, trained.handle
    shown = (
        client.models.get(handle),
        client.models.list(namespace="trained"),
        client.traits.list(handle),
        client.samples.list(handle, limit=1),
        client.versions.list(handle),
        client.versions.get(handle),
        client.scores.score(handle, WARM[0]),
        client.scores.compare(handle, COLD[0], WARM[0]),
        client.versions.compare(handle, handle, texts=[WARM[0]]),
    )
    assert all("<table" in (each._repr_html_() or "") for each in shown)


def test_the_text_behind_an_address_is_extracted_and_scored(service: Service, trained: Trained) -> None:
    reading = partial(extract, limits=ANY_PORT, permits=this_machine)
    context = replace(service.context, extract=reading, settings=replace(service.settings, port=free_port()))
    with (
        served(context) as permissive,
        serve(page(WARM[0], kind="text/plain")) as site,
        Traitbench(permissive.base_url, service.issue(namespaces=("trained",))) as client,
    ):
        extracted = client.extract(site.url)
        assert (extracted.url, extracted.content) == (site.url, WARM[0])
        card = client.scores.score(trained.handle, site.url)
        assert card.scores == client.scores.score(trained.handle, WARM[0]).scores


def test_an_address_that_is_not_public_is_not_fetched(client: Traitbench) -> None:
    with pytest.raises(UrlNotFetchable):
        client.extract("http://127.0.0.1/secret")


def test_traits_are_discovered_and_listed(client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.discovered"
    make_draft(client, handle)
    [headlines] = [model for model in demo_models() if model.handle == "demo.headlines"]
    texts = list(dict.fromkeys(sample["text"] for sample in headlines.samples))
    client.samples.add(handle, [SampleInput(trait="warmth", text=text, quality=0.5) for text in texts])
    started = client.traits.discover(handle, effort="low")
    assert started.state == "busy"
    assert client.models.wait(handle).state == "draft"
    results = [trait for trait in client.traits.list(handle) if trait.kind == "intrinsic"]
    assert results
    assert all(trait.discrimination is not None for trait in results)
    with pytest.raises(DuplicateRun) as caught:
        client.traits.discover(handle, effort="low")
    assert caught.value.headers["X-Run-Id"] == started.run_id


def test_samples_are_synthesized(client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.synthesized"
    make_draft(client, handle)
    client.samples.synthesize(handle, effort="low")
    assert client.models.wait(handle).state == "draft"
    assert {sample.provenance for sample in client.samples.list(handle)} == {"authored", "synthesized"}


def test_a_ready_model_is_trained_again_only_when_that_is_asked(client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.retuned"
    make_draft(client, handle)
    client.models.train(handle, effort="low")
    client.models.wait(handle)
    assert client.models.train(handle, effort="low", reoptimize_params=True).state == "busy"
    assert client.models.wait(handle).version_no == 2
    assert [version.triggered_by for version in client.versions.list(handle)] == ["retune", "train"]


def test_feedback_becomes_samples(client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.feedback"
    make_draft(client, handle)
    client.models.train(handle, effort="low")
    client.models.wait(handle)
    card = client.scores.score(handle, "Thanks a lot.", feedback={"warmth": "warm"})
    [fed] = [sample for sample in client.samples.list(handle) if sample.id in card.metadata.sample_ids]
    assert (fed.text, fed.quality, fed.provenance) == ("Thanks a lot.", 1.0, "score_feedback")


def test_retention_is_switched_and_the_samples_are_gone(client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.forgetful"
    make_draft(client, handle)
    policy = VersionRetentionPolicy(keep_unnamed=3)
    model = client.models.update(handle, zero_data_retention=True, version_retention_policy=policy)
    assert (model.zero_data_retention, model.version_retention_policy) == (True, policy)
    assert client.samples.list(handle).items == []
    assert client.models.update(handle, version_retention_policy=None).version_retention_policy is None


def test_a_model_moves_as_one_document_and_a_changed_one_is_refused(client: Traitbench, namespace: str) -> None:
    handle, copy = f"{namespace}.original", f"{namespace}.copy"
    make_draft(client, handle)
    client.models.train(handle, effort="low")
    client.models.wait(handle)
    client.versions.tag(handle, "best")
    bundle = client.models.export(handle)
    model = client.models.import_(Bundle.model_validate_json(bundle.model_dump_json()), handle=copy)
    assert (model.handle, model.state, model.version_tags) == (copy, "ready", ["best"])
    assert client.scores.score(copy, WARM[0]).scores == client.scores.score(handle, WARM[0]).scores
    assert client.versions.get(copy).triggered_by == "backfill"
    assert len(list(client.samples.list(copy))) == len(WARM + COLD)
    with pytest.raises(HandleTaken):
        client.models.import_(bundle)
    with pytest.raises(ValidationFailed):
        client.models.import_(bundle.model_copy(update={"sha256": "0" * 64}), handle=f"{namespace}.tampered")


def test_a_model_is_forked_and_its_fork_promoted(client: Traitbench, trained: Trained, namespace: str) -> None:
    handle, copy = f"{namespace}.tone", f"{namespace}.tone-next"
    client.models.import_(trained.client.models.export(trained.handle), handle=handle)
    fork = client.models.fork(handle, copy)
    assert (fork.state, fork.forked_from) == ("draft", ForkedFrom(handle=handle, version_no=1))
    client.models.train(copy, effort="low")
    assert client.models.wait(copy).state == "ready"
    version = client.models.promote(handle, from_=copy, keep=True)
    assert (version.version_no, version.snapshot) == (2, None)
    assert version.metrics.promoted_from is not None
    assert version.metrics.promoted_from.handle == copy
    with pytest.raises(PromotionConflict) as caught:
        client.models.promote(handle, from_=copy)
    assert caught.value.details["newer_versions"] == [2]
    assert client.models.promote(handle, from_=copy, force=True).version_no == 3
