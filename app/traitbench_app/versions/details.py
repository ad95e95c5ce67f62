"""The Details view: one version, how good it is in a sentence, its tags, and its figures trait by trait."""

import json
from collections.abc import Sequence

import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.display.quality import by_trait as evidence_by_trait
from traitbench.display.quality import evidence_on
from traitbench.display.text import plain
from traitbench.errors import InvalidTag
from traitbench.names import check_tag
from traitbench_app.parts import version_figures
from traitbench_app.parts.controls import download, folded
from traitbench_app.parts.quality import (
    draw_confidence,
    draw_modes,
    draw_quality,
    draw_shortcuts,
    draw_tests,
    modes_of,
    speeds,
)
from traitbench_app.parts.training_report import draw_search, draw_trait_search
from traitbench_app.parts.trait_figures import draw_trait, pick_trait
from traitbench_app.parts.version_figures import (
    figures_table,
    label,
    made_how,
    names_of,
    parameters_table,
    search_of,
    series,
)
from traitbench_app.shell import session
from traitbench_app.shell.service import attempt, client, field_error, version
from traitbench_app.versions.listing import CREATED_BY


def draw_details(
    model: Model, versions: Sequence[Version], shown: Version, traits: Sequence[Trait], *, may_change: bool
) -> None:
    """Draw one version; its figures are folded, except those of one trait."""
    active = f"v{model.version_no}"
    evidence = evidence_on(evidence_by_trait(shown.metrics))
    if evidence:
        figure = f" :small[:gray[({evidence.figure})]]" if evidence.figure else ""
        draw_shortcuts(evidence, traits)
        st.markdown(f"**{plain(evidence.says(label(shown), traits))}.**{figure}")
    st.caption(made_how(shown), help=CREATED_BY)
    _draw_activation(model, shown, active, may_change=may_change)
    _draw_trait(model, shown, traits)
    with folded("Tags", icon=":material/sell:", key="tags") as is_open:
        if is_open:
            draw_tags(model.handle, shown, active=active, may_change=may_change)
            st.caption(f"**After the next version:** {version_figures.fates(model, versions)[shown.version_id]}.")
    _draw_folded(model, shown, traits)


def _draw_activation(model: Model, shown: Version, active: str, *, may_change: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", key="versions.actions"):
        if label(shown) == active:
            st.badge("In use", icon=":material/check_circle:", color="gray")
            for tag in shown.tags:
                st.badge(plain(tag), icon=":material/sell:", color="gray")
        elif may_change and st.button(
            f"Use {label(shown)}",
            icon=":material/swap_horiz:",
            key="versions.activate",
            help=f"Scores will come from {label(shown)} instead of {active}. You can switch back.",
        ):
            with attempt() as activating:
                client().versions.activate(model.handle, version=label(shown))
            if activating.done:
                session.flash(f"{label(shown)} is in use.")
                st.rerun()


def _draw_trait(model: Model, shown: Version, traits: Sequence[Trait]) -> None:
    by_trait, names = shown.metrics.traits, names_of(traits)
    if not by_trait:
        return
    key = pick_trait({key: names.get(key, key) for key in by_trait})
    mine = next((trait for trait in traits if trait.key == key), None)
    stem = f"{model.handle}-{label(shown)}-{key}"
    draw_trait(model, mine, shown, own=key, key="versions.trait", file_name=stem)


def _draw_folded(model: Model, shown: Version, traits: Sequence[Trait]) -> None:
    by_trait, names, stem = shown.metrics.traits, names_of(traits), f"{model.handle}-{label(shown)}"
    with folded("Quality of each trait", icon=":material/query_stats:", key="figures") as is_open:
        if is_open:
            draw_tests(shown, names, key="versions.figures", file_name=f"{stem}-figures")
            draw_quality(
                [series(shown, names)],
                traits,
                key="versions.figures",
                file_name=f"{stem}-figures",
                table=figures_table(shown, names),
            )
            st.markdown("**How sure its scores are**")
            draw_confidence(model, shown, names, key="versions.confidence", file_name=f"{stem}-confidence")
    if modes_of(by_trait):
        with folded("Faster batch modes", icon=":material/speed:", key="modes") as is_open:
            if is_open:
                draw_modes(
                    [(label(shown), by_trait)], names, speeds(shown), key="versions.modes", file_name=f"{stem}-modes"
                )
    if any(each.search for each in by_trait.values()):
        with folded("What was tried", icon=":material/manage_search:", key="search") as is_open:
            if is_open:
                draw_search(by_trait, names, key="versions.search", file_name=f"{stem}-search")
                for key, figures in by_trait.items():
                    st.markdown(f"**{plain(names.get(key, key))}**")
                    draw_trait_search(figures)
    with folded("Parameters and files", icon=":material/tune:", key="parameters") as is_open:
        if is_open:
            _draw_parameters(model, shown, traits)


def _draw_parameters(model: Model, shown: Version, traits: Sequence[Trait]) -> None:
    stem = f"{model.handle}-{label(shown)}"
    st.dataframe(parameters_table(shown, names_of(traits)), hide_index=True, width="stretch", key="versions.parameters")
    st.caption(f"The chosen configuration of each trait. Search: {plain(search_of(shown))}.")
    st.markdown("`param_hash` (equal parameters have equal hashes):")
    st.code(shown.param_hash, language=None)
    st.markdown("The snapshot has everything needed to score without the service. It contains no sample text.")
    whole = version(model.handle, shown)
    with st.container(horizontal=True):
        if whole.snapshot is not None:
            download(
                "Download snapshot (JSON)",
                json.dumps(whole.snapshot, ensure_ascii=False),
                f"{stem}-snapshot.json",
                key="versions.snapshot",
            )
        download(
            "Download figures (JSON)",
            json.dumps(shown.metrics.model_dump(), ensure_ascii=False, indent=1),
            f"{stem}-figures.json",
            key="versions.metrics",
            help="All figures of this version, as the API returns them.",
        )
    if whole.snapshot is None:
        st.caption("To read snapshots, this workbench needs an API key with the scope `authoring`.")


_FORM = "versions.tag"
_LONGEST_NOTE = 500


def draw_tags(handle: str, version: Version, *, active: str, may_change: bool) -> None:
    """Draw the tags with their notes and their actions; `active` is the version in use, as `vN`."""
    st.caption(
        "A tag is a name for a version, to use instead of its number. It can move to another version. Tagged versions "
        "are never removed."
    )
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for tag in version.tags:
            if not may_change:
                st.badge(plain(tag), icon=":material/sell:", color="gray", help=_note(version, tag))
            elif st.button(plain(tag), icon=":material/close:", key=f"versions.untag:{tag}", help="Remove this tag"):
                _remove(handle, tag)
    for tag, note in version.tag_notes.items():
        st.caption(f"**{plain(tag)}**: {plain(note)}")
    if may_change:
        _draw_form(handle, f"v{version.version_no}", active=active)
    elif not version.tags:
        st.caption("No tags.")


def _note(version: Version, tag: str) -> str | None:
    note = version.tag_notes.get(tag)
    return plain(note) if note else None


def _draw_form(handle: str, version: str, *, active: str) -> None:
    form = session.round_key(f"{_FORM}.{version}")
    with st.form(form, border=False):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            name = st.text_input(
                "New tag", key=f"{form}.name", width=260, placeholder="best-so-far", persist_state="page"
            )
            note = st.text_input(
                "Note (optional)",
                key=f"{form}.note",
                width=360,
                max_chars=_LONGEST_NOTE,
                placeholder="Checked by the support team",
                persist_state="page",
            )
            sent = st.form_submit_button("Add tag", icon=":material/sell:")
        below = st.empty()
    if version != active:
        st.caption(f"The tag goes to {version}. {active} is in use.")
    if not sent:
        return
    try:
        check_tag(name)
    except InvalidTag as refusal:
        field_error(below, refusal.message)
        return
    with attempt({"name": below, "note": below}) as tagging:
        client().versions.tag(handle, name, version=version, note=note.strip() or None)
    if tagging.done:
        session.next_round(f"{_FORM}.{version}")
        session.flash(f"Added tag {plain(name)} to {version}.")
        st.rerun()


def _remove(handle: str, tag: str) -> None:
    with attempt() as untagging:
        client().versions.untag(handle, tag)
    if untagging.done:
        session.flash(f"Removed tag {plain(tag)}.")
        st.rerun()
