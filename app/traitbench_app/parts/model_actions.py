"""What can be done with a model: create, copy, improve, archive and restore it."""

import itertools
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from traitbench.contract.bundles import Bundle, digest
from traitbench.contract.models import RESTORABLE_DAYS, Model
from traitbench.contract.page import LARGEST_PAGE
from traitbench.contract.traits import TraitInput
from traitbench.display.text import count, plain
from traitbench.errors import ModelNotFound, NamespaceForbidden, TraitbenchError
from traitbench.names import GRAMMAR, NAMESPACE, no_name, slug
from traitbench_app.parts.controls import asked, confirm, focus_first_field
from traitbench_app.shell import session
from traitbench_app.shell.navigation import PageName, open_page
from traitbench_app.shell.permission import why_read_only
from traitbench_app.shell.service import attempt, client, field_error, models, namespaces
from traitbench_app.workspace import pool
from traitbench_app.workspace.pool import NoPool

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


def copy_model_button(model: Model, *, key: str = "shell.copy") -> None:
    """Draw the button if a copy of the model can be made. The heading of the page draws its dialog."""
    if model.state in ("ready", "archived") and not why_read_only(model):
        st.button(
            "Copy to a new draft",
            icon=":material/file_copy:",
            type="tertiary",
            key=key,
            on_click=ask_for_model,
            args=(model.handle,),
            help="Create another model with these traits and samples, which you can edit and train.",
        )


def improve(model: Model) -> None:
    """Draw the dialog while it is open."""
    if session.get(_OPEN) == model.handle:
        st.dialog("Improve this model", icon=":material/upgrade:", on_dismiss=_close)(_ask)(model)


def forks_of(model: Model) -> list[Model]:
    """The models that were made to improve this one and are not archived."""
    known = session.get(session.KNOWN_MODELS) or models()
    return [each for each in known if each.forked_from is not None and each.forked_from.handle == model.handle]


def draft_of(model: Model) -> Model:
    """Return the draft that edits go into: the model itself or, if it is in use, a draft of its version.

    One that was begun is taken up, the newest of several; without one it is made. Raise the service's errors.
    """
    if model.state != "ready":
        return model
    drafts = [
        each
        # A new request, because the list of the picker may miss a draft of the last seconds.
        for each in client().models.list(forked_from=model.handle, limit=LARGEST_PAGE)
        if each.state in ("draft", "failed") and each.version_no is None and is_based_on(each, model)
    ]
    if drafts:
        return max(drafts, key=lambda each: (len(each.handle), each.handle))
    namespace, _, name = model.handle.partition(".")
    return client().models.fork(model.handle, f"{namespace}.{free_name(namespace, name)}")


def is_based_on(fork: Model, model: Model) -> bool:
    """Whether a fork was made from the version of a model that is in use now."""
    origin = fork.forked_from
    return origin is not None and (origin.handle, origin.version_no) == (model.handle, model.version_no)


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
    for number in itertools.count(1):
        ending = end if number == 1 else f"{end}-{number}"
        free = name[: _LONGEST_NAME - len(ending)] + ending
        if f"{namespace}.{free}" not in taken:
            return free
    raise AssertionError("unreachable")


TO_LABEL: Final = "\t"
"""What `start` takes for a model to label texts for; no handle has this character."""

_NEXT: Mapping[PageName, str] = {
    "traits": "Next, add its traits.",
    "samples": "Next, add a few texts for each pole.",
    "label": "Now import your texts.",
}
_CREATE_OPEN, _CREATE_FORM, _NOTHING = "catalog.new", "catalog.new_model", "\n"


def ask_for_model(purpose: str = _NOTHING) -> None:
    """Open the dialog for an empty model, `TO_LABEL`, or a copy of the model with this handle. A button callback."""
    session.store(_CREATE_OPEN, purpose)


def new_model(*, name: str = "", texts: Sequence[str] = (), source: str = "") -> None:
    """Draw the dialog while it is open; it proposes `name`.

    A model to label texts for has `texts` in its pool, which are of the file `source`.
    """
    purpose = session.get(_CREATE_OPEN)
    if purpose == _NOTHING:
        st.dialog("New model", icon=":material/add_circle:", on_dismiss=_close_new)(_ask_new)()
    elif purpose == TO_LABEL:
        st.dialog("Label texts", icon=":material/label:", on_dismiss=_close_new)(_ask_new)(
            to_label=True, name=name, texts=texts, source=source
        )
    elif purpose:
        st.dialog("Copy to a new draft", icon=":material/file_copy:", on_dismiss=_close_new)(_ask_new)(copy_of=purpose)


def _close_new() -> None:
    session.store(_CREATE_OPEN, None)


def _ask_new(
    *,
    copy_of: str | None = None,
    to_label: bool = False,
    name: str = "",
    texts: Sequence[str] = (),
    source: str = "",
) -> None:
    form = session.round_key(_CREATE_FORM if copy_of is None else f"{_CREATE_FORM}.{copy_of}")
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
        _close_new()
        # `round_key` has added the round after a colon.
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
    return copy_as_draft(copy_of, handle, description=description)


def copy_as_draft(origin: str, handle: str, *, description: str | None = None) -> Model:
    """Make a draft with the traits and samples of a model, and its description unless there is another one.

    Raise the service's errors.
    """
    bundle = client().models.export(origin)
    about = (bundle.model.description or "") if description is None else description
    return client().models.import_(_as_draft(bundle, about), handle=handle)


def _as_draft(bundle: Bundle, description: str) -> Bundle:
    """The bundle without its versions, as a draft; discovered traits and the provenance of samples are kept."""
    # A draft has no waiting feedback: all of its samples are learned by the first training.
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
            "Namespace",
            owned,
            key="catalog.new_namespace",
            help="The namespaces that this workbench's API key owns.",
            persist_state="page",
        )
    made = slug(typed)
    if made and made != typed.strip():
        left.caption(f"It will be called **{plain(f'{namespace}.{made}')}**.")
    return str(namespace), made
