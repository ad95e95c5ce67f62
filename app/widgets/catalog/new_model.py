"""The dialog that creates a model: namespace, name and description, each with its own error below it.

A model can be created as a copy: a draft with everything from another model except its versions.
"""

from collections.abc import Sequence

import streamlit as st

from traitbench.app.presentation.model_names import GRAMMAR, no_name
from traitbench.app.shell import session
from traitbench.app.shell.navigation import open_page
from traitbench.app.shell.service import attempt, client, field_error, namespaces
from traitbench.app.shell.text import plain
from traitbench.contract.bundles import Bundle, digest
from traitbench.contract.models import Model
from traitbench.contract.names import NAMESPACE

_OPEN, _FORM, _NOTHING = "catalog.new", "catalog.new_model", "\n"


def start(copy_of: str = _NOTHING) -> None:
    """Open the dialog, for an empty model or for a copy of a model. A button callback."""
    session.store(_OPEN, copy_of)


def new_model() -> None:
    """Draw the dialog while it is open."""
    copy_of = session.get(_OPEN)
    if copy_of == _NOTHING:
        st.dialog("New model", icon=":material/add_circle:", on_dismiss=_close)(_ask)(None)
    elif copy_of:
        st.dialog("Copy to a new draft", icon=":material/file_copy:", on_dismiss=_close)(_ask)(copy_of)


def _close() -> None:
    session.store(_OPEN, None)


def _ask(copy_of: str | None) -> None:
    owned = namespaces()
    form = session.round_key(_FORM if copy_of is None else f"{_FORM}.{copy_of}")
    if copy_of:
        st.caption(f"Copies the traits and samples of {plain(copy_of)}, which does not change.")
    with st.form(form, border=False):
        namespace, name = handle_fields(form, owned)
        name_slot = st.empty()
        description = st.text_area(
            "What does it measure?",
            client().models.get(copy_of).description if copy_of else "",
            key=f"{form}.description",
            placeholder="Tone of support answers: warm or cold, plain or full of jargon.",
            height=96,
            persist_state="session",
        )
        slots = {"handle": name_slot, "description": st.empty()}
        refusal = st.container()
        with st.container(horizontal=True, horizontal_alignment="right"):
            sent = st.form_submit_button("Create model", type="primary", icon=":material/add:", key="catalog.create")
    if not sent:
        return
    if not NAMESPACE.fullmatch(name):
        field_error(name_slot, no_name(name))
        return
    with refusal, attempt(slots) as creating:
        model = _create(f"{namespace}.{name}", description.strip(), copy_of)
    if creating.done:
        _close()
        session.next_round(form.rpartition(":")[0])
        session.flash(
            f"{plain(model.handle)} was created. {'You can edit it now.' if copy_of else 'Next, add its traits.'}"
        )
        if copy_of is None:
            open_page("traits", model=model.handle)
        session.next_model(model.handle)
        st.rerun()


def _create(handle: str, description: str, copy_of: str | None) -> Model:
    if copy_of is None:
        return client().models.create(handle, description=description)
    return client().models.import_(_as_draft(client().models.export(copy_of), description), handle=handle)


def _as_draft(bundle: Bundle, description: str) -> Bundle:
    """The bundle without its versions, as a draft; discovered traits and the provenance of samples are kept."""
    samples = bundle.samples and [sample.model_copy(update={"pending": False}) for sample in bundle.samples]
    about = bundle.model.model_copy(update={"description": description})
    draft = bundle.model_copy(update={"model": about, "samples": samples, "versions": []})
    return draft.model_copy(update={"sha256": digest(draft)})


def handle_fields(form: str, owned: Sequence[str], *, name: str = "") -> tuple[str, str]:
    """Draw the two fields of a handle and return them: an owned namespace, and a name."""
    left, right = st.columns([2, 3])
    namespace = left.selectbox(
        "Namespace", owned, key="catalog.new_namespace", help="The namespaces that this workbench's API key owns."
    )
    typed = right.text_input(
        "Name",
        name,
        key=f"{form}.name",
        placeholder="support-tone",
        help=GRAMMAR + " You cannot change it later.",
        persist_state="session",
    )
    return str(namespace), typed.strip()
