"""The samples of a model: its traits as tiles, the list with what it is narrowed to, and the picked sample."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.page import LARGEST_CHANGE_PAGE
from traitbench.contract.sample_changes import SampleChange
from traitbench.contract.samples import LONGEST_SEARCH, MOST_SAMPLES, Sample
from traitbench.contract.traits import Trait
from traitbench.errors import TraitbenchError
from traitbench_app.parts.controls import find
from traitbench_app.samples.downloads import draw_download
from traitbench_app.samples.editing import conflict_in, page_again, pick_sample, picked_sample, take_page_again
from traitbench_app.samples.held_out import draw_set_aside
from traitbench_app.samples.listed import Chip, Chosen, ChosenSamples, LoadedListing
from traitbench_app.samples.narrowing import A_PAGE, FIND, ROWS_SHOWN, narrow, press_tile, pressed_tile, show_all
from traitbench_app.samples.panel import PickedSample, draw_panel
from traitbench_app.samples.sample_list import ListedSample, ListEvent, changed_by, draw_list, list_data, row_of
from traitbench_app.samples.served import ServedListing
from traitbench_app.samples.synthesis import delete_synthesized
from traitbench_app.samples.tiles import TraitTile, draw_tiles
from traitbench_app.samples.unseen import ScoresOfSamples
from traitbench_app.samples.views import ViewName, go_to
from traitbench_app.shell import session
from traitbench_app.shell.navigation import page_link
from traitbench_app.shell.service import client, guarded, own_name, reader
from traitbench_app.workspace.samples import all_samples

_CHIP_NAMES: Mapping[Chip, str] = {
    "all": "All",
    "wrong": "wrong side",
    "test": "only test",
    "no group": "no group",
    "draft": "new in draft",
    "synthesized": "synthesized",
    "corrected": "corrected",
}
_WAYS: Mapping[ViewName, tuple[str, str]] = {
    "paste": ("Paste texts", "content_paste"),
    "import": ("From a file", "upload"),
    "synthesize": ("Write some for me", "auto_awesome"),
    "raters": ("Compare labels of people", "groups"),
}
_CHIP, _ORDER, _LAST = "samples.chip", "samples.order", "samples.last_changes"
_FARTHEST, _NEWEST = "Wrong side first", "Newest first"


@dataclass(frozen=True, eq=False)
class SamplesOnPage:
    """What the page shows: the model with its traits, its samples with their scores, and what they are narrowed to."""

    model: Model
    traits: Sequence[Trait]
    listing: LoadedListing | ServedListing
    scores: ScoresOfSamples
    chosen: Chosen
    editable: bool

    def trait_of(self, sample: Sample) -> Trait:
        """Return the trait of a sample."""
        return next(each for each in self.traits if each.key == sample.trait)

    def rows(self, samples: Sequence[Sample]) -> list[ListedSample]:
        """Return what the list shows of samples, with who changed each last."""
        seen = tuple((each.id, each.revision) for each in samples)
        last = session.once(_LAST, (reader(), self.model.handle, seen), lambda: self._last_changes(samples))
        name = own_name()
        return [self._row(each, changed_by(each, last.get(each.id), name)) for each in samples]

    def _last_changes(self, samples: Sequence[Sample]) -> Mapping[int, SampleChange]:
        """Return the last change of each sample by its id; one without a recent change is missing."""
        ids = [each.id for each in samples][:MOST_SAMPLES]
        try:
            page = client().samples.changes(self.model.handle, sample_ids=ids, limit=LARGEST_CHANGE_PAGE).items
        except TraitbenchError:
            return {}
        # The newest comes first, so it is set last.
        return {own.sample_id: change for change in reversed(page) for own in change.samples}

    def _row(self, sample: Sample, by: str) -> ListedSample:
        unseen = self.scores.of(sample)
        sureness = "low" if unseen is None else self.scores.sureness(sample.trait, unseen.points)
        changed = sample.id in (self.scores.changed or ())
        return row_of(sample, self.trait_of(sample), unseen, sureness, changed=changed, by=by)

    def looks_wrong(self) -> int:
        """Return how many samples score clearly on the other side."""
        return self.listing.looks_wrong(lambda trait, points: self.scores.sureness(trait, points) == "high")


def draw_samples(shown: SamplesOnPage) -> None:
    """Draw the tiles, the list, and the panel of the picked sample."""
    listing = shown.listing
    tiles = [
        TraitTile(trait, *listing.at_poles(trait.key), listing.score_counts(trait.key) if listing.has_scores else None)
        for trait in shown.traits
        if trait.kind == "extrinsic" or any(listing.at_poles(trait.key))
    ]
    draw_tiles(tiles, pressed=pressed_tile(shown.chosen), on_press=partial(press_tile, shown.traits, shown.chosen))
    _draw_list_and_panel(shown)


@st.fragment
def _draw_list_and_panel(shown: SamplesOnPage) -> None:
    with guarded():
        _draw_both(shown)


def _draw_both(shown: SamplesOnPage) -> None:
    if take_page_again():
        st.rerun()
    listed = shown.listing.find(shown.chosen)
    rows = listed.first(session.get(ROWS_SHOWN, A_PAGE))
    at = next((position for position, sample in enumerate(rows) if sample.id == picked_sample()), 0)
    # While two versions of a sample are to be chosen from, the keys are theirs.
    has_panel = bool(rows) and conflict_in(shown.model.handle) is None
    left, right = st.columns([2.17, 1], gap="small") if has_panel else (st.container(), None)
    with left, st.container(border=True, key="card.samples", gap=None):
        _draw_bar(shown)
        if rows:
            data = list_data(
                shown.rows(rows),
                listed.count,
                picked=rows[at].id,
                scored=shown.listing.has_scores,
                order=_order_of(shown),
                step=A_PAGE,
            )
            draw_list(data, on_event=partial(_hear, len(rows)))
        else:
            _draw_no_match(shown.traits)
    if right is not None:
        with right, st.container(key="samples-panel"):
            draw_panel(_picked(shown, listed, rows, at))


def _hear(rows: int, event: ListEvent) -> None:
    if event.kind == "pick":
        pick_sample(event.sample_id)
    elif event.kind == "more":
        session.store(ROWS_SHOWN, rows + A_PAGE)
    else:
        open_view("paste")


def _order_of(shown: SamplesOnPage) -> str:
    return (
        "newest first"
        if shown.chosen.newest_first or not shown.listing.has_scores
        else "farthest from their label first"
    )


def _picked(shown: SamplesOnPage, listed: ChosenSamples, rows: Sequence[Sample], at: int) -> PickedSample:
    sample = rows[at]
    return PickedSample(
        shown.model,
        shown.traits,
        sample,
        at + 1,
        listed.count,
        rows[at - 1].id if at else None,
        rows[at + 1].id if at + 1 < len(rows) else None,
        shown.scores,
        copies=shown.listing.copies_of(sample),
        in_group=shown.listing.in_group_of(sample),
        editable=shown.editable,
    )


# ---- the bar above the list ------------------------------------------------------------------------------------------


def _draw_bar(shown: SamplesOnPage) -> None:
    chosen, chips = shown.chosen, shown.listing.chips()
    with st.container(horizontal=True, vertical_alignment="center", key="samples-bar"):
        session.put({_CHIP: chosen.chip, _ORDER: _NEWEST if chosen.newest_first else _FARTHEST})
        st.pills(
            "Show",
            [*dict.fromkeys([*chips, chosen.chip])],
            required=True,
            format_func=lambda chip: f"{_CHIP_NAMES[chip]} {chips.get(chip, 0):,}",
            key=_CHIP,
            label_visibility="collapsed",
            on_change=_narrow_to_chip,
            args=(shown,),
            persist_state="page",
        )
        if chosen.ids:
            st.button(
                "Show all samples", type="tertiary", key="samples.clear", on_click=_show_all, args=(shown.traits,)
            )
        st.space("stretch")
        if shown.listing.has_scores:
            st.selectbox(
                "Order",
                [_FARTHEST, _NEWEST],
                key=_ORDER,
                label_visibility="collapsed",
                width=170,
                on_change=_put_in_order,
                args=(shown,),
                persist_state="page",
            )
        if find(FIND, "Find in texts", most=LONGEST_SEARCH) != chosen.words:
            st.rerun()
        if shown.editable:
            draw_add(shown.model)


def draw_add(model: Model) -> None:
    """Draw the ways to bring samples."""
    with st.popover("Add", icon=":material/add:", key="samples.add_menu"):
        for view, (name, icon) in _WAYS.items():
            st.button(
                name,
                icon=f":material/{icon}:",
                type="tertiary",
                key=f"samples.add.{view}",
                on_click=open_view,
                args=(view,),
            )
        page_link("label", "Label texts one by one")


def open_view(view: ViewName) -> None:
    """Open a view of this page. A callback, which may be in the fragment of the list."""
    go_to(view)
    page_again()


def _narrow_to_chip(shown: SamplesOnPage) -> None:
    narrow(shown.traits, replace(shown.chosen, chip=st.session_state[_CHIP]))
    page_again()


def _put_in_order(shown: SamplesOnPage) -> None:
    narrow(shown.traits, replace(shown.chosen, newest_first=st.session_state[_ORDER] == _NEWEST))
    page_again()


def _draw_no_match(traits: Sequence[Trait]) -> None:
    with st.container(key="samples.nothing", horizontal=True, vertical_alignment="center"):
        st.markdown("**No samples match.**", width="content")
        st.button(
            "Show all samples",
            icon=":material/filter_alt_off:",
            key="samples.show_all",
            on_click=_show_all,
            args=(traits,),
        )


def _show_all(traits: Sequence[Trait]) -> None:
    show_all(traits)
    page_again()


def draw_end(shown: SamplesOnPage) -> None:
    """Draw what is below the list: the list as a file, and what is done with many samples at once."""
    with st.container(horizontal=True, vertical_alignment="center", key="samples.end"):
        draw_download(shown.model.handle, lambda: shown.listing.find(shown.chosen).first(shown.listing.total))
        if shown.editable and shown.model.state != "ready":
            delete_synthesized(shown.model, shown.listing.synthesized())
    if shown.editable and shown.model.state != "ready":
        every = partial(all_samples, shown.model.handle, shown.traits)
        draw_set_aside(shown.model, shown.traits, shown.listing.tests, every)
