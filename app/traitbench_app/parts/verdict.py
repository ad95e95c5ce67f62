"""The verdict on two versions: the title of a page, a picture of both on the same test samples, and what changed."""

from collections.abc import Callable, Mapping
from html import escape

import streamlit as st

from traitbench.contract.comparisons import SampleChanges, TraitDifference, VersionChanges, VersionsComparison
from traitbench.contract.versions import Version
from traitbench.display import verdicts
from traitbench.display.charts import versions as pictures
from traitbench.display.colours import PALETTE
from traitbench.display.text import count, plain
from traitbench.display.tokens import token
from traitbench.names import pin
from traitbench_app.parts.chart import chart
from traitbench_app.shell import session
from traitbench_app.shell.service import attempt, client, reader

_STYLE = f"""
<style>
.tb-notes > div {{ min-height: {pictures.ROW_HEIGHT}px; padding-top: 4px; font-size: 13px; line-height: 18px; }}
.tb-notes b {{ font-size: 15px; line-height: 22px; display: block; }}
@media (min-width: 640px) {{ .tb-notes {{ padding-top: {pictures.HEAD}px; }} .tb-notes bdi {{ display: none; }} }}
</style>
"""
_INKS = {"better": "accent-ink", "worse": "bad", "no_difference": "ink", "unknown": "ink-3"}


@st.cache_data(ttl=600, max_entries=64, show_spinner=False)
def compared(reader: tuple[str, str], a: str, b: str) -> VersionsComparison:
    """The comparison of two pinned versions; test samples may change only with a version, so it is kept a while."""
    return client().versions.compare(a, b)


def draw_verdict(
    comparison: VersionsComparison,
    names: Mapping[str, str],
    labels: tuple[str, str],
    *,
    lead: str = "",
    about: str | None = None,
    key: str = "verdict",
) -> None:
    """Draw the verdict as a title; `labels` name both versions, `lead` and its tooltip `about` are Markdown.

    Without test samples, the reason says what is missing.
    """
    by_name = {names.get(key, key): each.verdict for key, each in comparison.traits.items()}
    title = plain(verdicts.sentence(by_name, *labels))
    missing = "" if _is_measured(comparison) else plain(verdicts.because(comparison.verdict, comparison.reason))
    with st.container(key=key, gap="small"):
        st.html(_STYLE)
        st.header(f":gray[{title}]" if comparison.verdict == "unknown" else title, anchor=False)
        if said := " ".join(filter(None, (lead, missing))):
            st.markdown(said, help=about)


def draw_compared_with(handle: str, before: Version, after: Version) -> None:
    """Draw the verdict on two versions of a model as one line."""
    with attempt() as comparing:
        comparison = compared(reader(), *(pin(handle, f"v{each.version_no}") for each in (before, after)))
    if comparing.done:
        verdicts_by_key = {key: each.verdict for key, each in comparison.traits.items()}
        title = verdicts.sentence(verdicts_by_key, f"v{before.version_no}", f"v{after.version_no}")
        reason = verdicts.because(comparison.verdict, comparison.reason)
        st.markdown(f"**{plain(title)}.** {plain(reason)}")


def draw_picture(
    comparison: VersionsComparison,
    names: Mapping[str, str],
    labels: tuple[str, str],
    *,
    key: str,
    on_trait: Callable[[str], None] | None = None,
) -> None:
    """Draw both versions on the same test samples, and what each verdict rests on; nothing without such samples.

    `on_trait` is called with the key of a trait when a person presses its row.
    """
    if not _is_measured(comparison):
        return
    keys, others = verdicts.shown_first(comparison.traits)
    if session.get(f"{key}.all"):
        keys, others = [*keys, *others], []
    drawn = {names.get(each, each): comparison.traits[each] for each in keys}
    notes, figures = verdicts.notes(comparison.traits), verdicts.figures(comparison.traits)
    picture, words = st.columns([2.6, 1])
    with picture:
        chart(
            pictures.figure(drawn, *labels, figures, PALETTE),
            alt=pictures.alt(drawn, *labels, [notes[each] for each in keys]),
            table=pictures.table(comparison.traits, names, *labels),
            key=key,
            file_name="-".join(labels).replace("@", "-"),
            on_point=None if on_trait is None else lambda position: on_trait(keys[position]),
        )
    with words:
        said = [_note(name, each, notes[own]) for own, (name, each) in zip(keys, drawn.items(), strict=True)]
        st.html(f'<div class="tb-notes">{"".join(said)}</div>')
    if others:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"{verdicts.rest(comparison.traits, others)}.", width="content")
            st.button(
                "Show them", key=f"{key}.more", type="tertiary", on_click=session.store, args=(f"{key}.all", True)
            )


def draw_changes(comparison: VersionsComparison, names: Mapping[str, str]) -> None:
    """Draw what changed from the first version to the second; nothing if nothing did."""
    if said := changes(comparison.changed, names):
        with st.expander("What changed", icon=":material/difference:"):
            st.markdown("\n".join(f"- {each}" for each in said))


def _is_measured(comparison: VersionsComparison) -> bool:
    return any(each.n for each in comparison.traits.values())


def _note(name: str, each: TraitDifference, note: str) -> str:
    ink, grey = token(_INKS[each.verdict]), token("ink-2")
    title = verdicts.title(each.verdict)
    return f'<div style="color:{grey}"><bdi>{escape(name)}</bdi><b style="color:{ink}">{title}</b>{escape(note)}</div>'


def changes(changed: VersionChanges, names: Mapping[str, str]) -> list[str]:
    """What changed between two versions, a sentence in Markdown each; empty if nothing did."""
    said = [
        _samples(changed.samples, "training sample", changed.unrecorded),
        _samples(changed.held_out, "test sample", None),
        _traits("New trait", changed.traits_added, names),
        _traits("Trait removed", changed.traits_removed, names),
    ]
    said += [
        f"{plain(names.get(str(each.trait), str(each.trait)))}: {plain(each.name.replace('_', ' '))} was"
        f" *{plain(str(each.a))}*, is *{plain(str(each.b))}*."
        for each in changed.traits_changed
    ]
    if changed.encoder is not None:
        said.append(f"Another encoder: {plain(str(changed.encoder.a))}, now {plain(str(changed.encoder.b))}.")
    if changed.parameters:
        said.append(f"Training chose {count(len(changed.parameters), 'other parameter')}.")
    return [each for each in said if each]


def _samples(changed: SampleChanges | None, what: str, unrecorded: str | None) -> str:
    if changed is None:
        return f"Which samples changed is not known: {plain(unrecorded)}." if unrecorded else ""
    counts = {"added": changed.added, "removed": changed.removed, "relabelled": changed.relabelled}
    said = [f"{number:,} {how}" for how, number in counts.items() if number]
    return f"{what.capitalize()}s: {', '.join(said)}." if said else ""


def _traits(what: str, keys: list[str], names: Mapping[str, str]) -> str:
    return f"{what}: {', '.join(plain(names.get(key, key)) for key in keys)}." if keys else ""
