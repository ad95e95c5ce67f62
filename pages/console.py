"""Console: issue, list and revoke the API keys of programs."""

from functools import partial

import streamlit as st

from traitbench.display.text import ago, count, plain, unlinked
from traitbench.operations import console
from traitbench.operations.console import ApiKey, KeyNotFound
from traitbench.settings import read_settings
from traitbench_app.operator.new_key import new_key, start
from traitbench_app.parts.controls import ask, asked, confirm
from traitbench_app.parts.heading import heading
from traitbench_app.parts.operators_only import operators_only
from traitbench_app.parts.unreadable import draw_unreadable
from traitbench_app.shell import session

REVOKE = "console.revoke"

settings = read_settings()
own_secret = settings.service_key()


def revoke(key: ApiKey) -> None:
    """Revoke a key and confirm it with a toast; a key that no longer exists counts as revoked."""
    name = plain(key.name) or "The key"
    try:
        console.revoke(key.id)
    except KeyNotFound:
        session.flash(f"{name} was already removed by someone else and no longer works.", "note")
    else:
        session.flash(f"{name} was revoked.")


def key_row(key: ApiKey) -> None:
    """Draw one key as a row; its columns stack on a narrow screen."""
    own = own_secret.startswith(key.prefix)
    with st.container(border=True, key=f"console.row.{key.id}"):
        name, scope, used, actions = st.columns([4, 4, 3, 2], vertical_alignment="center", gap="medium")
        name.markdown(f"**{unlinked(key.name) or 'Unnamed'}**  \n:small[:gray[`{key.prefix}…`]]")
        with scope, st.container(horizontal=True, gap="small"):
            st.badge(
                key.scope, icon=":material/edit:" if key.scope == "authoring" else ":material/speed:", color="gray"
            )
            for namespace in key.namespaces:
                st.badge(namespace, icon=":material/folder:", color="gray")
        origin = "signed in" if console.of_session(key) else "issued"
        last = f"Last used {ago(key.last_used_at)}" if key.last_used_at else "Never used"
        issued = f"revoked {ago(key.revoked_at)}" if key.revoked_at else f"{origin} {ago(key.created_at)}"
        used.markdown(f"{last}  \n:small[:gray[{issued}]]")
        with actions, st.container(horizontal=True, horizontal_alignment="right"):
            if own and not key.revoked_at:
                st.badge("This workbench", icon=":material/home:", color="blue", help="The key this workbench uses.")
            elif not key.revoked_at:
                st.button(
                    "Revoke",
                    icon=":material/block:",
                    key=f"console.revoke.{key.id}",
                    on_click=ask,
                    args=(REVOKE, key.id),
                )


heading("console")

# ---- access ----------------------------------------------------------------------------------------------------------

operators_only(
    "Only the operator can manage API keys",
    "Ask the operator if you need a key or more permissions.",
    key="console.closed",
)

# ---- keys of another service -----------------------------------------------------------------------------------------

if not console.available():
    with st.container(border=True, key="console.remote"):
        st.subheader("Keys are issued where the service runs", icon=":material/cloud:", anchor=False)
        st.markdown(
            f"This workbench uses the service at `{settings.base_url}`. Manage its keys on that machine, in its own "
            "workbench or in a terminal:"
        )
        st.code("traitbench key create --scope scoring --namespace local", language="bash", wrap_lines=True)
        st.caption("Set `TRAITBENCH_API_KEY` to the key that this workbench should use.")
    st.stop()

# ---- keys of this service --------------------------------------------------------------------------------------------

keys = console.list_keys()[::-1]
live = [key for key in keys if key.revoked_at is None]
revoked = [key for key in keys if key.revoked_at is not None]

with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
    st.caption(f"{count(len(live), 'key')} in use", width="content")
    st.button("New key", type="primary", icon=":material/add:", key="console.new_button", on_click=start)

draw_unreadable(
    console.unreadable_keys(),
    "key",
    key="console.unreadable",
    way_out="It does not work. Issue a new key to replace it.",
)

for key in live:
    key_row(key)

if not [key for key in live if not own_secret.startswith(key.prefix)]:
    st.caption("Give each program its own key, so that you can see when it was used and revoke it separately.")

if revoked:
    with st.expander(f"Revoked ({len(revoked)})", icon=":material/block:"):
        for key in revoked:
            key_row(key)

# ---- dialogs ---------------------------------------------------------------------------------------------------------

new_key()

leaving = next((key for key in live if key.id == asked(REVOKE)), None)
if leaving:
    confirm(
        REVOKE,
        title="Revoke this key?",
        body=f"The service will refuse every program that uses **{plain(leaving.name) or leaving.prefix}**. You cannot "
        "restore a revoked key; issue a new one instead.",
        yes="Revoke",
        icon=":material/block:",
        act=partial(revoke, leaving),
    )
