"""The options of a batch, its start, and the lookup of the batch that belongs to this tab."""

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import streamlit as st

from traitbench.batch.outcomes import probe
from traitbench.contract.batches import BatchSettings, Mode
from traitbench.contract.models import Model
from traitbench.contract.versions import Version
from traitbench.display.text import ago, count, plain
from traitbench.names import pin
from traitbench.settings import read_settings
from traitbench_app.parts.quality import FULL, MODE_NAMES, modes_of, price, speeds
from traitbench_app.parts.upload import BatchTexts
from traitbench_app.shell import people, session
from traitbench_app.shell.service import attempt, client
from traitbench_app.workspace import background, batches, stored_batches
from traitbench_app.workspace.background import FORGOTTEN_AFTER, PURGED_AFTER, Full
from traitbench_app.workspace.batches import BATCHES, Batch
from traitbench_app.workspace.stored_batches import StoredBatch

TRAITS, MODE = "batch.traits", "batch.mode"

_ADDRESS = "batch"
_MOST_EARLIER = 5
_WHAT: Mapping[str, str] = {
    FULL: "Uses the whole encoder. Gives the same scores as the Score page.",
    "layer4": "Uses four layers of the transformer instead of all.",
    "layer6": "Uses six layers of the transformer instead of all.",
    "static": "Uses word vectors and style only, no transformer.",
}


def pick_traits(names: Mapping[str, str]) -> list[str] | None:
    """The traits to score, or None for all; a link can preselect them."""
    from_link(TRAITS, "traits", lambda linked: [key for key in linked.split(",") if key in names])
    picked = st.multiselect(
        "Traits",
        list(names),
        key=TRAITS,
        format_func=lambda key: names.get(key, key),
        placeholder="All traits",
        persist_state="session",
    )
    return [key for key in names if key in picked] or None


def pick_mode(version: Version) -> Mode:
    """The scoring mode; each option shows what it costs and its speed."""
    figures = version.metrics.traits
    offered = [FULL, *modes_of(figures)]
    prices = {mode: price(figures, mode, speeds(version)) for mode in offered}
    from_link(MODE, "mode", str)
    if session.get(MODE) not in offered:
        session.store(MODE, None)
    picked = st.radio(
        "Mode",
        offered,
        format_func=lambda mode: MODE_NAMES.get(mode, plain(mode)),
        captions=[_caption(mode, prices[mode]) for mode in offered],
        key=MODE,
        persist_state="session",
    )
    if len(offered) == 1:
        st.caption(f"v{version.version_no} has no faster modes.")
    return cast(Mode, picked or FULL)


def from_link(key: str, name: str, read: Callable[[str], Any]) -> None:
    """Set a widget from the link, before it is drawn for the first time.

    A widget whose labels differ from its values cannot be bound to the URL, because the URL would hold the labels.
    """
    if key not in st.session_state and (linked := st.query_params.get(name)):
        session.store(key, read(linked))


def start(model: Model, version: str, texts: BatchTexts, traits: Sequence[str] | None, mode: Mode) -> None:
    """Start a batch. A probe text is scored first: an error that would affect every row is shown instead."""
    settings = BatchSettings(pin(model.handle, version), traits, mode)
    with attempt() as starting:
        card = probe(client(), settings)
    if starting.error:
        return
    batch = Batch(
        client(),
        settings.of_version(card.metadata.version_id),
        texts.source,
        texts.column,
        name=texts.name,
        keys=tuple(card.scores),
        owner=people.current().id,
    )
    if not model.zero_data_retention:
        try:
            stored_batches.begin(_folder(), batch, service=client().base_url)
        except OSError as error:
            logging.getLogger(__name__).warning("a batch is not kept: %s", type(error).__name__)
            session.flash(
                f"The home folder cannot be written: {error.strerror}. These results stay in memory only, so download "
                "them before you leave.",
                "problem",
            )
    try:
        background.start(batch, forget_after=_forgotten_after(model))
    except Full as full:
        # It was written before it could start, so that no row is scored without a place for it.
        stored_batches.remove(_folder(), batch.id)
        st.warning(str(full), icon=":material/hourglass_top:")
        return
    if model.zero_data_retention:
        forget(model.handle)
    session.store(BATCHES, {**session.get(BATCHES, {}), model.handle: batch.id})
    st.rerun()


def present_batch(model: Model) -> Batch | None:
    """The batch of this tab for this model; after a reload or a restart, the URL still identifies it."""
    handle = model.handle
    stored: dict[str, str] = session.get(BATCHES, {})
    linked = st.query_params.get(_ADDRESS)
    owner = people.current().id
    batch = (
        batches.find(stored.get(handle), owner=owner)
        or batches.find(linked, owner=owner)
        or _restored(model, stored.get(handle) or linked)
    )
    if batch is not None and batch.handle == handle:
        session.store(BATCHES, {**stored, handle: batch.id})
        if linked != batch.id:
            st.query_params[_ADDRESS] = batch.id
        return batch
    if handle in stored or linked:
        session.store(BATCHES, {name: batch_id for name, batch_id in stored.items() if name != handle})
        st.query_params.pop(_ADDRESS, None)
        if batch is None:
            st.info(
                "These results were discarded, or they belong to someone else. Score the texts again.",
                icon=":material/info:",
            )
    return None


def draw_earlier(model: Model) -> None:
    """Draw a button for each earlier batch of this person and model; nothing if there are none."""
    if model.zero_data_retention:
        return
    stored = stored_batches.listing(
        _folder(), owner=people.current().id, service=client().base_url, handle=model.handle
    )
    shown = [each for each in stored if each.id != session.get(BATCHES, {}).get(model.handle)][:_MOST_EARLIER]
    if not shown:
        return
    st.markdown("**Earlier batches**")
    for each in shown:
        if each.is_old:
            _draw_old(each)
            continue
        if st.button(
            f"{plain(each.name)}: {count(each.rows, 'row')}, {ago(each.at)}",
            key=f"batch.earlier.{each.id}",
            icon=":material/history:",
            type="tertiary",
        ):
            open_batch(model.handle, each.id)


def _draw_old(old: StoredBatch) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            f"{plain(old.name)}, {ago(old.at)}: an earlier release wrote it, and this one cannot open it. Score the "
            "file again."
        )
        if st.button("Delete", key=f"batch.old.{old.id}", icon=":material/delete:", type="tertiary"):
            stored_batches.remove(_folder(), old.id)
            st.rerun()


def open_batch(handle: str, batch_id: str) -> None:
    """Show another batch of this model."""
    session.store(BATCHES, {**session.get(BATCHES, {}), handle: batch_id})
    st.query_params[_ADDRESS] = batch_id
    st.rerun()


def _restored(model: Model, batch_id: str | None) -> Batch | None:
    """Read a batch from the home folder, and hold it in memory like one that just ended."""
    if model.zero_data_retention:
        return None
    about: Any = {"owner": people.current().id, "service": client().base_url, "client": client()}
    with st.spinner("Reading the results"):
        batch = stored_batches.load(_folder(), batch_id, **about)
    if batch is None or batch.handle != model.handle:
        return None
    # Results can be shown all the same. They are only read again in the next run.
    with suppress(Full):
        background.hold(batch, forget_after=_forgotten_after(model))
    return batch


def _forgotten_after(model: Model) -> float:
    return PURGED_AFTER if model.zero_data_retention else FORGOTTEN_AFTER


def _folder() -> Path:
    return read_settings().home / stored_batches.FOLDER


def forget(handle: str) -> None:
    """Discard the batch of this tab for this model. Also a button callback."""
    stored: dict[str, str] = session.get(BATCHES, {})
    if handle in stored:
        background.discard(stored[handle])
        stored_batches.remove(_folder(), stored[handle])
        st.query_params.pop(_ADDRESS, None)
        session.store(BATCHES, {name: batch_id for name, batch_id in stored.items() if name != handle})


def retention_note(model: Model) -> None:
    """Say where the texts are stored, and for how long."""
    if model.zero_data_retention:
        st.caption(
            ":material/shield: Zero data retention is on: texts and scores stay only in this workbench's memory, until "
            "you discard them or 15 minutes after you last viewed them. An uploaded file stays while this tab shows it."
        )
    else:
        st.caption(
            "Texts, scores and audits stay in the home folder of this workbench until you discard them. The newest "
            f"{stored_batches.MOST_STORED} batches of each person are kept."
        )


def _caption(mode: str, cost: str) -> str:
    """What a mode does and what it costs, without its name, which is shown beside it."""
    description = _WHAT.get(mode, plain(mode))
    figures = cost.partition(": ")[2]
    return f"{description} {figures[:1].upper()}{figures[1:]}" if figures else description
