"""Runs on a page: the choice of effort, the start, the progress, and what discovery and synthesis share."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic

import streamlit as st

from traitbench.contract.models import DEFAULT_EFFORT, Model, OperationKind, Progress, RunStarted, TrainEffort
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.display.pictures import empty_strip
from traitbench.display.text import ago, capitalised, count, plain
from traitbench.errors import DuplicateRun
from traitbench.local.training import most_settings
from traitbench_app.parts.controls import draw_title, is_open
from traitbench_app.parts.version_figures import label, names_of
from traitbench_app.shell import session
from traitbench_app.shell.permission import why_read_only
from traitbench_app.shell.service import attempt, client, guarded, version

Send = Callable[[], None]

KINDS: Mapping[OperationKind, str] = {
    "train": "Training",
    "retune": "Training again",
    "retrain": "Learning corrections",
    "discover": "Discovering traits",
    "synthesize": "Synthesizing samples",
}
"""What a run of each kind does, in words."""

_MOST_ROWS = 12
_SHORT_S, _LATE_S = 3.0, 2.0
_STARTED, _REPORTED = "train.started", "train.reported"

MISTAKES = "Mistakes"
"""The view of the page that lists the mistakes of the version in use."""

FOLDS = ("figures", "change", "refit")
"""The keys of the folded parts of the page, which are in its link while they are open."""


@dataclass(frozen=True)
class SearchChoice:
    """The search settings of a training."""

    effort: TrainEffort
    use_labels: bool


def pick_search() -> SearchChoice:
    """Draw the choice of effort and use of labels, both part of the link."""
    captions = {each: f"Up to {most_settings(each)} settings." for each in EFFORTS}
    effort = pick_effort(captions, key="effort", in_link=True)
    use_labels = st.toggle(
        "Also use the names of traits and poles",
        value=True,
        key="use_labels",
        bind="query-params",
        help="The names of a trait and its poles are a first estimate of its axis. They help most with few samples and "
        "plain names such as *angry* and *calm*. They can mislead if they name a style, or if you use a word in a "
        "special sense. Samples that a fit has not seen decide how much the names count; with hundreds, hardly at all.",
    )
    return SearchChoice(effort, use_labels)


def start(
    model: Model,
    asked: SearchChoice,
    *,
    reoptimize_params: bool = False,
    around: Callable[[Send], object] = lambda send: send(),
) -> None:
    """Start the training; a model that has a version needs `reoptimize_params`. An error is shown instead.

    `around` sends the request; it may do something before.
    """

    def send() -> None:
        client().models.train(
            model.handle, effort=asked.effort, use_labels=asked.use_labels, reoptimize_params=reoptimize_params
        )

    with attempt() as starting:
        around(send)
    if starting.done:
        session.store(_STARTED, (model.handle, asked.effort))
        st.rerun()


def in_link(model: Model, names: Mapping[str, str]) -> dict[str, str]:
    """The view as query parameters: what is open, the trait by name, and the choices of a training."""
    if model.state in ("draft", "failed"):
        return _choices()
    if model.state != "ready":
        return {}
    if session.on_screen("show", "") == MISTAKES:
        name = names.get(session.on_screen("trait", ""), session.on_screen("trait", ""))
        return {"show": MISTAKES, **({"trait": name} if name in names.values() else {})}
    opened = {key: "true" for key in FOLDS if is_open(key)}
    return opened | (_choices() if "refit" in opened else {})


def _choices() -> dict[str, str]:
    use_labels = session.get("use_labels", st.query_params.get("use_labels", "true"))
    off = {"use_labels": "false"} if str(use_labels).lower() == "false" else {}
    chosen = session.on_screen("effort", DEFAULT_EFFORT)
    words = next((word for effort, word in EFFORTS.items() if chosen in (effort, word)), EFFORTS[DEFAULT_EFFORT])
    return {"effort": words, **off}


def watch(model: Model, traits: Sequence[Trait], *, is_first: bool = False) -> None:
    """Draw the progress and poll it once a second; rerun the whole page when the model is no longer busy.

    `is_first` says whether its title is the first heading of the page.
    """

    @st.fragment(run_every=1.0)
    def look() -> None:
        with guarded():
            now = client().models.get(model.handle)
        if now.state != "busy":
            st.rerun()
        _draw_run(now, traits, is_first=is_first)

    look()


def _draw_run(model: Model, traits: Sequence[Trait], *, is_first: bool) -> None:
    """Draw what the run does, the time left, and how far each trait is; a short run has no more than its title."""
    last = model.last_operation
    kind, progress = last.kind if last else "train", progress_now(model)
    learns = kind in ("train", "retune", "retrain")
    samples = count(sum(each.sample_count for each in traits), "sample")
    in_use = f"v{model.version_no} keeps scoring until the run has ended" if model.version_no else ""
    title = f"Learning from {samples}" if learns else KINDS[kind]
    leave = f"You can leave this page; {in_use or 'the run continues'}."
    draw_title(title, f"{capitalised(time_left(progress))}. {leave}", is_first=is_first)
    if progress is None or progress.elapsed_s + max(progress.eta_s or 0, 0) < _SHORT_S:
        return
    run = f"Run `{last.run_id}`" if last and last.run_id else None
    with st.container(border=True, key="card.train.progress"):
        # Streamlit raises beyond these bounds, which rounding can pass.
        share = min(max(progress.fraction, 0.0), 1.0)
        st.progress(share, text=f"{_phase(progress, learns=learns)} · {share:.0%}")
        st.caption(f"{_clock(progress.elapsed_s)} so far.{_tries(model) if learns else ''}", help=run)
        if learns:
            _draw_traits(traits, progress)


def _tries(model: Model) -> str:
    """` Thorough: up to 135 settings for each trait.`; empty if the run was not started in this tab."""
    handle, effort = session.get(_STARTED, ("", DEFAULT_EFFORT))
    return (
        f" {EFFORTS[effort]}: up to {most_settings(effort)} settings for each trait." if handle == model.handle else ""
    )


def _phase(progress: Progress, *, learns: bool) -> str:
    """`1 of 3 traits done`, or `Encoding, 1,280 of 5,300`."""
    if learns and progress.phase == "learning":
        return f"{progress.done:,} of {count(progress.total, 'trait')} done"
    if learns and progress.phase == "encoding":
        return f"Reading texts: {progress.done:,} of {progress.total:,}"
    of = f", {progress.done:,} of {progress.total:,}" if progress.total > 1 else ""
    return f"{plain(progress.phase.capitalize())}{of}"


def _draw_traits(traits: Sequence[Trait], progress: Progress) -> None:
    """Draw a row for each trait, in the order in which they are fitted."""
    done = progress.done if progress.phase == "learning" else 0
    names = names_of(traits)
    for at, trait in enumerate(traits[:_MOST_ROWS]):
        is_next = progress.phase == "learning" and at == done
        state = "done" if at < done else "trying settings" if is_next else "waits"
        what, picture, samples = st.columns([1, 2.6, 1], vertical_alignment="center")
        what.markdown(f"**{plain(names[trait.key])}**  \n:gray[{state}]")
        words = f"{trait.name}, from {trait.negative_label} to {trait.positive_label}: {state}"
        picture.html(empty_strip(negative=trait.negative_label, positive=trait.positive_label, words=words, height=56))
        positive, negative = plain(trait.positive_label), plain(trait.negative_label)
        samples.markdown(
            f"{trait.positive_samples:,} :orange[{positive}]  \n{trait.negative_samples:,} :blue[{negative}]"
        )
    if len(traits) > _MOST_ROWS:
        st.caption(f"And {count(len(traits) - _MOST_ROWS, 'more trait')}.")


def _clock(seconds: float) -> str:
    whole = round(seconds)
    return f"{whole} s" if whole < 90 else f"{whole // 60} min {whole % 60} s"


def progress_now(model: Model) -> Progress | None:
    """The progress of the last run, whose times go on between two reports; None if it has not begun.

    A run reports when it has done something, which may be seconds ago. If that takes longer than it expected, the time
    left is negative.
    """
    last = model.last_operation
    if last is None or last.progress is None:
        return None
    progress = last.progress
    reported_at = session.once(f"{_REPORTED}.{model.handle}", (last.run_id, progress.elapsed_s), monotonic)
    passed = monotonic() - reported_at
    eta = None if progress.eta_s is None else progress.eta_s - passed
    return progress.model_copy(update={"elapsed_s": progress.elapsed_s + passed, "eta_s": eta})


def time_left(progress: Progress | None) -> str:
    """How long a run will take, in words: `about 4 s left`, `waiting in the queue`."""
    if progress is None:
        return "waiting in the queue"
    if progress.eta_s is None:
        return "time left unknown"
    if progress.eta_s < -_LATE_S:
        return "taking longer than expected"
    return "nearly done" if progress.eta_s < 1 else f"about {_clock(progress.eta_s)} left"


EFFORTS: Mapping[TrainEffort, str] = {"low": "Quick", "medium": "Normal", "high": "Thorough"}
"""The efforts that people choose among, each with its word."""


def pick_effort(captions: Mapping[TrainEffort, str] | None = None, *, key: str, in_link: bool = False) -> TrainEffort:
    """Draw the choice of effort with a caption for each, and return the chosen one, which may be part of the link."""
    return st.radio(
        "Effort",
        list(EFFORTS),
        index=list(EFFORTS).index(DEFAULT_EFFORT),
        format_func=EFFORTS.__getitem__,
        captions=[captions[effort] for effort in EFFORTS] if captions else None,
        horizontal=True,
        key=key,
        persist_state=None if in_link else "session",
        bind="query-params" if in_link else None,
    )


def begin(start: Callable[[], RunStarted], *, already: str) -> bool:
    """Start a run and return whether it started; `already` is shown if the same run was made before."""
    with attempt() as starting:
        try:
            start()
        except DuplicateRun as same:
            in_flight = same.details.get("status") != "succeeded"
            st.info("The same run is already in progress." if in_flight else already, icon=":material/content_copy:")
            return False
    return starting.done


def draw_failure(model: Model, *, what: str) -> bool:
    """Show why the model's last operation failed; return whether it did."""
    last = model.last_operation
    if last is None or last.status != "failed":
        return False
    reason = last.error.message if last.error else "The service gave no reason."
    st.error(
        f"**{what} that started {ago(last.started_at)} failed.** {plain(reason)}\n\nNothing was changed.",
        icon=":material/error:",
    )
    return True


def notes(model: Model) -> str:
    """The notes of the last run on its outcome, in markdown; empty if it has none."""
    progress = model.last_operation.progress if model.last_operation else None
    return " ".join(plain(note) for note in (progress.notes if progress else None) or ())


def draw_retune(model: Model, traits: Sequence[Trait], versions: Sequence[Version]) -> None:
    """Draw what training again does, and its start; `versions` newest first."""
    newest = versions[0]
    encoder = _chosen_encoder(next((v for v in versions if v.version_no == model.version_no), None))
    with st.container(key="train.retune"):
        if reason := why_no_search(model):
            st.markdown(f":material/lock: {reason}")
            return
        plan, choice = st.columns([3, 2], gap="large")
        with choice:
            asked = pick_search()
            nothing_new = encoder == _chosen_encoder(newest) and gains_nothing(model, newest, asked)
            if st.button(
                "Train again",
                icon=":material/manage_search:",
                key="train.retune.start",
                disabled=nothing_new,
                help="Training again would change nothing now." if nothing_new else None,
            ):
                start(model, asked, reoptimize_params=True)
        with plan:
            st.markdown(_plan(model, traits, newest, encoder))
            if nothing_new:
                st.info(
                    f"Training again would change nothing now: {label(newest)} has learned the same samples with the "
                    "same settings. Add samples or choose another effort first.",
                    icon=":material/info:",
                )


def why_no_search(model: Model) -> str:
    """Why the model cannot be trained again, in Markdown; empty if it can."""
    if model.zero_data_retention:
        return (
            "Zero data retention is on: the samples were removed after training, so it cannot be trained again. "
            f"v{model.version_no} keeps scoring. (The API returns `samples_purged`.)"
        )
    return why_read_only(model)


def gains_nothing(model: Model, newest: Version, asked: SearchChoice) -> bool:
    """Whether the newest version was fitted with these settings to these samples."""
    depth = (version(model.handle, newest).snapshot or {}).get("max_depth")
    metrics = newest.metrics
    wanted = (asked.effort, asked.use_labels, model.scoring_method, model.max_depth)
    had = (metrics.effort, metrics.use_labels, metrics.scoring_method, depth)
    return not model.retrain.pending and wanted == had and _was_searched(newest)


def _was_searched(version: Version) -> bool:
    """Whether a version comes from a search. A retraining from feedback reuses the settings of an earlier version."""
    searches = [trait.search for trait in version.metrics.traits.values()]
    return version.triggered_by in ("train", "retune") or any(
        search is not None and search.tried for search in searches
    )


def _chosen_encoder(version: Version | None) -> str | None:
    """The encoder that the model keeps with this version; None if it is that of the service."""
    encoder = None if version is None else version.metrics.encoder
    return None if encoder is None else encoder.chosen


def _plan(model: Model, traits: Sequence[Trait], newest: Version, encoder: str | None) -> str:
    total = sum(trait.sample_count for trait in traits)
    pending = model.retrain.pending
    feedback = f", {pending:,} of them corrections that wait" if pending else ""
    return (
        f"Learn from {count(total, 'sample')} again{feedback}. The result becomes "
        f"**v{newest.version_no + 1}** and is in use at once; you can switch back. Until then, or if the training "
        f"fails, v{model.version_no} keeps scoring.\n\n"
        f"The model's depth ({model.max_depth}) applies"
        f"{f', as does its encoder *{plain(encoder)}*' if encoder else ''}."
    )
