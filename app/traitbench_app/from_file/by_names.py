"""A file scored by two words alone: how its texts are shared between them, and which twenty to label first.

Nothing is stored until a model is made of the texts and the two words, which then wait on Label.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st

from traitbench.analysis.active_learning import LabelQueue
from traitbench.contract.samples import text_hash
from traitbench.contract.traits import TraitInput
from traitbench.display.pictures import shares, small_bar
from traitbench.display.text import count, isolated, plain, shortened
from traitbench.local.label_session import MOST_RANKED
from traitbench.local.names import FEWEST_LIFTING, NameScore, NamesScorer, NoNamesAxis, Vectors, scorer_by_names
from traitbench.local.vectors import vectors_of
from traitbench.names import slug
from traitbench.tables.rows import Row
from traitbench_app.parts.background_work import draw_end_of_work, draw_resume, watch_work
from traitbench_app.parts.chart import download_table
from traitbench_app.parts.controls import draw_title, question
from traitbench_app.parts.model_actions import free_name
from traitbench_app.parts.upload import UploadedTable
from traitbench_app.shell import people, session
from traitbench_app.shell.navigation import open_page
from traitbench_app.shell.service import attempt, client
from traitbench_app.workspace import background, pool
from traitbench_app.workspace.background import BackgroundWork, Full, State
from traitbench_app.workspace.batches import MOST_ROWS
from traitbench_app.workspace.pool import NoPool

FIRST = 20
"""How many texts are shown that matter most to label."""

Poles = tuple[str, str]

_WORK = "from_file.by_names"
_AT_ONCE = 64
_MOST_SHOWN, _CUT, _FIRST_CUT = 5_000, 300, 160
_PALE = 0.4


@dataclass(frozen=True)
class ScoredByNames:
    """What two words say of the different texts of a file, by the text; `first` are those to label first."""

    at: Mapping[str, NameScore]
    first: Sequence[str]
    is_lifted: bool


class ScoringByNames(BackgroundWork):
    """Encodes the different texts of a file, then scores all of them by two words."""

    def __init__(self, scorer: NamesScorer, texts: Sequence[str], *, owner: str) -> None:
        # By hash, as the pool on Label has them, so that the same texts are typical there.
        self.texts = dict(sorted({text_hash(text): text for text in texts}.items()))
        super().__init__(total=len(self.texts), owner=owner)
        self.scorer = scorer
        self.scored: ScoredByNames | None = None

    @property
    def handles(self) -> tuple[str, ...]:
        """There is no model yet."""
        return ("two words",)

    def work(self) -> State:
        """Encode the texts, a few at a time; those that were encoded before are in memory, for Label too."""
        rows, texts = list[Vectors](), [*self.texts.items()]
        for start in range(0, len(texts), _AT_ONCE):
            if self.asked_to_stop:
                return "stopped"
            some = dict(texts[start : start + _AT_ONCE])
            known = vectors_of(self.scorer.version.encoder, some, on_progress=lambda _done, _total: None)
            rows.append(np.array([known[key] for key in some], np.float32))
            self.done = start + len(some)
        X, different = np.concatenate(rows), [*self.texts.values()]
        scorer = self.scorer.lifted(X)
        at = scorer.score_vectors(X)
        prior = np.array([each.score for each in at[:MOST_RANKED]], np.float64)
        queue = LabelQueue(X[:MOST_RANKED], prior)
        first = queue.first("informative", FIRST, free=np.ones(len(prior), bool))
        self.scored = ScoredByNames(
            dict(zip(different, at, strict=True)), [different[each] for each in first], len(X) >= FEWEST_LIFTING
        )
        return "done"


def draw_by_names(upload: UploadedTable, column: str, poles: Poles, owned: Sequence[str], *, order: str) -> None:
    """Draw the texts of the file between two words: the wait, and the result.

    `order` is the name of the order on Label that begins with the texts to label first.
    """
    if upload.source.count > MOST_ROWS:
        st.error(f"**The file has {upload.source.count:,} rows; this page takes up to {MOST_ROWS:,}.**")
        return
    try:
        work = _work_on(upload, column, poles)
    except (NoNamesAxis, Full) as reason:
        st.error(str(reason), icon=":material/error:")
        return
    if work is None:
        st.info("This column has no texts. Choose another one.", icon=":material/help:")
    elif work.state == "running":
        watch_work(work, f"Scoring between **{plain(poles[0])}** and **{plain(poles[1])}**", unit="text", key=_WORK)
    elif work.scored is None:
        draw_end_of_work(work, "scoring", unit="text")
        draw_resume(work, key=f"{_WORK}.resume")
    else:
        _draw_result(_texts(upload, column), work.scored, poles, upload.name, owned, order)


def _texts(upload: UploadedTable, column: str) -> list[str]:
    """The texts of the rows; empty ones are left out."""
    rows = (row.cells.get(column, "").strip() for row in upload.source.lines() if isinstance(row, Row))
    return [text for text in rows if text]


def _work_on(upload: UploadedTable, column: str, poles: Poles) -> ScoringByNames | None:
    """The work on the texts of the column between the poles, started if it is new; None without a text."""
    about, person = (upload.key, upload.way, column, poles), people.current().id
    stored: tuple[object, str] = session.get(_WORK, (None, ""))
    work = background.find(stored[1], ScoringByNames, owner=person) if stored[0] == about else None
    if work is None:
        background.discard(stored[1])
        texts = _texts(upload, column)
        if not texts:
            return None
        work = ScoringByNames(scorer_by_names(*poles), texts, owner=person)
        background.start(work)
        session.store(_WORK, (about, work.id))
    return work


def _draw_result(
    texts: Sequence[str], scored: ScoredByNames, poles: Poles, file: str, owned: Sequence[str], order: str
) -> None:
    at = [scored.at[text] for text in texts]
    sides_of = [each.positive for each in at]
    negative, neither, positive = (sides_of.count(side) for side in (False, None, True))
    lifted = (
        "turned towards what the texts of this file differ in"
        if scored.is_lifted
        else f"as they are: {FEWEST_LIFTING} texts or more would sharpen them"
    )
    draw_title(
        f"{_share(positive, at)} nearer to {plain(poles[1])}, {_share(negative, at)} nearer to {plain(poles[0])}, "
        f"{_share(neither, at)} no clear side",
        f":gray-badge[not tested] From the two words alone, {lifted}. How often that is right is not known yet: label "
        f"{count(len(scored.first), 'text')}, and the model says it.",
    )
    st.html(shares(negative, neither, positive, negative=poles[0], positive=poles[1], opacity=_PALE))
    table, first = st.columns([1.8, 1], gap="small")
    with table, question("What do the two words say of each text?", key="by_names", note="not tested"):
        _draw_table(texts, at, poles, file)
    with first, question("Label these first", key="label_first"):
        st.caption("Typical texts of every kind, then those that the two words leave open: their labels matter most.")
        if st.button("Label them", type="primary", icon=":material/label:", shortcut="L", key="from_file.label_first"):
            _label(owned[0], poles, texts, file, order)
        for text in scored.first:
            st.markdown(f":small[{plain(shortened(text, _FIRST_CUT))}]")


def _share(number: int, of: Sequence[object]) -> str:
    return f"{round(100 * number / len(of))} %"


def _draw_table(texts: Sequence[str], at: Sequence[NameScore], poles: Poles, file: str) -> None:
    score = "Score, not tested"
    sides = {None: "no clear side", False: f"nearer to {poles[0]}", True: f"nearer to {poles[1]}"}
    whole = pd.DataFrame(
        {"Text": texts, score: [each.score for each in at], "Side": [sides[each.positive] for each in at]}
    )
    shown = whole.sort_values(score, ascending=False, kind="stable")
    if len(shown) > _MOST_SHOWN:
        st.caption(f"The {_MOST_SHOWN:,} texts with the highest scores are shown; the download has all.")
        shown = shown.head(_MOST_SHOWN)
    bars = [
        small_bar(each, "low" if side == sides[None] else "moderate")
        for each, side in zip(shown[score], shown["Side"], strict=True)
    ]
    st.dataframe(
        shown.assign(Text=shown["Text"].str.slice(0, _CUT)).assign(**{"–": bars})[["Text", "–", score]],
        hide_index=True,
        width="stretch",
        key="from_file.by_names_table",
        column_config={
            "Text": st.column_config.TextColumn(width=320),
            "–": st.column_config.ImageColumn(" – ".join(map(isolated, poles)), width=130),
            score: st.column_config.NumberColumn(width=120),
        },
        alt="The texts of the file with their scores by the two words",
    )
    with st.container(horizontal=True, horizontal_alignment="right"):
        download_table(whole, key="from_file.by_names", file_name=f"{Path(file).stem}-by-two-words")


def _label(namespace: str, poles: Poles, texts: Sequence[str], file: str, order: str) -> None:
    """Make a draft of the two words, put the texts beside it, and open Label in the order of this page."""
    negative, positive = poles
    trait = TraitInput(name=f"{negative} or {positive}"[:80], positive_label=positive, negative_label=negative)
    with attempt() as making, st.spinner("Adding the texts"):
        model = client().models.create(f"{namespace}.{free_name(namespace, slug(trait.name) or 'two-words', end='')}")
        client().traits.add(model.handle, [trait])
        try:
            added = pool.add(model.handle, texts, file)
        except NoPool as reason:
            st.error(str(reason), icon=":material/error:")
            return
    if making.done:
        session.flash(f"{plain(model.handle)} was created. {count(added, 'text')} to label.")
        open_page("label", model=model.handle, queue=order)
