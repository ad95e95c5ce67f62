"""The models on Home: how often each is right, a picture of a trait, and what is next. A click opens its dashboard."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Literal

import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.display.languages import languages_line
from traitbench.display.quality import Evidence, by_trait, evidence_on, wilson
from traitbench.display.text import count, plain, shortened
from traitbench.errors import InternalError
from traitbench_app.parts.controls import ask
from traitbench_app.parts.heading import retention_badge, state_badge
from traitbench_app.parts.model_actions import ARCHIVE, restore_button
from traitbench_app.parts.next_step import NextStep, facts_of, next_step
from traitbench_app.parts.strips import strip_of
from traitbench_app.shell.navigation import model_link, name_link
from traitbench_app.shell.service import active_version, client, reader

STYLE = """
<style>
.stApp [data-testid="stMain"] :is(.st-key-home-models, .st-key-home-new > :first-child) h2 {
  padding: 0; font-size: 16px; line-height: 24px; letter-spacing: 0;
}
.stApp [data-testid="stMain"] .st-key-home-new > :first-child h2 { padding-bottom: 14px; }
[class*="st-key-card-model"] { position: relative; padding: 1rem 1.1rem 0.6rem; gap: 0.6rem; }
[class*="st-key-card-model"]:has([class*="st-key-catalog-name"] a:hover) { border-color: var(--tb-line-strong); }
[class*="st-key-catalog-name"] :is(*, a) { position: static; }
[class*="st-key-catalog-name"] a { padding: 0; background: none !important; }
[class*="st-key-catalog-name"] a p { font-size: 1rem; line-height: 1.35; overflow-wrap: anywhere; white-space: normal; }
[class*="st-key-catalog-name"] a::after { content: ""; position: absolute; inset: 0; z-index: 1; }
[class*="st-key-card-model"] > :has(> [class*="st-key-catalog-next"]) { margin-top: auto; }
[class*="st-key-catalog-next"] { border-top: 1px solid var(--tb-line); padding-top: 0.4rem; }
[class*="st-key-catalog-next"] > * { position: relative; z-index: 2; }
[class*="st-key-catalog-verdict"] { min-width: 14ch; }
</style>
"""
"""CSS for the page: the link of the name covers the card, below the controls in its last line."""

_ARCHIVE = ":material/inventory_2: Archive"
_WIDTH, _HEIGHT, _SMALL_HEIGHT, _SMALL_DOT, _MOST_STRIPS = 360, 76, 60, 1.6, 3
_MOST_LANGUAGES = 3


def draw_model(model: Model, *, owned: bool, name: str) -> None:
    """Draw the card with this name, in Markdown.

    If the service cannot read a part of the model, its card says so; others are not affected.
    """
    with st.container(border=True, height="stretch", key=f"card.model.{model.handle}"):
        version, problem = None, ""
        traits: Sequence[Trait] = ()
        try:
            version, traits = active_version(model), traits_of(model)
        except InternalError as error:
            problem = f"It cannot be read: {plain(error.message)}"
        if version is None and model.version_no is not None:
            problem = problem or "The version in use cannot be read."
        _draw_top(model, version, traits, name)
        if problem:
            st.caption(f":material/warning: {problem}")
        _draw_traits(model, version, traits)
        _draw_next(model, traits, owned=owned)


def traits_of(model: Model) -> Sequence[Trait]:
    """The traits; those of a trained model, which do not change, are read once for each version."""
    if model.current_version_id is None or model.state == "busy":
        return client().traits.list(model.handle)
    return _frozen_traits(reader(), model.handle, (model.current_version_id, *model.traits))


@st.cache_data(max_entries=2_000, show_spinner=False)
def _frozen_traits(reader: tuple[str, str], handle: str, of: tuple[int | str, ...]) -> list[Trait]:
    # `of` is only part of the cache's key. Streamlit leaves out of it what begins with an underscore.
    return list(client().traits.list(handle))


def _draw_top(model: Model, version: Version | None, traits: Sequence[Trait], name: str) -> None:
    evidence = None if version is None else evidence_on(by_trait(version.metrics))
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        with st.container(key=f"catalog-name-{model.handle}", width="content"):
            name_link(model.handle, name)
        if model.state == "ready" and model.forked_from is None:
            st.markdown(f":gray-badge[:primary[●] v{model.version_no} in use]", width="content")
        else:
            state_badge(model)
        retention_badge(model)
        if evidence is not None:
            with st.container(width="stretch", key=f"catalog-verdict-{model.handle}"):
                st.caption(_verdict(evidence), text_alignment="right")
    said = [plain(shortened(model.description, 120))] if model.description else []
    if said := said + _languages(version):
        st.caption("  \n".join(said))
    for sentence in evidence.warnings(traits)[:1] if evidence else ():
        st.caption(f":material/warning: {plain(sentence)}")


def _languages(version: Version | None) -> list[str]:
    languages = None if version is None else version.metrics.languages
    said = languages and languages_line(languages.texts, languages.unclear, most=_MOST_LANGUAGES)
    return [f"Samples: {plain(said)}"] if said else []


def _verdict(evidence: Evidence) -> str:
    few = "" if evidence.is_guessed else evidence.few
    said = f"{evidence.in_short}{few}"
    return plain(f"{said[0].upper()}{said[1:]}")


def _draw_traits(model: Model, version: Version | None, traits: Sequence[Trait]) -> None:
    """Draw strips of one height: that of the main trait, and of the first others."""
    if not traits:
        st.caption("No traits yet.")
        return
    shown = sorted(traits, key=lambda each: each.key != model.main_trait)[:_MOST_STRIPS]
    height = _HEIGHT if len(shown) == 1 else _SMALL_HEIGHT
    st.html(
        "".join(
            strip_of(version, trait, beside=shown, width=_WIDTH, height=height, radius=_SMALL_DOT) for trait in shown
        )
    )
    if len(traits) > len(shown):
        st.caption(f"and {count(len(traits) - len(shown), 'more trait')}")


def _draw_next(model: Model, traits: Sequence[Trait], *, owned: bool) -> None:
    step = next_step(facts_of(model, traits))
    with st.container(
        horizontal=True,
        vertical_alignment="center",
        gap="small",
        key=f"catalog-next-{model.handle}",
    ):
        # How often it is right stands above already.
        st.caption("" if step.page == "batch" else step.sentence, width="stretch")
        if step.page is not None:
            model_link(step.page, step.label, model=model.handle, **step.query)
        if owned and model.state == "archived":
            restore_button(model, key=f"catalog.restore.{model.handle}")
        elif owned:
            st.menu_button(
                "More",
                [_ARCHIVE],
                type="tertiary",
                key=f"catalog.menu.{model.handle}",
                on_click=ask,
                args=(ARCHIVE, model.handle),
            )


# ---- order -----------------------------------------------------------------------------------------------------------

Order = Literal["waits", "name", "trained", "quality"]
ORDERS: Mapping[Order, str] = {
    "waits": "What waits",
    "name": "Name",
    "trained": "Last trained",
    "quality": "Quality",
}
"""The orders by the names that people see. Quality is the lowest share of right samples that is likely."""

FIRST_DEMO = "demo.support-tone"
"""The demo model that Home begins with."""

_DEMO = "demo."
_NEVER = datetime(1970, 1, 1, tzinfo=UTC)
_MOST_LOOKED_AT = 50
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_MOST_SAID, _NAME = 2, 40


def in_order(models: Sequence[Model], by: Order, waiting: Sequence[tuple[Model, NextStep]] = ()) -> list[Model]:
    """The models in an order; by name they stay as the service lists them, own namespaces first, and demos last."""
    if by == "trained":
        return sorted(models, key=_trained, reverse=True)
    if by == "quality":
        return sorted(models, key=lambda each: _rank(_version(each)))
    if by == "waits":
        first = {each.handle for each, _ in waiting}
        return sorted(models, key=lambda each: (is_demo(each), each.handle not in first, each.handle != FIRST_DEMO))
    return sorted(models, key=is_demo)


def waiting_of(models: Sequence[Model]) -> list[tuple[Model, NextStep]]:
    """The models of people that wait for somebody, with what they wait for; of many, only the first are looked at."""
    waiting = list[tuple[Model, NextStep]]()
    for model in [each for each in models if not is_demo(each) and each.state != "busy"][:_MOST_LOOKED_AT]:
        with suppress(InternalError):
            step = next_step(facts_of(model, traits_of(model)))
            if step.page not in (None, "batch"):
                waiting.append((model, step))
    return waiting


def title_of(models: Sequence[Model], waiting: Sequence[tuple[Model, NextStep]]) -> str:
    """`Three models, two wait for you`, of the models of people."""
    number = len(models)
    models_said = f"{_in_words(number)} model{'' if number == 1 else 's'}".capitalize()
    waits = "waits" if len(waiting) == 1 else "wait"
    if not waiting or number > _MOST_LOOKED_AT:
        return models_said
    if len(waiting) == number:
        return f"{models_said} {waits} for you"
    return f"{models_said}, {_in_words(len(waiting))} {waits} for you"


def lead_of(models: Sequence[Model], waiting: Sequence[tuple[Model, NextStep]]) -> str:
    """What the first of them wait for, in Markdown."""
    return " ".join(f"{name_among(models, each)}: {step.sentence}" for each, step in waiting[:_MOST_SAID])


def name_among(models: Sequence[Model], model: Model) -> str:
    """The name of a model in Markdown; with its namespace if that of others differs."""
    spaces = {each.handle.partition(".")[0] for each in models if not is_demo(each)}
    name = f"**{short_name(model)}**"
    return name if is_demo(model) or len(spaces) < 2 else f":gray[{plain(model.handle.partition('.')[0])}.]{name}"


def short_name(model: Model) -> str:
    """The name of a model without its namespace, in Markdown: `tone`; `Support tone` for a demo model."""
    name = model.handle.partition(".")[2]
    return plain(name.replace("-", " ").capitalize() if is_demo(model) else shortened(name, _NAME))


def is_demo(model: Model) -> bool:
    """Whether it is a demo model."""
    return model.handle.startswith(_DEMO)


def _in_words(number: int) -> str:
    return _NUMBERS[number] if number < len(_NUMBERS) else f"{number:,}"


def _trained(model: Model) -> datetime:
    version = _version(model)
    return version.created_at if version else _NEVER


def _rank(version: Version | None) -> tuple[int, float]:
    """The best version has the smallest rank; a guess comes after it, and one without evidence last."""
    evidence = evidence_on(by_trait(version.metrics)) if version else None
    if evidence is None:
        return 2, 0.0
    # The lower end of the interval: 9 of 10 is less than 90 of 100.
    return int(evidence.is_guessed), -wilson(evidence.right, evidence.samples)[0]


def _version(model: Model) -> Version | None:
    """The active version; None if there is none, or if it cannot be read."""
    try:
        return active_version(model)
    except InternalError:
        return None
