"""The dialog that issues an API key and shows its secret once."""

import streamlit as st

from traitbench.display.text import plain
from traitbench.operations import console
from traitbench.operations.keys import Issued, Scope, create
from traitbench.settings import read_settings
from traitbench_app.parts.controls import copy_button
from traitbench_app.shell import session
from traitbench_app.shell.service import attempt, namespaces

_OPEN, _FORM, _ISSUED = "console.new", "console.new_key", "console.issued"

SCOPES: dict[Scope, str] = {
    "scoring": "Scoring: reads models and scores texts",
    "authoring": "Authoring: also creates, edits and trains models",
}


def start() -> None:
    """Open the dialog. A button callback."""
    session.store(_OPEN, True)


def new_key() -> None:
    """Draw the dialog while it is open: first the form, then the secret."""
    issued = session.get(_ISSUED)
    if isinstance(issued, Issued):
        st.dialog("Copy the secret now", icon=":material/key:", width="medium", on_dismiss=_close)(_show)(issued)
    elif session.get(_OPEN):
        st.dialog("New API key", icon=":material/add_circle:", on_dismiss=_close)(_ask)()


def _close() -> None:
    session.store(_OPEN, None)
    session.store(_ISSUED, None)


def _ask() -> None:
    form = session.round_key(_FORM)
    with st.form(form, border=False):
        name = st.text_input(
            "Name",
            key=f"{form}.name",
            max_chars=100,
            placeholder="Nightly scoring",
            help="The program that will use the key.",
            persist_state="session",
        )
        slots = {"name": st.empty()}
        scope = st.radio(
            "Scope",
            list(SCOPES),
            format_func=lambda each: SCOPES[each],
            key=f"{form}.scope",
            persist_state="session",
        )
        slots["scope"] = st.empty()
        owned = st.multiselect(
            "Namespaces",
            sorted({"local", *namespaces()}),
            default=["local"],
            accept_new_options=True,
            key=f"{form}.namespaces",
            help="The namespaces that the key owns. Every key can read public models. Type to add a namespace.",
            persist_state="session",
        )
        slots["namespaces"] = st.empty()
        refusal = st.container()
        with st.container(horizontal=True, horizontal_alignment="right"):
            sent = st.form_submit_button("Issue key", type="primary", icon=":material/key:", key="console.issue")
    if not sent:
        return
    with refusal, attempt(slots) as issuing:
        issued = create(console.engine(), scope=scope, namespaces=[str(each) for each in owned], name=name.strip())
        session.store(_ISSUED, issued)
    if issuing.done:
        session.store(_OPEN, None)
        session.next_round(_FORM)
        st.rerun()


def _show(issued: Issued) -> None:
    st.markdown(
        f"This is the secret of **{plain(issued.key.name) or 'the new key'}**. It is not stored, so it cannot be shown "
        "again."
    )
    st.code(issued.secret, language=None, wrap_lines=True)
    st.caption("Send it with every request:")
    address = read_settings().base_url
    st.code(f'curl -H "Authorization: Bearer $KEY" {address}/v1/models', language="bash", wrap_lines=True)
    with st.container(horizontal=True, horizontal_alignment="right"):
        copy_button(issued.secret, label="Copy secret", key="console.copy_secret")
        if st.button("I have copied it", type="primary", icon=":material/check:", key="console.copied"):
            _close()
            st.rerun()
