"""The text behind an address: on its own, and as the content of a score."""

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import pytest
from sqlalchemy import text

from tests.contexts import ON_SQLITE, SCORER, STRANGER
from tests.extract.loopback import ANY_PORT, Site, page, serve, this_machine
from traitbench.contract.scores import CompareRequest, ScoreRequest
from traitbench.contract.texts import ExtractRequest
from traitbench.errors import UrlNotFetchable
from traitbench.extract import extract
from traitbench.operations import scores, serving
from traitbench.operations.context import Context
from traitbench.store import tables
from traitbench.store.database import reading

pytestmark = ON_SQLITE

SENTENCE = "Thank you so much for the lovely evening, and do come again whenever you like, dear friends."
HTML = f"<html><head><title>A letter</title></head><body><article><p>{SENTENCE}</p></article></body></html>"


@pytest.fixture(scope="module")
def fetching(context: Context) -> Context:
    """A context that may fetch from this machine, and from nowhere else."""
    return replace(context, extract=partial(extract, limits=ANY_PORT, permits=this_machine))


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with serve(page(HTML)) as site:
        yield site


def test_an_address_is_read_for_any_key(fetching: Context, site: Site) -> None:
    for caller in (SCORER, STRANGER):
        result = serving.extract(fetching, caller, ExtractRequest(url=site.url))
        assert (result.url, result.content) == (site.url, SENTENCE)
        assert result.content_sha256 == hashlib.sha256(SENTENCE.encode()).hexdigest()


def test_a_content_that_is_an_address_is_scored_by_what_stands_there(fetching: Context, toned: str, site: Site) -> None:
    def card(content: str) -> object:
        return scores.score(fetching, SCORER, toned, ScoreRequest(content=content), request_id="req_1")

    assert card(f" {site.url}/letter\n") == card(SENTENCE)
    assert card(f"see {site.url}") != card(SENTENCE)


def test_either_side_of_a_comparison_may_be_an_address(fetching: Context, toned: str, site: Site) -> None:
    def compared(a: str, b: str) -> object:
        return scores.compare(fetching, SCORER, toned, CompareRequest(a=a, b=b), request_id="req_1")

    assert compared(site.url, SENTENCE) == compared(SENTENCE, site.url) == compared(SENTENCE, SENTENCE)


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/", "http://[::1]/", "ftp://example.org/a", "not an address"])
def test_an_address_that_is_not_fetched_is_said_to_be_so(context: Context, url: str) -> None:
    with pytest.raises(UrlNotFetchable):
        serving.extract(context, SCORER, ExtractRequest(url=url))


def test_a_score_of_an_address_that_is_not_fetched_is_refused(context: Context, toned: str) -> None:
    with pytest.raises(UrlNotFetchable) as caught:
        scores.score(context, SCORER, toned, ScoreRequest(content="http://10.0.0.1/secret"), request_id="req_1")
    assert "secret" not in f"{caught.value.message} {caught.value.details}"


def test_no_model_is_asked_about_an_address_before_it_can_score(fetching: Context, site: Site) -> None:
    before = len(site.requests)
    with pytest.raises(Exception, match="no model"):
        scores.score(fetching, SCORER, "local.none", ScoreRequest(content=site.url), request_id="req_1")
    assert len(site.requests) == before


def test_neither_address_nor_text_is_kept(fetching: Context, toned: str, site: Site) -> None:
    scores.score(fetching, SCORER, toned, ScoreRequest(content=f"{site.url}/marker"), request_id="req_1")
    with reading(fetching.engine) as connection:
        kept = [
            str(row)
            for table in tables.metadata.sorted_tables
            for row in connection.execute(text(f"SELECT * FROM {table.name}"))
        ]
    assert not any("marker" in row or SENTENCE in row for row in kept)
