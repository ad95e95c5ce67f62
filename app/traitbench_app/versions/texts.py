"""The texts that two versions are compared on, and the comparison of this tab that runs behind the page."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.page import LARGEST_SAMPLE_PAGE
from traitbench.contract.samples import Sample
from traitbench.contract.traits import Trait
from traitbench.display.text import count, plain
from traitbench.tables.sample_files import FileLayout, LabelColumn, guess_columns, known_words
from traitbench_app.parts import upload as batch_input
from traitbench_app.parts.upload import BatchTexts
from traitbench_app.shell import people, session
from traitbench_app.shell.permission import why_read_only
from traitbench_app.shell.service import attempt, client
from traitbench_app.versions import text_comparison
from traitbench_app.versions.pair import PairSide
from traitbench_app.versions.text_comparison import (
    MOST_COMPARED,
    ComparedInput,
    TextComparison,
    of_samples,
    of_table,
)
from traitbench_app.workspace import background
from traitbench_app.workspace.background import FORGOTTEN_AFTER, PURGED_AFTER, Full
from traitbench_app.workspace.batches import batch_of_tab

TESTS, SAMPLES, BATCH = "Test samples", "All samples", "The batch"
FILE, PASTED = batch_input.FILE, batch_input.PASTED

_ADDRESS = "comparison"
_COMPARISONS, _DISCARDED = "versions.comparisons", "versions.discarded"

Pair = tuple[PairSide, PairSide]


@dataclass(frozen=True)
class TextSource:
    """Where the texts come from; `texts` is what a file, the lines or the batch have, None if that is read later."""

    name: str
    texts: Sequence[ComparedInput] | None = None


def may_read_samples(pair: Pair) -> bool:
    """Whether the key may read the samples of both models."""
    return not any(why_read_only(each.model) for each in pair)


def pick_source(model: Model, pair: Pair, traits: Sequence[Trait], key: str) -> TextSource | None:
    """Draw the choice of texts; None while there are none. Labels of a file are about the trait `key`."""
    comparison = batch_of_tab(model.handle)
    readable = may_read_samples(pair)
    offered = [*((TESTS, SAMPLES) if readable else ()), FILE, PASTED, *([BATCH] if comparison else ())]
    tested = any(each.held_out_samples for each in traits)
    sampled = any(each.sample_count for each in traits)
    picked = st.segmented_control(
        "Texts from",
        offered,
        default=BATCH if comparison else TESTS if readable and tested else SAMPLES if readable and sampled else PASTED,
        required=True,
        key=f"versions.from:{model.handle}",
        persist_state="session",
    )
    command = f"traitbench compare-versions {pair[0].pinned} {pair[1].pinned} --texts FILE"
    if picked == TESTS:
        st.caption("Samples that no version learns from. Their labels say which side is right.")
        return TextSource(TESTS)
    if picked == SAMPLES:
        st.caption("Versions score the samples that they were trained with better than new texts.")
        return TextSource(SAMPLES)
    if picked == BATCH and comparison:
        texts = [text for row, text in enumerate(comparison.texts[: comparison.done]) if row not in comparison.errors]
        return TextSource(comparison.name, [ComparedInput(text) for text in texts]) if texts else None
    if picked == FILE:
        given = batch_input.texts_of_file(command, most=MOST_COMPARED)
    else:
        given = batch_input.pasted_texts(command, most=MOST_COMPARED)
    if given is None:
        return None
    layout = _pick_labels(given, traits, key) if picked == FILE else FileLayout(given.column, ())
    return TextSource(given.name, of_table(given.source.whole, layout, traits))


def _pick_labels(given: BatchTexts, traits: Sequence[Trait], key: str) -> FileLayout:
    """Draw the choice of the column with the labels; there may be none."""
    others = [column for column in given.source.columns if column != given.column]
    if not others:
        return FileLayout(given.column, ())
    _, trait, quality = guess_columns(given.source.head, traits)
    about = (
        "the column " + plain(trait)
        if trait in others
        else next((plain(each.name) for each in traits if each.key == key), plain(key))
    )
    picked = st.selectbox(
        "Expected quality (optional)",
        others,
        index=others.index(quality) if quality in others else None,
        key=f"versions.labels:{given.name}:{given.column}",
        placeholder="No column",
        help=f"Numbers from 0 to 1, or labels of the poles. They are about {about}. With them you see regressions.",
        persist_state="page",
    )
    if picked is None:
        return FileLayout(given.column, ())
    if trait not in others or trait == picked:
        trait = None
    words = known_words(given.source.whole, picked, traits)
    return FileLayout(given.column, (LabelColumn(picked, None if trait else key, words),), trait)


def start(pair: Pair, source: TextSource, keys: Sequence[str]) -> None:
    """Start to score the texts with both versions, behind the page."""
    texts = source.texts
    if texts is None:
        with attempt() as reading, st.spinner("Reading the samples"):
            texts = of_samples(_samples(pair, tests=source.name == TESTS))
        if reading.error:
            return
    if not texts:
        st.warning(
            "There are no test samples. Set some aside on the Samples page of a draft, before training."
            if source.name == TESTS
            else "There are no texts here. Choose others.",
            icon=":material/inbox:",
        )
        return
    if len(texts) > MOST_COMPARED:
        session.flash(f"The first {MOST_COMPARED:,} of {count(len(texts), 'text')} are compared.", "note")
    before, after = pair
    comparison = TextComparison(
        client(),
        before.pinned,
        after.pinned,
        texts[:MOST_COMPARED],
        keys=keys,
        name=source.name,
        of_samples=source.texts is None,
        owner=people.current().id,
    )
    purged = any(each.model.zero_data_retention for each in pair)
    try:
        background.start(comparison, forget_after=PURGED_AFTER if purged else FORGOTTEN_AFTER)
    except Full as full:
        st.warning(str(full), icon=":material/hourglass_top:")
        return
    forget(pair)
    session.store(_COMPARISONS, {**session.get(_COMPARISONS, {}), _key(pair): comparison.id})
    st.rerun()


def present_comparison(pair: Pair) -> TextComparison | None:
    """The comparison of this tab of these versions; after a reload, the address still identifies it."""
    stored: dict[str, str] = session.get(_COMPARISONS, {})
    linked = st.query_params.get(_ADDRESS)
    owner = people.current().id
    mine, of_link = (text_comparison.find(each, owner=owner) for each in (stored.get(_key(pair)), linked))
    for comparison in (mine, of_link):
        if comparison is not None and (comparison.a, comparison.b) == (pair[0].pinned, pair[1].pinned):
            session.store(_COMPARISONS, {**stored, _key(pair): comparison.id})
            if linked != comparison.id:
                st.query_params[_ADDRESS] = comparison.id
            return comparison
    session.store(_COMPARISONS, {key: comparison_id for key, comparison_id in stored.items() if key != _key(pair)})
    if linked:
        st.query_params.pop(_ADDRESS, None)
        if of_link is None:
            st.info("This comparison is no longer in memory. Score the texts again.", icon=":material/info:")
    return None


def discard(pair: Pair) -> None:
    """Discard the comparison until the person asks for one again. A button callback."""
    forget(pair)
    session.store(_DISCARDED, _key(pair))


def is_discarded(pair: Pair) -> bool:
    """Whether the person has discarded the comparison of these versions."""
    return bool(session.get(_DISCARDED) == _key(pair))


def forget(pair: Pair) -> None:
    """Remove the comparison of this tab of these versions from memory."""
    stored: dict[str, str] = session.get(_COMPARISONS, {})
    if comparison_id := stored.get(_key(pair)):
        background.discard(comparison_id)
        st.query_params.pop(_ADDRESS, None)
        session.store(_COMPARISONS, {key: each for key, each in stored.items() if key != _key(pair)})


def retention_note(pair: Pair) -> None:
    """Say where the texts are kept, and for how long."""
    if any(each.model.zero_data_retention for each in pair):
        st.caption(
            ":material/shield: Zero data retention is on: texts and scores stay only in this workbench's memory, until "
            "you discard them or 15 minutes after you last viewed them."
        )
    else:
        st.caption(
            "Texts and scores stay in this workbench's memory, not on disk, until you discard them or 6 hours after "
            "you last viewed them."
        )


def _samples(pair: Pair, *, tests: bool) -> list[Sample]:
    """The samples of both models, only the test samples if wanted; those of the second model count if they differ."""
    samples: list[Sample] = []
    for handle in dict.fromkeys(each.model.handle for each in pair):
        pages = client().samples.list(handle, held_out=True if tests else None, limit=LARGEST_SAMPLE_PAGE)
        # A text has a sample for each of its traits, so there are more samples than texts.
        samples += islice(pages, 5 * MOST_COMPARED)
    return samples


def _key(pair: Pair) -> str:
    return f"{pair[0].pinned} {pair[1].pinned}"
