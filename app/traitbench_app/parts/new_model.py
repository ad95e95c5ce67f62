"""The dialog that creates a model: its name and description, each with its own error below it.

A model can be created empty, with a first trait, or as a copy: a draft with everything from another model except its
versions. What is typed waits in the session until the model is created.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from traitbench.contract.bundles import Bundle, digest
from traitbench.contract.models import Model
from traitbench.contract.traits import TraitInput
from traitbench.display.text import count, plain
from traitbench.names import GRAMMAR, no_name, slug
from traitbench_app.parts.controls import focus_first_field
from traitbench_app.shell import session
from traitbench_app.shell.navigation import PageName, open_page
from traitbench_app.shell.service import attempt, client, field_error, namespaces
from traitbench_app.workspace import pool
from traitbench_app.workspace.pool import NoPool

TO_LABEL: Final = "\t"
"""What `start` takes for a model to label texts for; no handle has this character."""

_NEXT: Mapping[PageName, str] = {
    "traits": "Next, add its traits.",
    "samples": "Next, add a few texts for each pole.",
    "label": "Now import your texts.",
}
_OPEN, _FORM, _NOTHING = "catalog.new", "catalog.new_model", "\n"


def start(purpose: str = _NOTHING) -> None:
    """Open the dialog for an empty model, `TO_LABEL`, or a copy of the model with this handle. A button callback."""
    session.store(_OPEN, purpose)


def new_model(*, name: str = "", texts: Sequence[str] = (), source: str = "") -> None:
    """Draw the dialog while it is open; it proposes `name`.

    A model to label texts for has `texts` in its pool, which are of the file `source`.
    """
    purpose = session.get(_OPEN)
    if purpose == _NOTHING:
        st.dialog("New model", icon=":material/add_circle:", on_dismiss=_close)(_ask)()
    elif purpose == TO_LABEL:
        st.dialog("Label texts", icon=":material/label:", on_dismiss=_close)(_ask)(
            to_label=True, name=name, texts=texts, source=source
        )
    elif purpose:
        st.dialog("Copy to a new draft", icon=":material/file_copy:", on_dismiss=_close)(_ask)(copy_of=purpose)


def _close() -> None:
    session.store(_OPEN, None)


def _ask(
    *,
    copy_of: str | None = None,
    to_label: bool = False,
    name: str = "",
    texts: Sequence[str] = (),
    source: str = "",
) -> None:
    form = session.round_key(_FORM if copy_of is None else f"{_FORM}.{copy_of}")
    slots: dict[str, DeltaGenerator] = {}
    if copy_of:
        st.caption(f"Copies the traits and samples of {plain(copy_of)}, which does not change.")
    namespace, name = handle_fields(form, namespaces(), name=name)
    slots["handle"] = st.empty()
    poles = ("", "") if copy_of else _poles(form, slots, optional=not to_label)
    description = "" if to_label else _description(form, copy_of, slots)
    refusal = st.container()
    with st.container(horizontal=True, horizontal_alignment="right"):
        sent = st.button("Create model", type="primary", icon=":material/add:", key="catalog.create")
    focus_first_field(f"{form}.focus")
    if not sent:
        return
    if not name:
        field_error(slots["handle"], no_name(name))
        return
    if (to_label or any(poles)) and (problem := _pole_problem(*poles)):
        field_error(slots[problem[0]], problem[1])
        return
    with refusal, attempt(slots) as creating:
        model = _create(f"{namespace}.{name}", description, copy_of)
        if any(poles):
            given = TraitInput(name=" or ".join(poles), positive_label=poles[0], negative_label=poles[1])
            client().traits.add(model.handle, [given])
    if creating.done:
        _close()
        session.next_round(form.rpartition(":")[0])
        if copy_of:
            session.flash(f"{plain(model.handle)} was created. You can edit it now.")
            session.next_model(model.handle)
            st.rerun()
        _open_next(model, "label" if to_label else "samples" if any(poles) else "traits", texts, source)


def _open_next(model: Model, page: PageName, texts: Sequence[str], source: str) -> None:
    following = _NEXT[page]
    if texts:
        try:
            following = f"{count(pool.add(model.handle, texts, source), 'text')} to label."
        except NoPool as reason:
            following = str(reason)
    session.flash(f"{plain(model.handle)} was created. {following}")
    if page == "samples":
        open_page(page, model=model.handle, task="Add by hand")
    open_page(page, model=model.handle)


def _description(form: str, copy_of: str | None, slots: dict[str, DeltaGenerator]) -> str:
    typed = st.text_area(
        "What does it measure?",
        client().models.get(copy_of).description if copy_of else "",
        key=f"{form}.description",
        placeholder="Tone of support answers: warm or cold, plain or full of jargon.",
        height=96,
        persist_state="session",
    )
    slots["description"] = st.empty()
    return typed.strip()


def _poles(form: str, slots: dict[str, DeltaGenerator], *, optional: bool) -> tuple[str, str]:
    """Draw the two poles of the first trait, the negative one first; return the positive one first."""
    left, right = st.columns(2)
    typed = []
    for column, pole, label, example in (
        (left, "negative_label", "A text is either (optional)" if optional else "A text is either", "disappointed"),
        (right, "positive_label", "or", "satisfied"),
    ):
        with column:
            side = st.text_input(
                label,
                key=f"{form}.{pole}",
                max_chars=80,
                placeholder=example,
                help="The two poles of the first trait. Leave both empty to add traits later." if optional else None,
                persist_state="session",
            )
            slots[pole] = st.empty()
        typed.append(side.strip())
    return typed[1], typed[0]


def _pole_problem(positive: str, negative: str) -> tuple[str, str] | None:
    """The field of a pole that is missing or not different, and what to do."""
    if not negative or not positive:
        return ("positive_label" if negative else "negative_label"), "Name this side."
    if positive.casefold() == negative.casefold():
        return "positive_label", "Both sides have the same name. Use two different ones."
    return None


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
    """Draw the two fields of a handle and return them: an owned namespace, and a valid name or an empty one.

    The name is made from what is typed. The namespace is asked for only if there are several.
    """
    left, right = st.columns([3, 2]) if len(owned) > 1 else (st.container(), None)
    typed = left.text_input(
        "Name",
        name,
        key=f"{form}.name",
        placeholder="Customer mood",
        live="300ms",
        help=f"{GRAMMAR} Other characters are replaced. You cannot change the name later.",
        persist_state="session",
    )
    namespace = owned[0] if owned else ""
    if right is not None:
        namespace = right.selectbox(
            "Namespace", owned, key="catalog.new_namespace", help="The namespaces that this workbench's API key owns."
        )
    made = slug(typed)
    if made and made != typed.strip():
        left.caption(f"It will be called **{plain(f'{namespace}.{made}')}**.")
    return str(namespace), made
