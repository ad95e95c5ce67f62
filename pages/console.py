"""Console: issue, list and revoke the API keys of programs."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from traitbench.display.text import ago, count, plain, unlinked
from traitbench.operations import console, keys
from traitbench.operations.keys import ApiKey, KeyNotFound
from traitbench.settings import read_settings
from traitbench_app.operator.access import operators_only
from traitbench_app.operator.new_key import new_key, start
from traitbench_app.parts.controls import ask, asked, confirm, draw_title, draw_unreadable, page_of
from traitbench_app.shell import session

REVOKE = "console.revoke"
ROWS = 25

own_secret = read_settings().service_key()


def revoke(key: ApiKey) -> None:
    """Revoke a key and confirm it with a toast; a key that no longer exists counts as revoked."""
    name = plain(key.name) or "The key"
    try:
        keys.revoke(console.engine(), key.id)
    except KeyNotFound:
        session.flash(f"{name} was already removed by someone else and no longer works.", "note")
    else:
        session.flash(f"{name} was revoked.")


def draw_keys(shown: Sequence[ApiKey]) -> None:
    """Draw keys as rows whose cells wrap on a narrow screen."""
    for key in shown:
        with st.container(horizontal=True, vertical_alignment="center", gap="medium", key=f"console.row.{key.id}"):
            st.markdown(f"**{unlinked(key.name) or 'Unnamed'}**  \n:small[:gray[`{key.prefix}…`]]", width=240)
            spaces = plain(", ".join(key.namespaces))
            st.markdown(f"{key.scope.capitalize()}  \n:small[:gray[{spaces}]]", width=160)
            used = f"Used {ago(key.last_used_at)}" if key.last_used_at else "Never used"
            origin = "signed in" if keys.of_session(key) else "issued"
            st.markdown(f"{used}  \n:small[:gray[{origin} {ago(key.created_at)}]]", width=160)
            if key.revoked_at:
                st.markdown(f":gray[Revoked {ago(key.revoked_at)}]", width="content")
            elif is_own(key):
                st.markdown(":gray[This workbench]", width="content")
            else:
                st.button(
                    "Revoke", type="tertiary", key=f"console.revoke.{key.id}", on_click=ask, args=(REVOKE, key.id)
                )


def is_own(key: ApiKey) -> bool:
    """Whether this workbench uses the key."""
    return own_secret.startswith(key.prefix)


def title_of(live: Sequence[ApiKey]) -> str:
    """How many keys work besides that of the workbench, and how many of them nothing uses."""
    others = [key for key in live if not is_own(key)]
    if not others:
        return "No program has a key yet"
    idle = sum(key.last_used_at is None for key in others)
    return f"{count(len(others), 'key')} {'works' if len(others) == 1 else 'work'}" + (
        f", {idle:,} never used" if idle else ""
    )


operators_only(
    "console",
    "Only the operator can manage API keys",
    "Ask the operator if you need a key or more permissions.",
    elsewhere=(
        "Keys are issued where the service runs",
        "Manage its keys on that machine, in its own workbench or in a terminal. Set `TRAITBENCH_API_KEY` to the key "
        "that this workbench should use.",
        "traitbench key create --scope scoring --namespace local",
    ),
)

# ---- keys of this service --------------------------------------------------------------------------------------------

listing = keys.every(console.engine())
issued = listing.items()[::-1]
live = [key for key in issued if key.revoked_at is None]
with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
    with st.container(width="content"):
        draw_title(title_of(live), "Give each program its own key, so that you see its use and can revoke it alone.")
    st.button("New key", type="primary", icon=":material/add:", key="console.new_button", on_click=start)

draw_unreadable(
    listing.unreadable(),
    "key",
    key="console.unreadable",
    way_out="It does not work. Issue a new key to replace it.",
)
with st.container(border=True, key="card.console.keys"):
    draw_keys(page_of([*live, *(key for key in issued if key.revoked_at)], ROWS, key="console.page"))

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
