"""The dialog that imports a model from an exported file, under its own name or another one.

The service checks that the file is complete and unchanged. The dialog only parses it, to show what it contains.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from traitbench.contract.bundles import Bundle
from traitbench.display.text import count, plain
from traitbench.model_names import no_name
from traitbench.names import NAMESPACE
from traitbench.settings import read_settings
from traitbench_app.parts.new_model import handle_fields
from traitbench_app.shell import session
from traitbench_app.shell.navigation import open_page
from traitbench_app.shell.service import attempt, client, field_error

_OPEN, _READ, _FORM = "catalog.import", "catalog.import_read", "catalog.import_form"
_MEGABYTE = 1024 * 1024


@dataclass(frozen=True)
class _Read:
    """An uploaded file, parsed once: its model, or the reason why it has none."""

    file_id: str
    bundle: Bundle | None
    problem: str = ""


def start() -> None:
    """Open the dialog. A button callback."""
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
        max_upload_size=max(read_settings().max_import_bytes // _MEGABYTE, 1),
        label_visibility="collapsed",
    )
    if file is None:
        if session.get(_READ) is not None:
            session.store(_READ, None)
            st.rerun()
        return
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
    held = session.get(_READ)
    if not isinstance(held, _Read) or held.file_id != file.file_id:
        held = _parsed(file.file_id, file.getvalue())
        session.store(_READ, held)
    return held


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
