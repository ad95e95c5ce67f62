"""Archive a model and bring it back: the question, the undo right after it, and the button to restore."""

from datetime import UTC, datetime, timedelta
from functools import partial

import streamlit as st

from traitbench.contract.models import RESTORABLE_DAYS, Model
from traitbench.display.text import count, plain
from traitbench.errors import TraitbenchError
from traitbench_app.parts.controls import asked, confirm
from traitbench_app.shell import session
from traitbench_app.shell.permission import why_read_only
from traitbench_app.shell.service import client

ARCHIVE = "catalog.archive"
_JUST_ARCHIVED = "catalog.just_archived"


def archive() -> None:
    """Draw the question while it is open."""
    if leaving := asked(ARCHIVE):
        confirm(
            ARCHIVE,
            title="Archive this model?",
            body=f"**{plain(leaving)}** stops scoring for every program that uses it. You can still read it. You can "
            f"restore it for {RESTORABLE_DAYS} days.",
            yes="Archive",
            icon=":material/inventory_2:",
            act=partial(_archive, leaving),
        )


def offer_undo() -> None:
    """Draw the undo for the model that was archived last in this tab, until it is used or closed."""
    handle = session.get(_JUST_ARCHIVED)
    if not handle:
        return
    with st.container(
        border=True, horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", key="archive.undo"
    ):
        st.markdown(f":material/inventory_2: **{plain(handle)}** is archived.", width="content")
        with st.container(horizontal=True, width="content"):
            st.button("Undo", icon=":material/undo:", key="archive.undo_yes", on_click=_restore, args=(handle,))
            st.button(
                "", icon=":material/close:", type="tertiary", key="archive.undo_no", help="Close", on_click=_forget
            )


def restore_button(model: Model, *, key: str, primary: bool = False) -> None:
    """Draw the button that restores an archived model, if the key may and it is not too late."""
    if model.state != "archived" or why_read_only(model) or not days_left(model):
        return
    st.button(
        "Restore",
        icon=":material/unarchive:",
        type="primary" if primary else "secondary",
        key=key,
        help=f"Bring the model back as it was. {left(model)}",
        on_click=_restore,
        args=(model.handle,),
    )


def left(model: Model) -> str:
    """How long an archived model can be restored, as a sentence."""
    days = days_left(model)
    if not days:
        return f"It was archived more than {RESTORABLE_DAYS} days ago, so it can no longer be restored."
    return f"It can be restored for {count(days, 'more day', 'more days')}."


def days_left(model: Model) -> int:
    """The days in which an archived model can still be restored; a day that has begun counts."""
    if model.archived_at is None:
        return 0
    rest = model.archived_at + timedelta(days=RESTORABLE_DAYS) - datetime.now(UTC)
    return max(-(-rest // timedelta(days=1)), 0)


def _archive(handle: str) -> None:
    client().models.delete(handle)
    session.store(_JUST_ARCHIVED, handle)


def _restore(handle: str) -> None:
    """Restore a model. A button callback."""
    try:
        model = client().models.restore(handle)
    except TraitbenchError as error:
        session.flash(plain(error.message), "problem")
        return
    _forget()
    session.flash(f"{plain(model.handle)} is restored.")


def _forget() -> None:
    session.store(_JUST_ARCHIVED, None)
