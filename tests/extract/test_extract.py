"""The whole path: address in; text, hash and time out."""

import hashlib
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from threading import Event, Semaphore

import pytest

from tests.extract.loopback import ANY_PORT, page, redirect, serve, this_machine
from tests.patience import PATIENCE_S
from traitbench.contract.texts import is_url
from traitbench.errors import Unavailable
from traitbench.extract import ReadableText, extract

SENTENCE = "Below the weir stands a mill whose wheel turns whenever the sluice is raised for the children."
MILL = f"<html><body><article><p>{SENTENCE}</p></article></body></html>"


def fetched(url: str) -> ReadableText:
    return extract(url, limits=ANY_PORT, permits=this_machine)


def test_a_page_becomes_its_readable_text_with_hash_and_time() -> None:
    before = datetime.now(UTC)
    with serve(lambda request: [page(MILL) if b"/mill" in request else redirect("/mill")]) as site:
        result = fetched(f"  {site.url}/short\n")
    assert result.url == f"{site.url}/short"
    assert result.content == SENTENCE
    assert result.content_sha256 == hashlib.sha256(result.content.encode()).hexdigest()
    assert before <= result.fetched_at <= datetime.now(UTC)
    assert result.fetched_at.utcoffset() is not None


def test_more_than_eight_at_once_are_refused_for_now() -> None:
    arrived, go = Semaphore(0), Event()

    def wait(request: bytes) -> list[bytes]:
        arrived.release()
        go.wait(PATIENCE_S)
        return [page("Reached.", kind="text/plain")]

    with serve(wait) as site, ThreadPoolExecutor(8) as threads:
        waiting = [threads.submit(fetched, site.url) for _ in range(8)]
        for _ in waiting:
            assert arrived.acquire(timeout=PATIENCE_S)
        try:
            with pytest.raises(Unavailable):
                fetched(site.url)
        finally:
            go.set()
        assert [one.result().content for one in waiting] == ["Reached."] * 8
        assert fetched(site.url).content == "Reached."


ADDRESSES = (
    *("http://a.test", "https://a.test/b?c=d#e", "HTTPS://A.TEST/", "  http://a.test/\n", "http://127.0.0.1:80/x"),
    *("http://[::1]/", "https://müller.test/grüße", "http://user:word@a.test/", "http://a.test/a,b;(c)"),
)
OTHERS = (
    *("", "http", "http:", "http://", "https:///path", "http://?q", "a.test", "www.a.test", "ftp://a.test/"),
    *("See http://a.test", "http://a.test and more", "http://a.test\nhttp://b.test", "<http://a.test>"),
    *("http: //a.test", "mailto:a@b.test", "A sentence.", "xhttp://a.test"),
)


@pytest.mark.parametrize(
    ("text", "expected"), [*((each, True) for each in ADDRESSES), *((each, False) for each in OTHERS)]
)
def test_a_url_is_a_single_address(text: str, expected: bool) -> None:
    assert is_url(text) == expected
