"""Every verb of the client against a real service: what goes in comes out, and errors arrive as their classes."""

from dataclasses import replace
from functools import partial
from typing import Any

import httpx
import pytest

from tests.conftest import COLD, WARM, Service, Trained, free_port, make_draft, served
from tests.extract.loopback import ANY_PORT, page, serve, this_machine
from traitbench.client import Traitbench
from traitbench.client._sync import versions
from traitbench.client.wire import KEY
from traitbench.contract.batches import FailedLine
from traitbench.contract.comparisons import ComparedText
from traitbench.contract.samples import SampleInput
from traitbench.contract.traits import TraitInput
from traitbench.errors import (
    ValidationFailed,
)
from traitbench.extract import extract


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
        me = client.me()
        assert (me.scope, me.namespaces) == ("authoring", ["demo", namespace, empty, others])
        assert me.person == me.key_id, "a key that was issued by hand is a person of its own"
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


class Losing(httpx.HTTPTransport):
    """Loses the first answer to each key: the service has carried out what was asked, and the client cannot know."""

    def __init__(self) -> None:
        super().__init__()
        self.lost = list[str]()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        response, key = super().handle_request(request), request.headers.get(KEY)
        if key is None or key in self.lost:
            return response
        response.read()
        response.close()
        self.lost.append(key)
        raise httpx.ReadError("lost")


def test_any_number_of_samples_goes_in_and_ids_keep_their_order(service: Service, namespace: str) -> None:
    """Once, whatever gets lost on the way."""
    handle, losing = f"{namespace}.many", Losing()
    with Traitbench(service.base_url, service.issue(namespaces=(namespace,)), transport=losing) as client:
        client.models.create(handle)
        client.traits.add(handle, [TraitInput(name="Tone")])
        texts = [f"text number {number}" for number in range(1_203)]
        ids = client.samples.add(handle, [SampleInput(trait="tone", text=text, quality=1.0) for text in texts])
        stored = {sample.id: sample.text for sample in client.samples.list(handle, limit=500)}
    assert len(losing.lost) == 5
    assert [*stored.values()] == texts
    assert [*stored] == ids == sorted(ids)


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


def test_waiting_ends_when_its_time_is_over(client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.impatient"
    make_draft(client, handle)
    client.models.train(handle, effort="low")
    with pytest.raises(TimeoutError, match="still busy after 0 s"):
        client.models.wait(handle, timeout=0)
    assert client.models.wait(handle).state == "ready"


def test_two_versions_are_compared_on_any_number_of_texts(trained: Trained, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "MOST_TEXTS", 4)
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
    monkeypatch.setattr(versions, "MOST_TEXTS", 2)
    sent: list[Any] = [None, WARM[0], 7, WARM[1], COLD[0], float("nan")]
    compared = trained.client.versions.compare(trained.handle, f"{trained.handle}@v1", texts=sent)
    assert [each.index for each in compared.texts or ()] == [*range(6)]
    assert [type(each) for each in compared.texts or ()] == [
        *(FailedLine, ComparedText, FailedLine, ComparedText, ComparedText, FailedLine)
    ]
    nothing: list[Any] = [None, None]
    compared = trained.client.versions.compare(trained.handle, trained.handle, texts=nothing)
    assert [each.index for each in compared.texts or ()] == [0, 1]


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
