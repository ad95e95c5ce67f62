"""The dialog that adds or edits a trait; each error from the service is shown below its field.

A click outside does not close it, because that would lose what was typed. Cancel keeps it for the next time.
"""

from typing import Any, get_args

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from traitbench.contract.traits import Aggregation, Trait, TraitInput
from traitbench.display.colours import NEGATIVE_SIGN, POSITIVE_SIGN
from traitbench.errors import ValidationFailed
from traitbench.names import canonical, free_key, trait_key
from traitbench_app.parts.controls import focus_first_field
from traitbench_app.shell import session
from traitbench_app.shell.service import attempt, client, field_error

_OPEN, _NEW = "traits.form", "\n"
_AGGREGATIONS: dict[Aggregation, str] = {
    "mean": "Mean of the parts",
    "max": "Highest part",
    "min": "Lowest part",
    "none": "Never split",
}


def describe(key: str | None = None) -> None:
    """Open the dialog for a trait, or for a new one. A button callback."""
    session.store(_OPEN, key or _NEW)


def trait_form(handle: str, traits: list[Trait]) -> None:
    """Draw the dialog while it is open."""
    key = session.get(_OPEN)
    trait = next((each for each in traits if each.key == key), None)
    if key == _NEW:
        st.dialog("New trait", icon=":material/add_circle:", width="medium", dismissible=False)(_ask)(
            handle, traits, None
        )
    elif trait:
        st.dialog("Edit trait", icon=":material/edit:", width="medium", dismissible=False)(_ask)(handle, traits, trait)


def _close() -> None:
    session.store(_OPEN, None)


def _ask(handle: str, traits: list[Trait], trait: Trait | None) -> None:
    form = session.round_key(f"traits.form.{handle}.{trait.key if trait else ''}")
    if trait and session.get(f"{form}.shown") is None:
        session.store(f"{form}.shown", trait)
    with st.form(form, border=False):
        fields, slots = _fields(form, trait)
        focus_first_field(f"{form}.focus")
        refusal = st.container()
        with st.container(horizontal=True, horizontal_alignment="right"):
            label, icon = ("Save", ":material/check:") if trait else ("Add trait", ":material/add:")
            cancelled = st.form_submit_button("Cancel", key="traits.cancel", help="What you typed stays in the form.")
            sent = st.form_submit_button(
                label,
                icon=icon,
                type="primary",
                key="traits.save",
                on_click=None if trait else _suggest_key,
                args=(form, traits),
            )
    if cancelled:
        _close()
        st.rerun()
    if not sent:
        return
    if complaints := _complaints(fields):
        for field, complaint in complaints.items():
            field_error(slots[field], complaint)
        return
    if not trait and any(canonical(each.name) == canonical(fields.name) for each in traits):
        field_error(slots["name"], "This model already has a trait with this name.")
        return
    if not trait and any(each.key == fields.key for each in traits):
        field_error(slots["key"], "Another trait has this key. Type another one, or leave the field empty.")
        return
    if owner := session.get(_key_of(form)):
        session.store(_key_of(form), None)
        field_error(slots["key"], _taken(owner, str(fields.key)))
        return
    taken: dict[str, str] = {}
    with refusal, attempt(slots) as saving:
        if trait is None:
            client().traits.add(handle, [fields])
        else:
            taken = _save(handle, trait, fields, shown=f"{form}.shown")
    for field, complaint in taken.items():
        field_error(slots[field], complaint)
    if saving.done and not taken:
        _close()
        session.next_round(f"traits.form.{handle}.{trait.key if trait else ''}")
        session.flash("Trait saved." if trait else "Trait added. Next, add samples at both poles.")
        st.rerun()


def _fields(form: str, trait: Trait | None) -> tuple[TraitInput, dict[str, DeltaGenerator]]:
    """Draw the fields with an empty slot below each; return the unvalidated input and the slots.

    The service validates the input and reports its errors by field.
    """
    slots: dict[str, DeltaGenerator] = {}

    def typed(label: str, field: str, key: str, example: str, hint: str | None = None) -> str:
        text = st.text_input(
            label,
            getattr(trait, field, ""),
            key=f"{form}.{key}",
            placeholder=example,
            help=hint,
            persist_state="session",
        )
        slots[field] = st.empty()
        return text.strip()

    name = typed("Name", "name", "name", "Warmth")
    left, right = st.columns(2)
    with left:
        hint = "One word for texts with low scores."
        negative = typed(f"{NEGATIVE_SIGN} Left pole", "negative_label", "negative", "cold", hint)
    with right:
        hint = "One word for texts with high scores."
        positive = typed(f"{POSITIVE_SIGN} Right pole", "positive_label", "positive", "warm", hint)
    description = st.text_area(
        "Description",
        trait.description if trait else "",
        key=f"{form}.description",
        height=88,
        placeholder="What to look for, and what to ignore.",
        persist_state="session",
    )
    slots["description"] = st.empty()
    key = trait.key if trait else None
    with st.expander("More settings", icon=":material/tune:"):
        if not trait:
            hint = "Identifies the trait in files and in the API. It stays when you rename the trait."
            key = typed("Key (optional)", "key", "key", "Made from the name", hint)
        aggregation: Aggregation = st.selectbox(
            "Score of long texts",
            get_args(Aggregation),
            index=get_args(Aggregation).index(trait.aggregation if trait else "mean"),
            format_func=lambda each: _AGGREGATIONS[each],
            key=f"{form}.aggregation",
            help="How the scores of the parts become one score, if the model splits texts (depth 2 or 3).",
            persist_state="session",
        )
    # Outside the expander, so that an error is seen while it is closed.
    slots["key"] = st.empty()
    slots["aggregation"] = st.empty()
    # Not validated here: the service does it and names the fields.
    fields = TraitInput.model_construct(
        name=name,
        key=key or None,
        description=description.strip(),
        positive_label=positive,
        negative_label=negative,
        aggregation=aggregation,
    )
    return fields, slots


def _complaints(fields: TraitInput) -> dict[str, str]:
    """Return what is wrong with the poles by field: both need names, because the names explain every score."""
    poles = {"negative_label": fields.negative_label, "positive_label": fields.positive_label}
    empty = {field: "Name this pole. Every score uses the name." for field, label in poles.items() if not label}
    if not empty and canonical(fields.negative_label).casefold() == canonical(fields.positive_label).casefold():
        return {"positive_label": "Both poles have this name. Use a different one, or scores cannot be read."}
    return empty


def _save(handle: str, trait: Trait, fields: TraitInput, *, shown: str) -> dict[str, str]:
    """Save the fields that differ from what was shown, or say by field what someone else changed meanwhile.

    Raise the service's errors.
    """
    before, now = session.get(shown, trait), client().traits.get(handle, trait.key)
    changes = changed(fields, before)
    theirs = {name: getattr(now, name) for name in changes if getattr(now, name) != getattr(before, name)}
    complaints = {
        name: f"Meanwhile this was changed to “{each}”. Save again to replace it."
        for name, each in theirs.items()
        if each != changes[name]
    }
    # What the person has read now counts as shown, so that a second press replaces it.
    session.store(shown, before.model_copy(update={name: theirs[name] for name in complaints}))
    if not complaints:
        # Saving keeps a suggestion, also as it is.
        client().traits.update(handle, trait.key, **(changes or {"name": fields.name}))
    return complaints


def changed(drawn: TraitInput, before: Trait) -> dict[str, Any]:
    """Return the fields that differ, of those that the form has drawn: all others have their defaults in `drawn`."""
    given = drawn.model_dump(include=drawn.model_fields_set - {"key"})
    return {name: each for name, each in given.items() if each != getattr(before, name)}


def _suggest_key(form: str, traits: list[Trait]) -> None:
    """Fill in a free key if the name gives the key of another trait. A button callback."""
    name, given = (str(session.get(f"{form}.{field}", "")).strip() for field in ("name", "key"))
    owners = {each.key: each.name for each in traits}
    if given or canonical(name) in map(canonical, owners.values()):
        return
    try:
        key = trait_key(name)
    except ValidationFailed:
        return
    if key in owners:
        session.put({f"{form}.key": free_key(key, owners), _key_of(form): (key, owners[key])})


def _key_of(form: str) -> str:
    """Where the key that the name gives, and the trait that has it, are stored."""
    return f"{form}.owner"


def _taken(owner: tuple[str, str], free: str) -> str:
    key, name = owner
    return f'The trait "{name}" already has the key "{key}". Use "{free}", or type another key. Then add the trait.'
