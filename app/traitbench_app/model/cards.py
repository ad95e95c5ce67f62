"""The smaller cards of a model's dashboard: what it learned from, what its texts are like, and what waits."""

from collections import Counter
from collections.abc import Sequence

import streamlit as st

from traitbench.analysis.texts import Texts, describe
from traitbench.contract.models import Model
from traitbench.contract.samples import Sample
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.display.pictures import histogram, listed
from traitbench.display.text import count
from traitbench_app.parts.controls import question
from traitbench_app.parts.runs import MISTAKES
from traitbench_app.parts.sample_table import ORIGINS
from traitbench_app.parts.strips import balance_of, may_review, wrong_of
from traitbench_app.shell import session
from traitbench_app.shell.navigation import PageName, page_link
from traitbench_app.shell.permission import why_read_only
from traitbench_app.shell.service import client
from traitbench_app.workspace.changes import is_suggestion
from traitbench_app.workspace.samples import MOST_LOADED, all_samples, number_of

_NEWEST = 250
_TEXTS = "model.texts"


def read(model: Model, traits: Sequence[Trait]) -> list[Sample] | None:
    """Return all samples, or the newest if they are many; None if the person may not read them."""
    if why_read_only(model):
        return None
    if number_of(traits) <= MOST_LOADED:
        return all_samples(model.handle, traits)
    # Enough for the picture of the texts; the counts come from the service.
    return client().samples.list(model.handle, newest_first=True, limit=_NEWEST).items


def draw_learned(
    model: Model,
    version: Version | None,
    shown: Sequence[Trait],
    traits: Sequence[Trait],
    samples: list[Sample] | None,
) -> None:
    """Draw the balance of the traits `shown` and where the samples of all `traits` come from."""
    total = number_of(traits)
    learned = 0 if version is None else version.sample_count
    with question("What has it learned from?", key="learned", note=count(total or learned, "sample")):
        if shown:
            st.html("".join(balance_of(version, trait, from_version=not total) for trait in shown))
        if not total:
            st.caption("Its samples were removed after training." if learned else "It has no samples yet.")
        elif samples is not None:
            tests = sum(trait.held_out_samples for trait in traits)
            st.html(listed({**_origins(model, samples, total), "Of these, only for testing": tests}))
            page_link("samples", "Open its samples")


def _origins(model: Model, samples: Sequence[Sample], total: int) -> dict[str, int]:
    """How many samples are of each origin; the service counts them if they are too many to read."""
    if total <= MOST_LOADED:
        counted = Counter(sample.provenance for sample in samples)
        return {words: counted[origin] for origin, words in ORIGINS.items()}
    counts = {
        words: client().samples.list(model.handle, provenance=origin, limit=1, count=True).count
        for origin, words in ORIGINS.items()
    }
    return {words: number or 0 for words, number in counts.items()}


def draw_texts(model: Model, traits: Sequence[Trait], samples: list[Sample] | None) -> None:
    """Draw how long the texts of the samples are, and in which languages; nothing before there is a sample."""
    total = number_of(traits)
    texts = _described(samples) if samples else None
    if texts is None:
        if total or model.zero_data_retention:
            with question("What are its texts like?", key="texts"):
                st.caption(
                    "Only people who may change the model can read its texts." if total else "It keeps no texts."
                )
        return
    newest = "newest " if total > MOST_LOADED else ""
    note = ", ".join([count(len(texts.words), f"{newest}text"), *texts.main_languages[:3]])
    with question("What are its texts like?", key="texts", note=note):
        step, steps = texts.histogram()
        words = f"Half have {count(texts.median, 'word')} or more; the longest has {texts.longest:,}."
        st.html(histogram(steps, step=step, unit="words", words=words))
        st.caption(words)


def _described(samples: list[Sample]) -> Texts | None:
    """What the different texts of the samples are like; it is computed once for each list."""
    texts = {sample.content_sha256: sample.text for sample in samples}
    return session.once(_TEXTS, samples, lambda: describe(texts.values()))


def draw_waiting(model: Model, version: Version | None, traits: Sequence[Trait]) -> None:
    """Draw what waits for a person, each with a link to where it is done."""
    forbidden = why_read_only(model)
    runs = int(model.state == "busy")
    pending = model.retrain.pending if model.state == "ready" else 0
    mistakes = wrong_of(version) if version is not None and may_review(model) else 0
    suggestions = sum(map(is_suggestion, traits)) if model.state in ("draft", "failed") else 0
    with question("What waits?", key="waits"):
        _draw_waiting_row("Corrections to learn", pending, "samples", "Open", may=not forbidden)
        _draw_waiting_row("Runs", runs, "train", "Watch")
        _draw_waiting_row("Mistakes to review", mistakes, "train", "Review", show=MISTAKES)
        _draw_waiting_row("Suggested traits", suggestions, "traits", "Decide", may=not forbidden)
        if model.held_version_no is not None:
            held = f"v{model.held_version_no}"
            _draw_waiting_row(f"{held} is on hold", 1, "samples", "Decide", may=not forbidden)


def _draw_waiting_row(what: str, number: int, page: PageName, verb: str, *, may: bool = True, **query: str) -> None:
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.markdown(what, width="content")
        if number and may:
            page_link(page, f"{verb} {number:,}", **query)
        else:
            st.markdown(f"{number:,}" if number else ":gray[0]", width="content")
