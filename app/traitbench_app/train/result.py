"""The result of a training in one sentence, and what to do next, the weakest trait first."""

from collections.abc import Iterator, Mapping, Sequence

import streamlit as st

from traitbench.contract.metrics import TraitMetrics
from traitbench.contract.models import Model
from traitbench.contract.rounding import in_decimals
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.display import held_out
from traitbench.display.charts.auroc import CHANCE
from traitbench.display.quality import Evidence, by_trait, evidence_on
from traitbench.display.text import count, plain
from traitbench_app.parts.question import question
from traitbench_app.parts.runs import MISTAKES
from traitbench_app.parts.shortcuts import draw_shortcuts
from traitbench_app.parts.strips import draw_more, draw_strips, first_few, how_to_read, weakest_first
from traitbench_app.parts.training_report import feed_in_words
from traitbench_app.parts.version_figures import Names, label, names_of
from traitbench_app.shell import session
from traitbench_app.shell.navigation import page_link

_MOST = 3
_STRIPS = "train.traits"
_WORTH_IT = 0.005


def draw_result(model: Model, traits: Sequence[Trait], version: Version) -> None:
    """Draw how often the version is right, what to do with it, and what would make it better."""
    known = by_trait(version.metrics)
    with st.container(border=True, key="train.result"):
        if (evidence := evidence_on(known)) is not None:
            draw_shortcuts(evidence, traits)
        st.subheader(_headline(version, evidence, traits), anchor=False)
        for sentence in _basis(version, evidence):
            st.markdown(sentence)
        with st.container(horizontal=True, vertical_alignment="center"):
            page_link("score", "Score a text")
            page_link("versions", "View versions")
    order = weakest_first(version, traits)
    with question("Does it tell the sides apart?", key="train.sides"):
        st.caption(how_to_read(version, model))
        draw_strips(model, version, first_few(order, key=_STRIPS), among=traits)
        draw_more(order, key=_STRIPS)
    steps = list(_steps(model, traits, version, known))[:_MOST]
    if steps:
        st.markdown("**To make it better**", help="The weakest trait comes first.")
        st.markdown("\n".join(f"{at}. {step}" for at, step in enumerate(steps, start=1)))
    if (wrong := sum(each.wrong for each in known.values())) and not model.zero_data_retention:
        st.button(
            f"Review {count(wrong, 'mistake')}",
            icon=":material/rule:",
            key="train.to_mistakes",
            on_click=session.put,
            args=({"show": MISTAKES},),
            help="Samples on the wrong side, worst first.",
        )


def _headline(version: Version, evidence: Evidence | None, traits: Sequence[Trait]) -> str:
    if evidence is None:
        return f"{label(version)} is in use. How often it is right was not measured"
    return plain(evidence.says(label(version), traits))


def _basis(version: Version, evidence: Evidence | None) -> Iterator[str]:
    """What the sentence above rests on, and how much it can be trusted."""
    if evidence is not None:
        yield f"{evidence.measured_on}. {evidence.doubt}".rstrip()
        if must := held_out.must_pass(version.metrics):
            yield f"{must[0].upper()}{must[1:]}."
    else:
        reasons = {each.why_not for each in version.metrics.traits.values() if each.why_not}
        yield f"{'; '.join(plain(each) for each in sorted(reasons)) or 'The version has no figures'}.".capitalize()
        yield "Add at least two different texts at each pole of every trait, then train again."


def _steps(model: Model, traits: Sequence[Trait], version: Version, known: Mapping[str, Evidence]) -> Iterator[str]:
    """What to do for each trait that could be better, in Markdown, the weakest first."""
    names, own = names_of(traits), {trait.key: trait for trait in traits}
    unmeasured = [key for key in version.metrics.traits if key not in known]
    for key in (*unmeasured, *known):
        if key in own:
            step = _step(own[key], names, version.metrics.traits[key], known.get(key))
            if step:
                yield step


def _step(trait: Trait, names: Names, figures: TraitMetrics, evidence: Evidence | None) -> str:
    name = f"**{plain(names[trait.key])}**"
    if evidence is None:
        return f"{name} was not measured: {plain(figures.why_not)}." if figures.why_not else ""
    next_step = advice(trait, figures)
    if not next_step and not evidence.wrong:
        return ""
    return f"{name}: {evidence.in_short}. {next_step}"


def advice(trait: Trait, figures: TraitMetrics) -> str:
    """What would make a trait better, in Markdown; empty if that is not known."""
    if figures.shortcut is not None:
        return "Remove what alone tells its poles apart, or show it at both poles. Until then its figures say little."
    if figures.auroc_interval and figures.auroc_interval[0] <= CHANCE:
        return "This may be chance: check that the labels are consistent, then add samples."
    forecast, now = figures.forecast, figures.auroc
    if forecast and now is not None and not _worth_it(now, forecast.auroc):
        return "More samples like these would hardly help: review its mistakes first."
    feed = feed_in_words(trait, figures.feed) if figures.feed else ""
    if forecast:
        gain = f"{count(forecast.more, 'more sample')} may raise AUROC to {in_decimals(forecast.auroc)}."
        return f"{gain} {feed}".rstrip()
    return feed


def _worth_it(now: float, forecast: float) -> bool:
    """Whether a forecast is better by enough, also as it is shown."""
    return forecast - now >= _WORTH_IT and in_decimals(forecast) != in_decimals(now)
