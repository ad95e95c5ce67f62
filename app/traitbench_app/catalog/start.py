"""The ways to a model of one's own: a file, a few texts for each side, texts to label, or a model that was exported.

The dialog of an import only parses the file, to show what it contains. The service checks that it is complete and
unchanged.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st
from streamlit.typing import UploadedFile

from traitbench.contract.bundles import Bundle
from traitbench.display.text import count, plain
from traitbench.names import NAMESPACE, no_name
from traitbench.settings import read_settings
from traitbench_app.catalog.paste import ask_for_texts
from traitbench_app.parts.model_actions import TO_LABEL, ask_for_model, handle_fields
from traitbench_app.shell import session
from traitbench_app.shell.leaving import end_soon_after_tab
from traitbench_app.shell.navigation import open_page
from traitbench_app.shell.service import attempt, client, field_error

_STYLE = """
<style>
[class*="st-key-card-way"] { padding: 11px 18px; min-height: 68px; }
.st-key-card-way-first_file { background: transparent !important; border: 1px dashed var(--tb-line-strong); }
</style>
"""


def draw_ways(nowhere: str | None, *, draw_drop: Callable[[], None]) -> None:
    """Draw the ways; `nowhere` says why the person cannot create a model, `draw_drop` draws the field for a file."""
    st.html(_STYLE)
    drop, paste, label = st.columns([1.3, 1, 1], gap="small")
    with drop:
        if nowhere is None:
            draw_drop()
        else:
            words = "Labelled or not: both lead to a model."
            _way("first_file", ":material/upload:", "Drop a file", words, "Choose a file", nowhere)
    with paste:
        _way(
            "paste",
            ":material/playlist_add:",
            "Paste texts",
            "About ten for each side.",
            "Paste",
            nowhere,
            ask_for_texts,
        )
    with label:
        to_label = partial(ask_for_model, TO_LABEL)
        _way("first_label", ":material/label:", "Label texts", "One key for each text.", "Label", nowhere, to_label)


def _way(
    name: str,
    icon: str,
    title: str,
    words: str,
    button: str,
    nowhere: str | None,
    ask: Callable[[], None] | None = None,
) -> None:
    """Draw a card whose button opens the dialog of a new model."""
    with st.container(
        border=True, horizontal=True, vertical_alignment="center", height="stretch", key=f"card.way.{name}"
    ):
        with st.container(gap=None, width="stretch"):
            st.markdown(f"{icon} **{title}**")
            st.caption(words)
        st.button(
            button,
            key=f"catalog.{name}",
            on_click=ask,
            disabled=nowhere is not None,
            help=nowhere,
        )


# ---- the import ------------------------------------------------------------------------------------------------------

_OPEN, _READ, _FORM = "catalog.import", "catalog.import_read", "catalog.import_form"
_MEGABYTE = 1024 * 1024


@dataclass(frozen=True)
class _Read:
    """An uploaded file, parsed once: its model, or the reason why it has none."""

    file_id: str
    bundle: Bundle | None
    problem: str = ""


def open_import() -> None:
    """Open the dialog of an import. A button callback."""
    session.store(_OPEN, True)


def import_model(owned: Sequence[str]) -> None:
    """Draw the dialog while it is open. Once a file is chosen, a click outside does not close it."""
    if session.get(_OPEN):
        dialog = st.dialog(
            "Import a model",
            icon=":material/upload:",
            width="medium",
            on_dismiss=_close,
            dismissible=session.get(_READ) is None,
        )
        dialog(_ask)(owned)


def _close() -> None:
    session.store(_OPEN, None)
    session.store(_READ, None)


def _ask(owned: Sequence[str]) -> None:
    form = session.round_key(_FORM)
    st.caption("Choose a file that was exported on the Model page or with `traitbench export`.")
    file = st.file_uploader(
        "File",
        type=["json"],
        key=f"{form}.file",
        # The uploader takes whole megabytes, at least one; the service has the last word.
        max_upload_size=max(read_settings().max_import_bytes // _MEGABYTE, 1),
        label_visibility="collapsed",
    )
    if file is None:
        if session.get(_READ) is not None:
            session.store(_READ, None)
            st.rerun()
        return
    end_soon_after_tab()
    # Drawn again, because only then the dialog cannot be closed by a click outside.
    if session.get(_READ) is None:
        _read(file)
        st.rerun()
    read = _read(file)
    if read.bundle is None:
        st.error(read.problem, icon=":material/error:")
        _cancel_button()
        return
    _draw(read.bundle)
    namespace, name = handle_fields(f"{form}.{read.file_id}", _own_first(owned, read.bundle), name=_name(read.bundle))
    name_slot, refusal = st.empty(), st.container()
    with st.container(horizontal=True, horizontal_alignment="right"):
        _cancel_button()
        sent = st.button("Import model", type="primary", icon=":material/upload:", key="catalog.import_send")
    if sent and not NAMESPACE.fullmatch(name):
        field_error(name_slot, no_name(name))
    elif sent:
        with refusal, st.spinner("Importing"), attempt({"handle": name_slot}) as importing:
            model = client().models.import_(read.bundle, handle=f"{namespace}.{name}")
        if importing.done:
            _close()
            session.next_round(_FORM)
            session.flash(f"{plain(model.handle)} was imported.")
            open_page("model", model=model.handle)


def _cancel_button() -> None:
    if st.button("Cancel", key="catalog.import_cancel"):
        _close()
        session.next_round(_FORM)
        st.rerun()


def _read(file: UploadedFile) -> _Read:
    """The parsed file, cached in the session between runs of the page."""
    stored = session.get(_READ)
    if not isinstance(stored, _Read) or stored.file_id != file.file_id:
        stored = _parsed(file.file_id, file.getvalue())
        session.store(_READ, stored)
    return stored


def _parsed(file_id: str, content: bytes) -> _Read:
    try:
        return _Read(file_id, Bundle.model_validate_json(content))
    except ValueError:
        return _Read(file_id, None, _problem(content))


def _problem(content: bytes) -> str:
    try:
        json.loads(content)
    except ValueError:
        return "This file is not valid JSON and may be incomplete. Export the model again."
    return "This file is not an exported model, or it was edited after the export. Export the model again."


def _draw(bundle: Bundle) -> None:
    samples = "no samples" if bundle.samples is None else count(len(bundle.samples), "sample")
    versions = count(len(bundle.versions), "version")
    st.markdown(f"**{plain(bundle.handle)}**: {count(len(bundle.traits), 'trait')}, {samples}, {versions}")
    if bundle.model.description:
        st.caption(plain(bundle.model.description))
    if bundle.model.zero_data_retention:
        st.caption("Zero data retention is on for this model and stays on.")


def _name(bundle: Bundle) -> str:
    return bundle.handle.partition(".")[2]


def _own_first(owned: Sequence[str], bundle: Bundle) -> list[str]:
    """The owned namespaces, the file's own namespace first if it is one of them."""
    return sorted(owned, key=lambda each: each != bundle.handle.partition(".")[0])
