"""Train: what a training would do, the run while it goes, what it gave, and what can be learnt from then on."""

import streamlit as st

from traitbench.app import session
from traitbench.app.figures import label, made_how, names_of, outcome, series
from traitbench.app.navigation import page_link
from traitbench.app.permission import why_read_only
from traitbench.app.service import attempt, client
from traitbench.app.text import ago, count, plain
from traitbench.app.waiting import waiting
from traitbench.app.widgets.doctor import draw_doctor_line
from traitbench.app.widgets.gained import draw_gained
from traitbench.app.widgets.heading import heading
from traitbench.app.widgets.learning import draw_learning
from traitbench.app.widgets.model_picker import chosen_model
from traitbench.app.widgets.quality import draw_quality, found_note
from traitbench.app.widgets.retune import draw_retune, why_no_search
from traitbench.app.widgets.training import draw_readiness, in_link, missing, pick_search
from traitbench.app.widgets.unreadable import cannot_be_read
from traitbench.app.widgets.watch import watch

model = chosen_model()
heading("train", model, **in_link(model))
traits = client().traits.list(model.handle)
last = model.last_operation


# ---- busy: how far it is ---------------------------------------------------------------------------------------------

if model.state == "busy":
    watch(model)
    if model.version_no is not None:
        with st.container(horizontal=True):
            page_link("score", f"Score a text with v{model.version_no}")
            page_link("versions", "See the versions")
    st.stop()

if model.state == "archived":
    st.info("This model was deleted. It can be read, not trained; a new model starts in the catalog.")
    page_link("catalog", "Go to the catalog")
    st.stop()

if last and last.status == "failed" and last.kind in ("train", "retune"):
    reason = last.error.message if last.error else "The service does not say why."
    kept = "Traits and samples are as they were; correct what is said above, or start it again as it is."
    if model.version_no is not None:
        kept = f"v{model.version_no} is as it was and goes on scoring."
    st.error(
        f"**The {'fresh search' if last.kind == 'retune' else 'training'} that began {ago(last.started_at)} failed.** "
        f"{plain(reason)}\n\n{kept}",
        icon=":material/error:",
    )

# ---- ready: what it gave, and what more can be learnt ----------------------------------------------------------------

if model.state == "ready":
    versions = list(client().versions.list(model.handle))
    draw_learning(model, traits, versions)
    version = next((each for each in versions if each.version_id == model.current_version_id), None)
    if version is None:
        cannot_be_read(f"v{model.version_no}", "the version that scores is damaged", "version", key="train.unreadable")
        st.stop()
    before = next((each for each in versions if each.version_no < version.version_no), None)
    names = names_of(traits)
    st.subheader(f"{label(version)} scores texts now", icon=":material/check_circle:", anchor=False)
    st.caption(made_how(version))
    if before:
        st.markdown(f"**Against {label(before)}.** {outcome(before, version, names)}")
    with st.container(horizontal=True, vertical_alignment="center"):
        page_link("score", "Score a text with it")
        if before:
            a, b = label(before), label(version)
            page_link("versions", f"See {a} and {b} side by side", view="Compare", a=a, b=b)
            if not why_read_only(model) and st.button(
                f"Let {a} score again", icon=":material/undo:", key="train.back", type="tertiary"
            ):
                with attempt() as going_back:
                    client().versions.activate(model.handle, version=a)
                if going_back.done:
                    session.flash(f"{a} scores now. {b} stays among the versions.")
                    st.rerun()
        else:
            page_link("versions", "See and compare versions")
    st.markdown("**How well it tells the two poles of each trait apart**")
    figures = [series(each, names) for each in (before, version) if each]
    draw_quality(figures, traits, key="train.figures", file_name=f"{model.handle}-{label(version)}-figures")
    draw_gained(model, traits, version)
    draw_retune(model, traits, versions, waiting(model, traits, versions[0]))
    with st.container(border=True, key="train.nothing"):
        st.markdown(
            "**To teach it something else**", help="A plain train call of a ready model is answered with no run."
        )
        learns = not why_no_search(model)
        st.markdown(
            "Traits and samples of a trained model are frozen into its versions, so training again as before does "
            f"nothing. {'It learns from feedback on its scores, by itself. ' if learns else ''}For other traits, or "
            "samples of your own, start a new model."
        )
        with st.container(horizontal=True):
            if learns:
                page_link("score", "Give feedback on a score")
            page_link("catalog", "Create a new model")
    st.stop()

# ---- draft: what will happen -----------------------------------------------------------------------------------------

if not traits:
    with st.container(border=True, key="train.no_traits"):
        st.subheader("First say what to measure", icon=":material/tune:", anchor=False)
        st.markdown(
            "This model has no traits yet. A trait has a name and two poles, *clear* and *muddled* for example."
        )
        page_link("traits", "Add traits")
    st.stop()

lacking = missing(traits)
plan, choice = st.columns([3, 2], gap="large")

with plan:
    st.subheader("What will happen", anchor=False)
    samples = sum(trait.sample_count for trait in traits)
    st.markdown(
        f"{count(samples, 'sample')} of {count(len(traits), 'trait')} are read and turned into numbers, and for each "
        "trait the direction is found that separates its poles best. The result becomes version "
        f"**v{(model.version_no or 0) + 1}** and scores at once."
    )
    draw_readiness(traits)
    found_note(traits)
    findings = st.container()
    if lacking:
        st.warning(
            "\n".join(["**Not ready yet:**", *(f"- {sentence}" for sentence in lacking)]), icon=":material/info:"
        )
        page_link("samples", "Add samples")

with choice:
    asked = pick_search(traits, to_read=samples)
    why_not = why_read_only(model)
    if st.button(
        "Start training",
        type="primary",
        icon=":material/model_training:",
        disabled=bool(lacking or why_not),
        help="Every trait needs a sample at each pole." if lacking else None,
        key="train.start",
    ):
        with attempt() as starting:
            client().models.train(model.handle, effort=asked.effort, use_labels=asked.use_labels)
        if starting.done:
            st.rerun()
    if why_not:
        st.caption(f":material/lock: {why_not}")
    if model.zero_data_retention:
        st.caption(
            "Under zero data retention the samples are removed when the training ends. The version keeps on scoring; "
            "it cannot be trained again."
        )
    st.caption("Traits and samples cannot be edited while it runs, and are frozen once there is a version.")

if not why_not:
    with findings:
        draw_doctor_line(model, traits)
