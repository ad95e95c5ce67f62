"""How long a click in the workbench takes while others work with it.

    python -m tests.benchmarks.workbench [--quick] [--out FILE]

The real command on a free port, with its own worker: a trained model of eight traits and two versions, and a model that
is trained over and over. 20 sessions are open; half of them click every two seconds, each time on another page. Three
figures say what a click costs:

- *answered*: from the message of the tab to the end of the script, in one more session (Streamlit's own protocol);
- *drawn*: from the click on the menu to the page at rest, in Chromium;
- *processor*: what the server's process spends on it, measured while nobody else clicks.

Two bare Streamlit pages with a title each, served in a process of their own, are asked in turn with the pages: the
ratio to them is what remains comparable on another machine or a busy one.
"""

import itertools
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from playwright.sync_api import Page, sync_playwright

from tests.app.processes import Started, serving
from tests.app.streamlit_socket import Tab
from tests.benchmarks.material import WORDS
from tests.benchmarks.page import Measured, Table, run
from tests.browser.conftest import HOME, chromium, settled
from tests.conftest import free_port
from tests.patience import PATIENCE_MS
from traitbench.client import Traitbench
from traitbench.contract.samples import SampleInput
from traitbench.contract.traits import TraitInput
from traitbench.errors import TraitbenchError
from traitbench_app.shell.navigation import PageName, entry

MODEL, BUSY = "local.show", "local.busy"
TRAITS = ("Warmth", "Clarity", "Courage", "Humour", "Trust", "Energy", "Precision", "Calm")
PAGES: tuple[PageName, ...] = ("catalog", "score", "versions", "samples", "batch", "traits", "train", "model")
ABOUT_NO_MODEL = frozenset({"catalog"})
TEXT = "Thank you so much, dear friend, for your long letter and for all that you did."
SESSIONS, CLICKING, PAUSE_S = 20, 9, 2.0
GOAL_MEDIAN_MS, GOAL_P95_MS = 300, 1_000

BARE_PAGES = ("Empty", "Other")
BARE = """\
import streamlit as st

def empty():
    st.title("Empty")

def other():
    st.title("Other")

st.navigation([st.Page(empty, title="Empty", default=True), st.Page(other, title="Other")]).run()
"""
SERVE_BARE = (
    "import sys, uvicorn, streamlit as st; uvicorn.run(st.App(sys.argv[1]), port=int(sys.argv[2]), log_level=40)"
)

OPENINGS = {0.0: "It is a pity and a failure that", 1.0: "It is a joy and a success that"}


def measure(*, clicks: int, trained: int) -> Measured:
    """So many clicks on each page; `trained` are the samples per trait of the model that is trained all the time."""
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(Path(folder) / "home", TRAITBENCH_ENCODER="") as started,
        bare(folder) as empty,
    ):
        with started.client() as client:
            prepare(client, trained)
        alone = {page: processor(started, page, clicks) for page in PAGES}
        with open_sessions(started) as others, training(started):
            quiet = {page: answered(started, empty, page, clicks) for page in PAGES}
            with clicking(others):
                loaded = {page: answered(started, empty, page, clicks) for page in PAGES}
                drawn, bare_drawn = in_browser(started, empty, clicks)
    return result(alone, quiet, loaded, drawn, bare_drawn)


# ---- what is there ---------------------------------------------------------------------------------------------------


def prepare(client: Traitbench, trained: int) -> None:
    """Make the two models, and two versions of the first."""
    for handle, per_trait in ((MODEL, 24), (BUSY, trained)):
        _draft(client, handle, TRAITS, per_trait)
    client.models.train(MODEL, effort="low")
    client.models.wait(MODEL, timeout=600)
    client.models.train(MODEL, effort="low", reoptimize_params=True, use_labels=False)
    client.models.wait(MODEL, timeout=600)


def _draft(client: Traitbench, handle: str, traits: Sequence[str], samples: int) -> None:
    client.models.create(handle)
    for trait in traits:
        client.traits.add(
            handle, [TraitInput(name=trait, positive_label=f"much {trait.lower()}", negative_label="little")]
        )
        texts = [
            SampleInput(text=f"{OPENINGS[quality]} {_sentence(number)} {number}", trait=trait, quality=quality)
            for number, quality in zip(range(samples), itertools.cycle((0.0, 1.0)), strict=False)
        ]
        client.samples.add(handle, texts)


def _sentence(number: int) -> str:
    """Twelve words; another order for each number."""
    return " ".join(WORDS[(number * step + step * step) % len(WORDS)] for step in range(1, 13))


@dataclass(frozen=True)
class Bare:
    """The bare pages: their port, and one tab on the first."""

    port: int
    tab: Tab


@contextmanager
def bare(folder: str) -> Iterator[Bare]:
    """Serve two Streamlit pages that have only a title."""
    script, port = Path(folder) / "bare.py", free_port()
    script.write_text(BARE, encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE_BARE, str(script), str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        while not _healthy(port):
            time.sleep(0.1)
        with Tab(port) as tab:
            tab.open("")
            yield Bare(port, tab)
    finally:
        process.kill()
        process.wait()


def _healthy(port: int) -> bool:
    with suppress(URLError, OSError):
        return bool(urlopen(f"{_local(port)}/_stcore/health", timeout=2).status == 200)
    return False


@contextmanager
def open_sessions(started: Started) -> Iterator[list[Tab]]:
    """Open the sessions, one after the other, on all pages in turn."""
    tabs: list[Tab] = []
    try:
        for page in itertools.islice(itertools.cycle(PAGES), SESSIONS):
            tabs.append(Tab(started.port).__enter__())
            tabs[-1].open(*_place(page))
        yield tabs
    finally:
        for tab in tabs:
            tab.__exit__(None, None, None)


@contextmanager
def clicking(tabs: Sequence[Tab]) -> Iterator[None]:
    """Let some of the sessions go from page to page, each at a pace of its own."""
    over = threading.Event()

    def click(tab: Tab, first: int) -> None:
        pages = itertools.islice(itertools.cycle(PAGES), first, None)
        while not over.wait(PAUSE_S):
            tab.open(*_place(next(pages)))

    threads = [threading.Thread(target=click, args=(tab, at)) for at, tab in enumerate(tabs[:CLICKING])]
    for thread in threads:
        thread.start()
        time.sleep(PAUSE_S / CLICKING)
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


@contextmanager
def training(started: Started) -> Iterator[None]:
    """Train a model over and over in the service's worker."""
    over = threading.Event()

    def train() -> None:
        with started.client() as client:
            while not over.is_set():
                with suppress(TraitbenchError):
                    client.models.train(BUSY, effort="high", reoptimize_params=True)
                    client.models.wait(BUSY, timeout=600)

    thread = threading.Thread(target=train, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()


# ---- clicks ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answered:
    """The times of the clicks on a page, and those of the bare page between them, in ms."""

    times: Sequence[float]
    bare: Sequence[float]


def _place(page: str, model: str = MODEL) -> tuple[str, str]:
    """The page's name and query, as a tab sends them."""
    if page in ABOUT_NO_MODEL:
        return "", ""
    text = f"&text={TEXT.replace(' ', '+')}" if page == "score" else ""
    return page, f"model={model}{text}"


def answered(started: Started, empty: Bare, page: str, clicks: int) -> Answered:
    """Open the page from another one, and reload the bare page in between."""
    other = "traits" if page == "catalog" else "catalog"
    times, without = [], []
    with Tab(started.port) as tab:
        tab.open(*_place(other))
        for _ in range(clicks):
            times.append(1000 * tab.open(*_place(page)))
            without.append(1000 * empty.tab.open(""))
            tab.open(*_place(other))
    return Answered(times, without)


def processor(started: Started, page: str, clicks: int) -> float:
    """The server's processor time for one click, in ms: the page is open and is clicked again."""
    with Tab(started.port) as tab:
        tab.open(*_place(page))
        tab.open(*_place(page))
        before = _cpu(started.process.pid)
        for _ in range(clicks):
            tab.open(*_place(page))
        return 1000 * (_cpu(started.process.pid) - before) / clicks


def _cpu(pid: int) -> float:
    """Seconds of processor time of a process, without its children."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


# ---- in a browser ----------------------------------------------------------------------------------------------------

_DRAWN = """([link, title]) => new Promise(resolve => {
  const app = document.querySelector('[data-testid=stApp]')
  const began = performance.now()
  const look = () => {
    const here = document.querySelector('[data-testid=stMain] h1')
    const rests = app.getAttribute('data-test-script-state') === 'notRunning'
    if (here && new RegExp(title).test(here.innerText.trim()) && rests) resolve(performance.now() - began)
    else requestAnimationFrame(look)
  }
  const items = [...document.querySelectorAll('.st-key-shell-menu a')]
  items.find(each => each.innerText.includes(link)).click()
  requestAnimationFrame(look)
})"""


def in_browser(started: Started, empty: Bare, clicks: int) -> tuple[dict[PageName, list[float]], list[float]]:
    """Milliseconds of the clicks on links of the sidebar, by page; and between the bare pages, after each round."""
    drawn: dict[PageName, list[float]] = {page: [] for page in PAGES}
    without: list[float] = []
    with sync_playwright() as playwright:
        browser = chromium(playwright, whole=True)
        with _window(browser) as ours, _window(browser) as bare:
            for page, address in ((ours, f"{started.base_url}/traits?model={MODEL}"), (bare, _local(empty.port))):
                page.goto(address)
                settled(page)
            for _ in range(1 + clicks):
                for name in PAGES:
                    link = entry(name).title
                    drawn[name].append(_drawn(ours, link, HOME.pattern if name == "catalog" else f"^{link}$"))
                without += [_drawn(bare, title, f"^{title}$") for title in reversed(BARE_PAGES)]
        browser.close()
    return {name: times[1:] for name, times in drawn.items()}, without[len(BARE_PAGES) :]


def _drawn(page: Page, link: str, title: str) -> float:
    took: float = page.evaluate(_DRAWN, [link, title])
    page.wait_for_timeout(100)
    return took


def _local(port: int) -> str:
    return f"http://127.0.0.1:{port}"


@contextmanager
def _window(browser: object) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1440, "height": 1000})  # type: ignore[attr-defined]
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    try:
        yield page
    finally:
        context.close()


# ---- on paper --------------------------------------------------------------------------------------------------------


def result(
    alone: Mapping[PageName, float],
    quiet: Mapping[PageName, Answered],
    loaded: Mapping[PageName, Answered],
    drawn: Mapping[PageName, list[float]],
    bare_drawn: Sequence[float],
) -> Measured:
    """The table and all figures."""
    everything = [each for times in drawn.values() for each in times]
    lines = [
        [
            page.capitalize(),
            f"{alone[page]:.0f}",
            *_two(quiet[page].times),
            f"{_ratio(quiet[page]):.1f}",
            *_two(loaded[page].times),
            f"{_ratio(loaded[page]):.1f}",
            *_two(drawn[page]),
            f"{_median(drawn[page]) / _median(bare_drawn):.1f}",
        ]
        for page in PAGES
    ]
    ratio = f"{_median(everything) / _median(bare_drawn):.1f}"
    lines.append(["All pages", "", "", "", "", "", "", "", *_two(everything), ratio])
    columns = [
        "Page",
        "processor",
        "answered",
        "p95",
        "x bare",
        f"{CLICKING} clicking",
        "p95",
        "x bare",
        "drawn",
        "p95",
        "x bare",
    ]
    note = (
        f"Milliseconds. {SESSIONS} sessions open and one training, except for the processor time. Goal: drawn within "
        f"{GOAL_MEDIAN_MS} at the median and {GOAL_P95_MS} at p95. Bare page: "
        f"{statistics.median(_all(quiet)):.0f}, with others clicking {statistics.median(_all(loaded)):.0f}, drawn "
        f"{_median(bare_drawn):.0f}."
    )
    figures = {
        "processor_ms": alone,
        "answered_ms": {page: _figures(each) for page, each in quiet.items()},
        "answered_while_others_click_ms": {page: _figures(each) for page, each in loaded.items()},
        "drawn_ms": {page: {"median": _median(times), "p95": _p95(times)} for page, times in drawn.items()},
        "drawn_all_ms": {"median": _median(everything), "p95": _p95(everything)},
        "drawn_bare_ms": {"median": _median(bare_drawn), "p95": _p95(bare_drawn)},
    }
    return Measured([Table("A click", columns, lines, note)], figures)


def _two(times: Sequence[float]) -> tuple[str, str]:
    return f"{_median(times):.0f}", f"{_p95(times):.0f}"


def _figures(each: Answered) -> dict[str, float]:
    return {"median": _median(each.times), "p95": _p95(each.times), "ratio": _ratio(each)}


def _ratio(each: Answered) -> float:
    return _median(each.times) / _median(each.bare)


def _all(answers: Mapping[PageName, Answered]) -> list[float]:
    return [each for one in answers.values() for each in one.bare]


def _median(times: Sequence[float]) -> float:
    return statistics.median(times) if times else float("nan")


def _p95(times: Sequence[float]) -> float:
    return sorted(times)[min(len(times) - 1, int(0.95 * len(times)))] if times else float("nan")


if __name__ == "__main__":
    run("workbench", measure, quick={"clicks": 3, "trained": 40}, whole={"clicks": 30, "trained": 200})
