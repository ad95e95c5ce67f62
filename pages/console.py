"""Console: the API keys with which programs come in. Issued once, listed, revoked."""

from functools import partial

import streamlit as st

from traitbench.app import console, session
from traitbench.app.console import ApiKey, KeyNotFound
from traitbench.app.text import ago, count, plain, unlinked
from traitbench.app.widgets.confirm import ask, asked, confirm
from traitbench.app.widgets.heading import heading
from traitbench.app.widgets.new_key import new_key, start
from traitbench.app.widgets.operators_only import operators_only
from traitbench.app.widgets.unreadable import draw_unreadable
from traitbench.settings import read_settings

REVOKE = "console.revoke"

settings = read_settings()
own_secret = settings.service_key()


def revoke(key: ApiKey) -> None:
    """Revoke a key and say so; one that is not there any more is as useless as it should be."""
    name = plain(key.name) or "The key"
    try:
        console.revoke(key.id)
    except KeyNotFound:
        session.flash(f"{name} was removed by somebody else meanwhile; it opens nothing any more.", "note")
    else:
        session.flash(f"{name} is revoked.")


def key_row(key: ApiKey) -> None:
    """One key on a line; the columns stand below each other where it is narrow."""
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
        begun = "signed in" if console.of_session(key) else "issued"
        last = f"Last used {ago(key.last_used_at)}" if key.last_used_at else "Never used"
        issued = f"revoked {ago(key.revoked_at)}" if key.revoked_at else f"{begun} {ago(key.created_at)}"
        used.markdown(f"{last}  \n:small[:gray[{issued}]]")
        with actions, st.container(horizontal=True, horizontal_alignment="right"):
            if own and not key.revoked_at:
                st.badge("This workbench", icon=":material/home:", color="primary", help="The key this workbench uses.")
            elif not key.revoked_at:
                st.button(
                    "Revoke",
                    icon=":material/block:",
                    key=f"console.revoke.{key.id}",
                    on_click=ask,
                    args=(REVOKE, key.id),
                )


heading("console")

# ---- who may see it --------------------------------------------------------------------------------------------------

operators_only(
    "Only the operator manages API keys",
    "Ask the operator for a key if a program needs one, or if you need to do more than your own key allows.",
    key="console.closed",
)

# ---- keys of another service -----------------------------------------------------------------------------------------

if not console.available():
    with st.container(border=True, key="console.remote"):
        st.subheader("Keys are issued where the service runs", icon=":material/cloud:", anchor=False)
        st.markdown(
            f"This workbench uses the service at `{settings.base_url}`. Its keys are issued and revoked on that "
            "machine, in the console of its own workbench or in a terminal:"
        )
        st.code("traitbench key create --scope scoring --namespace local", language="bash")
        st.caption("`TRAITBENCH_API_KEY` tells this workbench which key to use.")
    st.stop()

# ---- keys of this one ------------------------------------------------------------------------------------------------

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
    way_out="It opens nothing: issue another one in its place.",
)

for key in live:
    key_row(key)

if not [key for key in live if not own_secret.startswith(key.prefix)]:
    st.caption(
        "Give every program a key of its own: then its use can be seen, and one can be revoked without the others."
    )

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
        body=f"Whatever uses **{plain(leaving.name) or leaving.prefix}** is refused from now on. A revoked key cannot "
        "be used again; issue a new one instead.",
        yes="Revoke",
        icon=":material/block:",
        act=partial(revoke, leaving),
    )
