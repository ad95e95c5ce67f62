"""The documentation as a site: complete, and read and searched without a server and without the network."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

import traitbench
from tests.docs.markdown import DOCS, ROOT
from tests.docs.site import CONFIGURATION, build

pytestmark = pytest.mark.browser

# What a page or a style fetches by itself; a link is only followed by a person.
_LOADS = re.compile(
    r"""<(?:script|img|iframe|source|video|audio|embed)\b[^>]*\b(?:src|srcset)=["']?(?:https?:)?//[^"'> ]+"""
    r"""|<link\b(?=[^>]*\brel=["']?(?:stylesheet|preload|preconnect|icon))[^>]*\bhref=["']?(?:https?:)?//[^"'> ]+"""
    r"""|(?:\burl\(|@import\s*)["']?(?:https?:)?//[^"') ]+"""
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as `make docs` builds it, which fails if a link leads nowhere."""
    build(folder := tmp_path_factory.mktemp("docs") / "site")
    return folder


def test_every_page_is_on_the_first_page_and_in_the_navigation() -> None:
    pages = {path.name for path in DOCS.glob("*.md")}
    named = set(_files(tomllib.loads(CONFIGURATION.read_text("utf-8"))["project"]["nav"]))
    assert named == {"index.md", "decisions/*"} | pages
    first = (ROOT / "core" / "README.md").read_text("utf-8")
    assert {*re.findall(r"\]\(docs/([\w-]+\.md)\)", first)} == pages


def test_every_public_name_and_method_has_its_docstring(site: Path) -> None:
    page = (site / "python.html").read_text("utf-8")
    # `Traitbench` is another name for `Client`, whose groups of methods are private classes.
    assert {*re.findall(r'<h\d id="traitbench\.(\w+)"', page)} == {*traitbench.__all__} - {"Traitbench"}
    with traitbench.Client() as client:
        groups = {name: type(group) for name, group in vars(client).items() if not name.startswith("_")}
    assert len(groups) > 4
    for name, group in groups.items():
        assert f'id="{group.__module__}.{group.__name__}"' in page
        assert f"client.{name}" in page


@pytest.mark.parametrize(
    ("text", "loads"),
    [
        ('<script async src="https://cdn.example/a.js"></script>', True),
        ("<link rel=stylesheet href=//cdn.example/a.css>", True),
        ("@import 'http://cdn.example/a.css';", True),
        ("src:url(https://cdn.example/a.woff2)", True),
        ('<a href="https://example.org/"><img src="a.png">', False),
        ('<link rel="canonical" href="https://example.org/">', False),
    ],
)
def test_what_counts_as_loading(text: str, loads: bool) -> None:
    assert bool(_LOADS.search(text)) is loads


def test_no_page_loads_anything_from_outside(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > len([*DOCS.rglob("*.md")])
    texts = {path.name: path.read_text("utf-8") for path in (*pages, *site.rglob("*.css"))}
    assert {name: found for name, text in texts.items() if (found := _LOADS.findall(text))} == {}
    # The scripts of the theme name addresses of parts that we do not use: the browser would refuse them.
    assert all('http-equiv="Content-Security-Policy" content="default-src \'self\'' in texts[p.name] for p in pages)


def test_a_page_that_is_opened_as_a_file_can_be_searched(site: Path, browser: Browser) -> None:
    page = browser.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((site / "index.html").as_uri())
    page.get_by_role("button", name="Search").first.click()
    page.keyboard.type("calibration", delay=30)
    expect(page.get_by_text(re.compile(r"^\d+ results$"))).to_be_visible()
    expect(page.get_by_placeholder("Search")).to_have_value("calibration")
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:", "about:"))] == []
    page.close()


def _files(nav: Any) -> Iterator[str]:
    if isinstance(nav, str):
        yield nav
    else:
        for each in nav.values() if isinstance(nav, dict) else nav:
            yield from _files(each)
