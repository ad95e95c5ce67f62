"""Improve a model that is in use: make a draft of it that can be changed, trained, compared and put in its place."""

from collections.abc import Sequence
from itertools import count

import streamlit as st

from traitbench.contract.models import Model
from traitbench.display.text import plain
from traitbench.errors import ModelNotFound, NamespaceForbidden
from traitbench.names import GRAMMAR, NAMESPACE, no_name
from traitbench_app.shell import session
from traitbench_app.shell.permission import why_read_only
from traitbench_app.shell.service import attempt, client, field_error, models

_OPEN, _FORM = "shell.improve", "shell.improve_form"
_LONGEST_NAME = 64


def can_improve(model: Model) -> bool:
    """Whether a draft of the model can be made: it is trained, and the key may change it."""
    return model.state == "ready" and not why_read_only(model)


def improve_button(model: Model, *, key: str = "shell.improve_button") -> None:
    """Draw the button if a draft of the model can be made. The page draws `improve` once."""
    if can_improve(model):
        st.button(
            "Improve this model",
            icon=":material/upgrade:",
            key=key,
            on_click=session.store,
            args=(_OPEN, model.handle),
            help="Make a draft of it to change, train and compare. The model keeps scoring unchanged.",
        )


def improve(model: Model) -> None:
    """Draw the dialog while it is open."""
    if session.get(_OPEN) == model.handle:
        st.dialog("Improve this model", icon=":material/upgrade:", on_dismiss=_close)(_ask)(model)


def forks_of(model: Model) -> list[Model]:
    """The models that were made to improve this one and are not archived."""
    known = session.get(session.KNOWN_MODELS) or models()
    return [each for each in known if each.forked_from is not None and each.forked_from.handle == model.handle]


def origin_of(model: Model) -> Model | None:
    """The model that a fork was made from; None if the model is no fork, or if that cannot be read."""
    if model.forked_from is None:
        return None
    try:
        return client().models.get(model.forked_from.handle)
    except (ModelNotFound, NamespaceForbidden):
        return None


def _close() -> None:
    session.store(_OPEN, None)


def _ask(model: Model) -> None:
    _offer_existing(forks_of(model))
    copied = "traits and settings" if model.zero_data_retention else "traits, samples and waiting feedback"
    st.markdown(
        f"This makes a draft with the {copied} of **{plain(model.handle)}**. Change it, train it and compare the two. "
        f"Then it can be put in use as v{(model.version_no or 0) + 1}."
    )
    namespace, _, name = model.handle.partition(".")
    # Not a form: a click outside closes the dialog, and a form would lose what was typed.
    typed = st.text_input(
        "Name of the draft",
        free_name(namespace, name),
        key=session.round_key(f"{_FORM}.{model.handle}"),
        live="300ms",
        help=GRAMMAR,
        persist_state="session",
    ).strip()
    slots = {"handle": st.empty()}
    refusal = st.container()
    with st.container(horizontal=True, horizontal_alignment="right"):
        sent = st.button("Make the draft", type="primary", icon=":material/upgrade:", key=f"{_FORM}.go")
    if not sent:
        return
    if not NAMESPACE.fullmatch(typed):
        field_error(slots["handle"], no_name(typed))
        return
    with refusal, attempt(slots) as forking:
        draft = client().models.fork(model.handle, f"{namespace}.{typed}")
    if forking.done:
        session.next_round(f"{_FORM}.{model.handle}")
        _open(
            draft.handle,
            f"{plain(draft.handle)} is a draft of {plain(model.handle)}. Change its samples, then train it.",
        )


def _offer_existing(forks: Sequence[Model]) -> None:
    """Offer drafts that somebody has begun: usually one is enough."""
    for fork in forks:
        if st.button(
            f"Continue with {plain(fork.handle)}", icon=":material/arrow_forward:", key=f"shell.improve.{fork.handle}"
        ):
            _open(fork.handle, f"{plain(fork.handle)} is open.")
    if forks:
        st.caption("A draft of this model exists. You can also make another one:")


def _open(handle: str, message: str) -> None:
    _close()
    session.flash(message)
    session.next_model(handle)
    st.rerun()


def free_name(namespace: str, name: str, *, end: str = "-next") -> str:
    """`tone-next`, or `tone-next-2` and so on if that is taken; archived models keep their names."""
    taken = {each.handle for state in (None, "archived") for each in models(state=state)}
    for number in count(1):
        ending = end if number == 1 else f"{end}-{number}"
        free = name[: _LONGEST_NAME - len(ending)] + ending
        if f"{namespace}.{free}" not in taken:
            return free
    raise AssertionError("unreachable")
