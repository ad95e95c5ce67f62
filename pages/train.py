"""Train: what a training would do, the training while it runs, and what it gave."""

import streamlit as st

from app.charts import intervals
from app.figures import label, made_of, measured_on, names_of, series
from app.navigation import page_link
from app.service import active_version, attempt, client, guarded
from app.text import ago, count, plain
from app.theme import PALETTE
from app.widgets.chart import chart
from app.widgets.heading import heading
from app.widgets.model_picker import chosen_model
from app.widgets.training import EFFORTS, draw_progress, draw_readiness, missing

model = chosen_model()
heading("train", model)
traits = client().traits.list(model.handle)
last = model.last_operation


# ---- busy: how far it is ---------------------------------------------------------------------------------------------


@st.fragment(run_every=1.0 if model.state == "busy" else None)
def watch() -> None:
    """Look once a second; the whole page runs again when there is something else to show."""
    with guarded():
        now = client().models.get(model.handle)
    if now.state != "busy":
        st.rerun()
    draw_progress(now)


if model.state == "busy":
    watch()
    st.stop()

if model.state == "archived":
    st.info("This model was deleted. It can be read, not trained; a new model starts in the catalog.")
    page_link("catalog", "Go to the catalog")
    st.stop()

if last and last.status == "failed" and last.kind in ("train", "retune", "retrain"):
    reason = last.error.message if last.error else "The service does not say why."
    kept = "Traits and samples are as they were; correct what is said above, or start it again as it is."
    if model.version_no is not None:
        kept = f"v{model.version_no} is as it was and goes on scoring."
    st.error(
        f"**The training that began {ago(last.started_at)} failed.** {plain(reason)}\n\n{kept}", icon=":material/error:"
    )

# ---- ready: what it gave ---------------------------------------------------------------------------------------------

if model.state == "ready":
    version = active_version(model)
    if version is not None:
        st.subheader(f"{label(version)} scores texts now", icon=":material/check_circle:", anchor=False)
        st.caption(f"Trained {ago(version.created_at)}: {plain(made_of(version))}.")
        with st.container(horizontal=True):
            page_link("score", "Score a text with it")
            page_link("versions", "See and compare versions")
        st.markdown("**How well it tells the two poles of each trait apart**")
        figures = series(version, names_of(traits))
        chart(
            intervals.figure([figures], PALETTE),
            alt=intervals.alt([figures]),
            table=intervals.table([figures]),
            key="train.figures",
            file_name=f"{model.handle}-{label(version)}-figures",
        )
        st.caption(
            "AUROC: how often a sample of the positive pole scores above one of the negative pole. 0.5 is chance, 1 is "
            f"perfect; the line is the 95 % interval. No sample was scored by parameters that had seen it. "
            f"{measured_on(figures)}"
        )
    with st.container(border=True, key="train.nothing"):
        st.markdown("**Training again does nothing now**", help="The API answers such a call with no run.")
        st.markdown(
            "Traits and samples of a trained model are frozen into its versions, and equal samples give equal "
            "parameters. To teach something else, start a new model."
        )
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
    if lacking:
        st.warning(
            "\n".join(["**Not ready yet:**", *(f"- {sentence}" for sentence in lacking)]), icon=":material/info:"
        )
        page_link("samples", "Add samples")

with choice:
    st.subheader("Effort", anchor=False)
    effort = st.radio(
        "How wide to search",
        list(EFFORTS),
        index=list(EFFORTS).index("high"),
        captions=list(EFFORTS.values()),
        key="effort",
        bind="query-params",
        label_visibility="collapsed",
    )
    if st.button(
        "Start training",
        type="primary",
        icon=":material/model_training:",
        disabled=bool(lacking),
        help="Every trait needs a sample at each pole." if lacking else None,
        key="train.start",
    ):
        with attempt() as starting:
            client().models.train(model.handle, effort=effort)
        if starting.done:
            st.rerun()
    st.caption("Traits and samples cannot be edited while it runs, and are frozen once there is a version.")
