"""The form that adds samples by hand: a trait, a pole, and one text or many."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from traitbench.as_read import read_hash
from traitbench.contract.models import Model
from traitbench.contract.samples import LONGEST_GROUP, Pole, Sample, SampleInput
from traitbench.contract.traits import Trait
from traitbench.display.colours import NEGATIVE_SIGN, NEUTRAL_SIGN, POSITIVE_SIGN
from traitbench.display.text import count, plain, shortened
from traitbench_app.shell import session
from traitbench_app.shell.service import attempt, field_error
from traitbench_app.workspace.changes import add_samples

TRAIT, POLE = "samples.add_trait", "samples.add_pole"
"""Keys of the two widgets, which other views set."""

_FORM, _RESTORED = "samples.add", "samples.add_restored"
_QUALITIES: Mapping[str, float] = {"negative": 0.0, "between": 0.5, "positive": 1.0}
_BOTH = "both"
_MOST, _LONGEST = 3, 24


def restore_link(traits: Sequence[Trait]) -> None:
    """Set trait and pole from a link, once."""
    linked = (st.query_params.get("trait", ""), st.query_params.get("pole", ""))
    if linked == ("", "") or session.get(_RESTORED) == linked:
        return
    session.store(_RESTORED, linked)
    session.put(linked_values(traits, dict(zip(("trait", "pole"), linked, strict=True))))


def linked_values(traits: Sequence[Trait], query: Mapping[str, str]) -> dict[str, str]:
    """Return the values of the two widgets for the trait and the pole in a link, each by its key or its word."""
    named, linked = query.get("trait", ""), query.get("pole", "")
    trait = next((each for each in traits if named in (each.name, each.key)), None)
    words = pole_words([trait] if trait else traits)
    pole = next((pole for pole, word in words.items() if word == linked), linked)
    values = {TRAIT: trait.key if trait else "", POLE: pole if pole in (*words, _BOTH) else ""}
    return {key: value for key, value in values.items() if value}


def link_values(traits: Sequence[Trait]) -> dict[str, str]:
    """Trait and pole as query parameters, once they are on screen."""
    trait = next((each for each in traits if each.key == session.get(TRAIT, traits[0].key)), None)
    pole = session.get(POLE, "")
    if trait is None or not pole:
        return {}
    words = {str(each): word for each, word in pole_words([trait]).items()}
    return {"trait": trait.name, "pole": words.get(pole, pole)}


def add_by_hand(model: Model, traits: Sequence[Trait], samples: Sequence[Sample]) -> None:
    """Draw the form and add its samples."""
    trait, pole = _where(traits)
    form = session.round_key(_FORM)
    fields = st.container()
    with st.container(horizontal=True, vertical_alignment="center"):
        by_line = st.toggle("One text per line", value=True, key="samples.by_line", persist_state="session")
        group = st.text_input(
            "What these texts belong to",
            key=f"{form}.group",
            max_chars=LONGEST_GROUP,
            placeholder="Optional: their conversation, author or document",
            label_visibility="collapsed",
            help="Texts that belong together are not independent. No figure divides them.",
            persist_state="session",
        ).strip()
    with fields:
        if pole == _BOTH:
            left, right = st.columns(2)
            poles = (
                (left, 0.0, NEGATIVE_SIGN, trait.negative_label, trait.negative_samples, "negative"),
                (right, 1.0, POSITIVE_SIGN, trait.positive_label, trait.positive_samples, "positive"),
            )
            given = [
                (own, _texts(slot, f"{sign} {plain(word)} ({there:,} so far)", f"{form}.{name}", by_line=by_line))
                for slot, own, sign, word, there, name in poles
            ]
        else:
            quality = _pick_quality(trait) if pole == "between" else _QUALITIES[pole]
            given = [(quality, _texts(st.container(), "Texts" if by_line else "Text", form, by_line=by_line))]
    slot = st.empty()
    belonging: dict[str, Any] = {"group": group} if group else {}
    inputs = [
        # Not validated here: the service refuses what is wrong, and its reason stands below the field.
        SampleInput.model_construct(**belonging, trait=trait.key, text=text, quality=own)
        for own, texts in given
        for text in texts
    ]
    refusal = st.container()
    with st.container(horizontal=True, vertical_alignment="center"):
        label = f"Add {count(len(inputs), 'text')}" if inputs else "Add texts"
        sent = st.button(label, type="primary", icon=":material/add:", key="samples.add_button")
        remarks = (_remarks(trait, own, texts, samples) for own, texts in given)
        st.caption(", ".join(each for each in remarks if each))
    if sent and not inputs:
        field_error(slot, "Type or paste a text first.")
    elif sent:
        what = f"{count(len(inputs), 'text')} added to {trait.name}"
        with refusal, attempt({"text": slot}) as adding:
            add_samples(model.handle, inputs, what)
        if adding.done:
            session.next_round(_FORM)
            st.rerun()


def _texts(slot: DeltaGenerator, label: str, key: str, *, by_line: bool) -> list[str]:
    """Draw a field and return its texts."""
    typed = slot.text_area(
        label,
        key=key,
        height=220,
        placeholder="Paste texts here, one per line." if by_line else "One text, which may contain line breaks.",
        persist_state="session",
    )
    return [text for each in (typed.splitlines() if by_line else [typed]) if (text := each.strip())]


def _where(traits: Sequence[Trait]) -> tuple[Trait, str]:
    """Draw the choice of the trait, if there are several, and of the pole."""
    by_key = {trait.key: trait for trait in traits}
    with st.container(horizontal=True):
        key = traits[0].key
        if len(traits) > 1:
            key = st.selectbox(
                "Trait",
                list(by_key),
                format_func=lambda each: by_key[each].name if each in by_key else each,
                key=TRAIT,
                persist_state="session",
                width=300,
            )
        trait = by_key[str(key)]
        words = pole_words([trait])
        labels = {
            _BOTH: "Both poles",
            "negative": f"{NEGATIVE_SIGN} {words['negative']}",
            "between": f"{NEUTRAL_SIGN} {words['between']}",
            "positive": f"{POSITIVE_SIGN} {words['positive']}",
        }
        pole = st.segmented_control(
            "These texts are",
            list(labels),
            default=_BOTH,
            required=True,
            format_func=lambda each: plain(labels[each]),
            key=POLE,
            persist_state="session",
        )
    return trait, pole


def _pick_quality(trait: Trait) -> float:
    return float(
        st.slider(
            f"From 0, {plain(trait.negative_label)}, to 1, {plain(trait.positive_label)}",
            0.0,
            1.0,
            0.5,
            0.05,
            key="samples.add_quality",
            persist_state="session",
        )
    )


def _remarks(trait: Trait, quality: float, texts: Sequence[str], samples: Sequence[Sample]) -> str:
    """Remarks on texts that are repeated, already present, or present at the other pole; empty if none."""
    known = {read_hash(sample.text): sample.quality for sample in samples if sample.trait == trait.key}
    distinct = {*map(read_hash, texts)}
    twice = len(texts) - len(distinct)
    present = [known[text] for text in distinct if text in known]
    other_side = sum((each - 0.5) * (quality - 0.5) < 0 for each in present)
    remarks = (
        (twice, count(twice, "repeated line")),
        (len(present), f"{len(present):,} already in this trait"),
        (other_side, f"{other_side:,} of them at the other pole"),
    )
    return ", ".join(remark for number, remark in remarks if number)


def pole_words(traits: Sequence[Trait]) -> dict[Pole, str]:
    """What samples of these traits are called by pole, such as `happy`; of several traits, `happy / clear`."""
    return {
        "negative": _joined([each.negative_label for each in traits]),
        "between": "in between",
        "positive": _joined([each.positive_label for each in traits]),
    }


def _joined(labels: Sequence[str]) -> str:
    distinct = [shortened(each, _LONGEST) for each in dict.fromkeys(labels)]
    return " / ".join([*distinct[:_MOST], *(["…"] if len(distinct) > _MOST else [])])
