"""The form that adds samples by hand: a trait, a pole, and one text or many."""

from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from traitbench.contract.samples import Sample, SampleInput
from traitbench.contract.traits import Trait
from traitbench.display.colours import NEGATIVE_SIGN, NEUTRAL_SIGN, POSITIVE_SIGN
from traitbench.display.text import count, plain
from traitbench_app.shell import session
from traitbench_app.shell.service import attempt, client, field_error
from traitbench_app.workspace.changes import Undo, remember

TRAIT, POLE = "samples.add_trait", "samples.add_pole"
"""Keys of the two widgets, which other views set."""

_FORM, _RESTORED = "samples.add", "samples.add_restored"
_POLES = {"negative": 0.0, "between": 0.5, "positive": 1.0}
_BOTH = "both"
_IN_LINK = {"negative": "negative", "between": "in between", "positive": "positive", _BOTH: "both"}


def restore_place(traits: Sequence[Trait]) -> None:
    """Set trait and pole from a link, once."""
    linked = (st.query_params.get("trait", ""), st.query_params.get("pole", ""))
    if linked == ("", "") or session.get(_RESTORED) == linked:
        return
    session.store(_RESTORED, linked)
    trait = next((trait.key for trait in traits if linked[0] in (trait.name, trait.key)), None)
    pole = next((pole for pole, name in _IN_LINK.items() if name == linked[1]), None)
    session.put({key: value for key, value in ((TRAIT, trait), (POLE, pole)) if value})


def link_place(traits: Sequence[Trait]) -> dict[str, str]:
    """Trait and pole as query parameters, once they are on screen."""
    names = {trait.key: trait.name for trait in traits}
    place = {"trait": names.get(session.get(TRAIT, ""), ""), "pole": _IN_LINK.get(session.get(POLE, ""), "")}
    return place if all(place.values()) else {}


def add_by_hand(handle: str, traits: Sequence[Trait], samples: Sequence[Sample]) -> None:
    """Draw the form and add its samples."""
    trait, quality = _where(traits)
    by_line = st.toggle("One sample per line", value=True, key="samples.by_line", persist_state="session")
    form = session.round_key(_FORM)
    if quality is None:
        left, right = st.columns(2)
        given = [
            (0.0, _texts(left, f"{NEGATIVE_SIGN} {plain(trait.negative_label)}", f"{form}.negative", by_line=by_line)),
            (1.0, _texts(right, f"{POSITIVE_SIGN} {plain(trait.positive_label)}", f"{form}.positive", by_line=by_line)),
        ]
    else:
        given = [(quality, _texts(st.container(), "Texts" if by_line else "Text", form, by_line=by_line))]
    slot = st.empty()
    inputs = [
        SampleInput.model_construct(trait=trait.key, text=text, quality=own) for own, texts in given for text in texts
    ]
    refusal = st.container()
    with st.container(horizontal=True, vertical_alignment="center"):
        label = f"Add {count(len(inputs), 'sample')}" if inputs else "Add samples"
        sent = st.button(label, type="primary", icon=":material/add:", key="samples.add_button")
        remarks = (_remarks(trait, own, texts, samples) for own, texts in given)
        st.caption(", ".join(each for each in remarks if each))
    if sent and not inputs:
        field_error(slot, "Type or paste a text first.")
    elif sent:
        with refusal, attempt({"text": slot}) as adding:
            remember(Undo(handle, f"{len(inputs):,} added", (), tuple(client().samples.add(handle, inputs))))
        if adding.done:
            session.next_round(_FORM)
            session.flash(f"{count(len(inputs), 'sample')} added to {plain(trait.name)}.")
            st.rerun()


def _texts(place: DeltaGenerator, label: str, key: str, *, by_line: bool) -> list[str]:
    """Draw a field and return its texts."""
    typed = place.text_area(
        label,
        key=key,
        height=220,
        placeholder="Paste texts here, one per line." if by_line else "One text, which may contain line breaks.",
        persist_state="session",
    )
    return [text for each in (typed.splitlines() if by_line else [typed]) if (text := each.strip())]


def _where(traits: Sequence[Trait]) -> tuple[Trait, float | None]:
    """Draw the choice of the trait and of the pole; return them, None for both poles."""
    by_key = {trait.key: trait for trait in traits}
    left, right = st.columns([2, 3], vertical_alignment="top")
    key = left.selectbox(
        "Trait",
        list(by_key),
        format_func=lambda each: by_key[each].name if each in by_key else each,
        key=TRAIT,
        persist_state="session",
    )
    trait = by_key[str(key)]
    labels = {
        _BOTH: "Both poles",
        "negative": f"{NEGATIVE_SIGN} {trait.negative_label}",
        "between": f"{NEUTRAL_SIGN} in between",
        "positive": f"{POSITIVE_SIGN} {trait.positive_label}",
    }
    pole = right.segmented_control(
        "These texts are",
        list(labels),
        default="positive" if trait.positive_samples or trait.negative_samples else _BOTH,
        required=True,
        format_func=lambda each: plain(labels[each]),
        key=POLE,
        persist_state="session",
    )
    if pole == _BOTH:
        return trait, None
    if pole != "between":
        return trait, _POLES[str(pole)]
    quality = st.slider(
        f"Quality: 0 is {plain(trait.negative_label)}, 1 is {plain(trait.positive_label)}",
        0.0,
        1.0,
        0.5,
        0.05,
        key="samples.add_quality",
        persist_state="session",
    )
    return trait, float(quality)


def _remarks(trait: Trait, quality: float, texts: Sequence[str], samples: Sequence[Sample]) -> str:
    """Remarks on texts that are repeated, already present, or present at the other pole; empty if none."""
    known = {sample.text: sample.quality for sample in samples if sample.trait == trait.key}
    twice = len(texts) - len(set(texts))
    present = [known[text] for text in set(texts) if text in known]
    other_side = sum((each - 0.5) * (quality - 0.5) < 0 for each in present)
    remarks = (
        (twice, count(twice, "repeated line")),
        (len(present), f"{len(present):,} already in this trait"),
        (other_side, f"{other_side:,} of them at the other pole"),
    )
    return ", ".join(remark for number, remark in remarks if number)
