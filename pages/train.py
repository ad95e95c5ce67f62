"""Train: what training will do, the progress of the run, its result, and what to do next."""

from functools import partial

import streamlit as st

from traitbench.display.pictures import balance
from traitbench.display.text import ago, count, plain
from traitbench_app.parts.controls import as_shown, cannot_be_read, folded, question
from traitbench_app.parts.feedback import draw_learning
from traitbench_app.parts.heading import chosen_model, heading
from traitbench_app.parts.model_actions import improve_button
from traitbench_app.parts.next_step import facts_of, missing, next_step
from traitbench_app.parts.quality import discovered_note, draw_confidence, draw_quality, draw_tests
from traitbench_app.parts.runs import MISTAKES, draw_retune, in_link, pick_search, start, watch, why_no_search
from traitbench_app.parts.strips import draw_more, first_few
from traitbench_app.parts.training_report import draw_search
from traitbench_app.parts.verdict import draw_compared_with
from traitbench_app.parts.version_figures import label, made_how, names_of, series
from traitbench_app.samples.checks import draw_check_line
from traitbench_app.shell import session
from traitbench_app.shell.navigation import page_link
from traitbench_app.shell.permission import why_read_only
from traitbench_app.shell.service import attempt, client
from traitbench_app.train.mistakes import draw_all_mistakes
from traitbench_app.train.promotion import draw_ahead, draw_promotion
from traitbench_app.train.result import draw_result
from traitbench_app.traits.suggestions import left_out
from traitbench_app.workspace.changes import is_suggestion

model = chosen_model()
traits = client().traits.list(model.handle)
heading("train", model, traits, **in_link(model, names_of(traits)))
last = model.last_operation


# ---- busy: progress of the run ---------------------------------------------------------------------------------------

if model.state == "busy":
    watch(model, traits)
    if model.version_no is not None:
        with st.container(horizontal=True):
            page_link("score", f"Score a text with v{model.version_no}")
            page_link("versions", "View versions")
    st.stop()

if model.state == "archived":
    st.info("This model was archived. You can read it, but you cannot train it.")
    page_link("catalog", "See all models")
    st.stop()

if last and last.status == "failed" and last.kind in ("train", "retune"):
    reason = last.error.message if last.error else "The service gave no reason."
    rest = "Your samples are safe. Fix the problem, or start the training again."
    if model.version_no is not None:
        rest = f"v{model.version_no} did not change and keeps scoring."
    st.error(
        f"**The training that started {ago(last.started_at)} failed.** {plain(reason)}\n\n{rest}",
        icon=":material/error:",
    )

# ---- ready: the result, and what to do next --------------------------------------------------------------------------

if model.state == "ready":
    versions = list(client().versions.list(model.handle))
    draw_learning(model)
    version = next((each for each in versions if each.version_id == model.current_version_id), None)
    if version is None:
        cannot_be_read(f"v{model.version_no}", "the version in use is damaged", "version", key="train.unreadable")
        st.stop()
    before = next((each for each in versions if each.version_no < version.version_no), None)
    names = names_of(traits)
    show = st.segmented_control(
        "View",
        ("Result", MISTAKES),
        default="Result",
        required=True,
        key="show",
        bind="query-params",
        label_visibility="collapsed",
    )
    if show == MISTAKES:
        draw_all_mistakes(model, version, traits)
        st.stop()
    draw_promotion(model, names)
    draw_result(model, traits, version)
    if before:
        draw_compared_with(model.handle, before, version)
        with st.container(horizontal=True, vertical_alignment="center"):
            a, b = label(before), label(version)
            page_link("versions", f"Compare {a} with {b}", view="Compare", a=a, b=b)
            if not why_read_only(model) and st.button(
                f"Switch back to {a}", icon=":material/undo:", key="train.back", type="tertiary"
            ):
                with attempt() as going_back:
                    client().versions.activate(model.handle, version=a)
                if going_back.done:
                    session.flash(f"{a} is in use now. You can switch back to {b} on the Versions page.")
                    st.rerun()
    stem = f"{model.handle}-{label(version)}"
    with folded("All figures", icon=":material/query_stats:", key="figures") as is_open:
        if is_open:
            st.caption(made_how(version))
            draw_tests(version, names, before=before, key="train.figures", file_name=f"{stem}-figures")
            figures = [series(each, names) for each in (before, version) if each]
            draw_quality(figures, traits, key="train.figures", file_name=f"{stem}-figures")
            st.markdown("**How sure its scores are**")
            draw_confidence(model, version, names, key="train.confidence", file_name=f"{stem}-confidence")
            draw_search(version.metrics.traits, names, key="train.search", file_name=f"{stem}-search")
    with folded("Change traits or samples", icon=":material/upgrade:", key="change") as is_open:
        if is_open:
            learns = not why_no_search(model)
            st.markdown(
                f"The samples of {label(version)} stay as they are. "
                f"{'Corrections of scores are learned by themselves. ' if learns else ''}"
                "To change traits or samples, make a draft of this model, and put it in use if it is better.",
                help="In the API, a train call for a ready model starts no run.",
            )
            with st.container(horizontal=True):
                improve_button(model, key="train.improve")
                if learns:
                    page_link("score", "Correct a score")
    with folded("Train again", icon=":material/refresh:", key="refit") as is_open:
        if is_open:
            draw_retune(model, traits, versions)
    st.stop()

# ---- draft: what will happen -----------------------------------------------------------------------------------------

if not traits and (forbidden := why_read_only(model)):
    st.markdown(f":material/lock: **Read only.** {forbidden}")
    st.stop()

if not traits:
    st.markdown("A trait has a name and two poles, for example *clear* and *muddled*.")
    st.stop()

suggestions = [each for each in traits if is_suggestion(each)]
traits[:] = [each for each in traits if each not in suggestions]
missing_poles, why_not = missing(traits or suggestions), why_read_only(model)
samples, tests = (sum(getattr(each, name) for each in traits) for name in ("sample_count", "held_out_samples"))
measures = f", and check the result on {count(tests, 'test sample')}" if tests else ""

with st.container(border=True, key="card.train.plan"):
    plan = st.empty()
    if missing_poles:
        st.warning(
            "\n".join(["**Not ready yet:**", *(f"- {sentence}" for sentence in missing_poles)]), icon=":material/info:"
        )
    asked = pick_search()
    if not missing_poles:
        unchanged = "Nothing that is in use changes."
        if model.forked_from is not None:
            handle = plain(model.forked_from.handle)
            unchanged = f"Then it is compared with **{handle}**, which keeps scoring unchanged."
        plan.markdown(f"Learn from {count(samples, 'sample')}{measures}. {unchanged}")
    if suggestions and not why_not:
        with st.container(horizontal=True, vertical_alignment="center"):
            are = "suggestion is not kept and is" if len(suggestions) == 1 else "suggestions are not kept and are"
            st.markdown(f":material/explore: {len(suggestions)} {are} left out.", width="content")
            page_link("traits", "Decide first")
    if not why_not:
        draw_check_line(model, traits)
    is_next = next_step(facts_of(model, traits)).page == "train"
    pressed = st.button(
        "Start training" if model.forked_from is None else "Train and compare",
        type="primary" if is_next else "secondary",
        icon=":material/model_training:",
        disabled=bool(missing_poles or why_not),
        help="The list above says what is missing." if missing_poles else None,
        key="train.start",
    )
    if as_shown("train.start", f"{model.handle} {samples} {tests} {len(suggestions)}", pressed):
        start(model, asked, around=partial(left_out, model.handle, suggestions))
    if why_not:
        st.caption(f":material/lock: {why_not}")
    if model.zero_data_retention:
        st.caption(
            "Zero data retention is on: training removes the samples when it ends. The version keeps scoring, but you "
            "cannot train the model again."
        )

with question("What will it learn from?", key="train.samples", note=count(samples, "sample")):
    for trait in first_few(traits, key="train.balance"):
        st.markdown(f"**{plain(names_of([trait])[trait.key])}**")
        poles = {"negative": trait.negative_label, "positive": trait.positive_label}
        st.html(balance(trait.negative_samples, trait.positive_samples, **poles))
    draw_more(traits, key="train.balance")
    discovered_note(traits)

if not why_not and not missing_poles:
    draw_ahead(model, traits)
