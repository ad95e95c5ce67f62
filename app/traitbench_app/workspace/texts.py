"""The texts of the Score page: from a link, a sample, a web page or the model's own list; part of the copied link."""

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import islice

import streamlit as st

from traitbench.contract.models import Model
from traitbench.errors import TraitbenchError
from traitbench.sample_data import demo_models
from traitbench_app.shell import session
from traitbench_app.shell.service import attempt, client

TEXT, AGAINST, COMPARE = "score.text", "score.against", "score.compare"
TEXTS_IN_LINK = 1_000
"""Characters of both texts together; browsers and mail programs cut off longer URLs."""

IN_USE = "in use"

_RESTORED, _READ, _TIMES = "score.restored", "score.read", "score.times"
_HANDED, _USUAL = "score.handed", "score.usual_version"
_OF, _TEXTS, _FRESH = "score.of", "score.texts", "score.fresh"
_ALONG = "score.along"
# A prime, so that the steps reach every text unless their number is a multiple of it. Neighbours are often alike.
_STRIDE = 37


def restore_texts(model: Model) -> None:
    """Fill the text fields: with what this model scored last in this tab, from a fetched web page, or from a link.

    A model that scored nothing yet begins with a text to try.
    """
    handle = model.handle
    if session.get(_OF) != handle:
        texts: dict[str, tuple[str, str, bool]] = session.get(_TEXTS, {})
        if before := session.get(_OF):
            now = session.get(TEXT, ""), session.get(AGAINST, ""), bool(session.get(COMPARE))
            # What was typed for another model comes back with that model.
            texts = {**texts, before: now}
            session.store(_TEXTS, texts)
        text, against, two = texts.get(handle) or (_first(model), "", False)
        session.put({_OF: handle, TEXT: text, AGAINST: against, COMPARE: two})
        session.store(_FRESH, handle not in texts)
    if read := session.get(_READ):
        session.put(read)
        session.store(_READ, None)
    if handed := session.get(_HANDED):
        session.put({_USUAL: handed, TEXT: handed[0], AGAINST: "", COMPARE: False})
        session.store(_HANDED, None)
        session.store(_FRESH, None)
        session.store("version", None)
    linked = (st.query_params.get("text", ""), st.query_params.get("against", ""))
    if linked == ("", "") or session.get(_RESTORED) == linked:
        return
    session.store(_FRESH, None)
    session.store(_RESTORED, linked)
    session.store(TEXT, linked[0])
    if linked[1]:
        session.store(AGAINST, linked[1])
        session.store(COMPARE, True)


def are_fresh() -> bool:
    """Whether this session began with no text of a person for the model, so that a reload may bring it back."""
    return bool(session.get(_FRESH))


def bring_along(handle: str, text: str, *, example: str) -> None:
    """Let the Score page of a model have the text that somebody edits elsewhere, which is at first the example."""
    key = f"{_ALONG}:{handle}"
    before = session.get(key, example)
    session.store(key, text)
    if before == text:
        return
    if session.get(_OF) == handle:
        session.store(TEXT, text)
    else:
        texts: dict[str, tuple[str, str, bool]] = session.get(_TEXTS, {})
        session.store(_TEXTS, {**texts, handle: (text, *texts.get(handle, ("", "", False))[1:])})


def hand_over(text: str | None, version: str = "") -> None:
    """Pass one text, with a version, to the Score page for its next visit; None cancels it."""
    session.store(_HANDED, None if text is None else (text, version))


def usual_version(numbers: Sequence[str]) -> str:
    """The version that scores unless another one is chosen: the one that was handed over, else the active one.

    It is not in the address, because that would be a second step for the browser's Back.
    """
    _, handed = session.get(_USUAL, ("", ""))
    return handed if handed in numbers else IN_USE


def link_texts() -> dict[str, str | None]:
    """The texts as query parameters; empty if they are too long."""
    text = session.get(TEXT, "")
    against = session.get(AGAINST, "") if session.get(COMPARE) else ""
    if len(text) + len(against) > TEXTS_IN_LINK:
        return {}
    return {"text": text, "against": against}


def offer_text(model: Model) -> None:
    """Draw a button that fills in another text to try each time."""
    is_learned = not (model.demo_texts or examples(model.handle))
    st.button(
        "Another sample" if is_learned else "Another example",
        icon=":material/shuffle:",
        type="tertiary",
        key="score.take",
        help="The model learns from its samples, so a new text may score less clearly." if is_learned else None,
        on_click=_take,
        args=(model,),
    )


def offer_reading(key: str, address: str) -> None:
    """Draw a button that fetches the web page whose URL is in the field, and fills the field with its text."""
    with st.container(border=True, key=f"{key}.address"):
        st.markdown("**This is a web address.** The service can fetch the page, so that you can score its text.")
        if st.button("Fetch the text", icon=":material/travel_explore:", key=f"{key}.read"):
            with attempt() as reading, st.spinner("Fetching", show_time=True):
                session.store(_READ, {key: client().extract(address.strip()).content})
            if reading.done:
                st.rerun()


def _first(model: Model) -> str:
    try:
        return next(iter(texts_of(model)), "")
    except TraitbenchError:
        return ""


def _take(model: Model) -> None:
    times, texts = session.get(_TIMES, 0), texts_to_try(model)
    if not texts:
        return
    session.store(TEXT, texts[(times * _STRIDE) % len(texts) if len(texts) % _STRIDE else times % len(texts)])
    session.store(_TIMES, times + 1)


_LOOKED_AT = 200


def examples(handle: str) -> list[str]:
    """Return texts that are not among the model's samples; empty unless it is a demo model."""
    return list(_of_demos().get(handle, {}))


def names_of_examples(handle: str) -> Mapping[str, str]:
    """Return what each of these texts shows, such as `Ticket closed`, by the text."""
    return _of_demos().get(handle, {})


def sample_texts(handle: str) -> list[str]:
    """Return the texts of the model's first samples, without duplicates; raise the service's errors."""
    samples = islice(client().samples.list(handle, limit=_LOOKED_AT), _LOOKED_AT)
    return list(dict.fromkeys(sample.text for sample in samples))


def texts_of(model: Model) -> list[str]:
    """Return the texts to try; raise the service's errors."""
    return model.demo_texts or examples(model.handle) or sample_texts(model.handle)


def texts_to_try(model: Model) -> list[str]:
    """Return the texts to try. If there are none, return an empty list and show the reason after the rerun."""
    try:
        texts = texts_of(model)
    except TraitbenchError:
        session.flash("This workbench's API key cannot read the samples of this model.", "problem")
        return []
    if not texts:
        session.flash("This model has no samples yet.", "note")
    return texts


@cache
def _of_demos() -> dict[str, dict[str, str]]:
    return {model.handle: {text: name for name, text in model.examples.items()} for model in demo_models()}
