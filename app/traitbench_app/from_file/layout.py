"""What was found in a file: its columns with their roles, the model that they make, and what is not used."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from traitbench.contract.samples import SampleInput
from traitbench.contract.traits import TraitInput
from traitbench.display.pictures import balance
from traitbench.display.text import count, plain, shortened
from traitbench.display.tokens import token
from traitbench.local import held_out
from traitbench.names import no_name, slug
from traitbench.tables.labelled import (
    Column,
    Role,
    Shape,
    TraitFound,
    check_all,
    columns_of,
    layout_of,
    order_of,
    traits_of,
)
from traitbench.tables.rows import Table
from traitbench.tables.sample_files import Checked, to_mend, unlabelled
from traitbench.tables.writing import csv_file
from traitbench_app.parts.controls import download, question
from traitbench_app.parts.model_actions import free_name, handle_fields
from traitbench_app.parts.upload import UploadedTable
from traitbench_app.shell import session
from traitbench_app.shell.service import field_error

_READ, _CHECKED, _NAME = "from_file.read", "from_file.checked", "from_file.name"
_ROWS, _COLUMNS, _NAMED, _DECIDED = 5, 6, 6, 6
_NOUNS = ("review", "comment", "message", "sentence", "answer", "sample")
_STYLE = """
<style>
.st-key-card-columns [data-testid="stHorizontalBlock"] { overflow-x: auto; }
.st-key-card-columns [data-testid="stColumn"] { min-width: 8.5rem; }
</style>
"""


@dataclass(frozen=True)
class Plan:
    """The model that a file makes. The trait of a sample is its position among the traits.

    `source` is the name of the file, `example` a text to score first, `said` what became of the rows.
    """

    handle: str
    traits: tuple[TraitInput, ...]
    samples: tuple[SampleInput, ...]
    source: str
    example: str
    said: str


@dataclass(frozen=True)
class Layout:
    """A file with the roles of its columns as they are chosen now."""

    upload: UploadedTable
    table: Table
    columns: tuple[Column, ...]
    roles: tuple[Role, ...]

    def named(self, role: Role) -> list[str]:
        """Return the names of the columns with a role."""
        return [column.name for column, own in zip(self.columns, self.roles, strict=True) if own == role]

    @property
    def text(self) -> str | None:
        """The column of the texts."""
        return next(iter(self.named("text")), None)

    @property
    def texts(self) -> list[str]:
        """The different texts of the file."""
        cells = (row.cells.get(self.text or "", "").strip() for row in self.table.rows)
        return [text for text in dict.fromkeys(cells) if text]


def found_in(upload: UploadedTable) -> Layout:
    """Return what a file has, which is guessed once, with the roles that the person chose."""
    with st.spinner("Looking at the columns"):
        table = upload.source.whole
        columns = session.once(_READ, upload.key, lambda: columns_of(table))
    roles = tuple(session.get(_role_key(upload, position), each.role) for position, each in enumerate(columns))
    return Layout(upload, table, columns, roles)


# ---- the columns -----------------------------------------------------------------------------------------------------


def draw_columns(layout: Layout) -> None:
    """Draw the first rows below the role of each column; of many columns, texts and labels come first."""
    positions = list(range(len(layout.columns)))
    first = sorted(positions, key=lambda position: layout.roles[position] not in ("text", "label"))[:_COLUMNS]
    with st.container(border=True, key="card.columns"):
        st.html(_STYLE)
        # Few columns stay in the order of the file.
        shown = sorted(first) if len(positions) <= _COLUMNS else first
        widths = [4.0 if layout.roles[position] == "text" else 1.0 for position in shown]
        for position, column in zip(shown, st.columns(widths, wrap=False), strict=True):
            with column:
                _pick_role(layout, position)
                st.html(_cells(layout, position))
        if rest := [position for position in positions if position not in first]:
            with st.expander(count(len(rest), "more column")), st.grid(4, min_column_width=180):
                for position in rest:
                    _pick_role(layout, position)


def _role_key(upload: UploadedTable, position: int) -> str:
    return f"{upload.key}.role.{position}"


def _pick_role(layout: Layout, position: int) -> None:
    column, role = layout.columns[position], layout.roles[position]
    offered: tuple[Role, ...] = ("text", "label", "unused") if column.shapes else ("text", "unused")
    options = list(dict.fromkeys((*offered, column.role, role)))
    names = {
        "text": "Text",
        "label": f"Label: {len(column.kinds or {})} kinds",
        "test": "Test samples",
        "source": "Keep as source",
        "unused": "Not used",
    }
    _begin(_role_key(layout.upload, position), role)
    st.selectbox(
        plain(column.name),
        options,
        format_func=lambda each: names[each],
        key=_role_key(layout.upload, position),
        on_change=_one_text,
        args=(layout, position),
        persist_state="page",
    )


def _one_text(layout: Layout, position: int) -> None:
    """Let the column that was chosen for the texts be the only one. A callback."""
    if session.get(_role_key(layout.upload, position)) == "text":
        others = [each for each, role in enumerate(layout.roles) if role == "text" and each != position]
        session.put({_role_key(layout.upload, each): "unused" for each in others})


def _cells(layout: Layout, position: int) -> str:
    """The first cells of a column as HTML, one line each."""
    role, name = layout.roles[position], layout.columns[position].name
    missing = f"no {role}" if role in ("text", "label") else ""
    cells = []
    for row in layout.table.rows[:_ROWS]:
        cell = shortened(row.cells.get(name, ""), 200)
        ink = token("ink-3" if role == "unused" or not cell else "ink")
        cells.append(
            f'<div style="height:32px;line-height:32px;font-size:13px;white-space:nowrap;overflow:hidden;color:{ink};'
            f'text-overflow:ellipsis;border-top:1px solid {token("line")}">{escape(cell or missing)}&nbsp;</div>'
        )
    return "".join(cells)


# ---- the model -------------------------------------------------------------------------------------------------------


def draw_plan(layout: Layout, owned: Sequence[str]) -> tuple[Plan | None, str]:
    """Draw the model that the labels make and what is not used; return it, or None and why it cannot be created."""
    left, right = st.columns([1.8, 1], gap="small")
    with right, question("The model", key="plan"):
        handle, why = _name(layout, owned)
        traits, pictures, problem = _traits(layout)
    with left, draw_unused(layout):
        traits = _decided(layout, traits)
        checked, blank = _checked(layout, traits)
        _draw_rows(layout, checked)
        samples = _draw_tests(layout, checked.samples)
    _draw_balances(layout, traits, samples, pictures)
    why = why or problem or _missing(traits, samples)
    if why or not handle:
        return None, why
    used, rows = len({*checked.lines}), layout.upload.source.count
    # A text that the model will not have learned, if there is one.
    unseen = [*blank[:1], *(each.text for each in samples if each.held_out), samples[0].text]
    said = f"{used:,} of {count(rows, 'row')} in {layout.upload.name} became samples."
    return Plan(handle, _inputs(traits), samples, layout.upload.name, unseen[0], said), ""


def _inputs(traits: Sequence[TraitFound]) -> tuple[TraitInput, ...]:
    """The traits for the service. A key is given where the names give none, or the same for several traits."""
    slugs = [slug(each.name) for each in traits]
    return tuple(
        TraitInput(
            name=each.name,
            key=None if own and slugs.count(own) == 1 else f"trait-{number}",
            positive_label=each.positive,
            negative_label=each.negative,
        )
        for number, (each, own) in enumerate(zip(traits, slugs, strict=True), start=1)
    )


def _name(layout: Layout, owned: Sequence[str]) -> tuple[str, str]:
    """Draw the fields of the handle, for which a free name is proposed; return it, or why it is not valid."""
    stem = slug(Path(layout.upload.name).stem) or "my-model"
    free = session.once(_NAME, layout.upload.key, lambda: free_name(owned[0], stem, end=""))
    namespace, name = handle_fields(layout.upload.key, owned, name=free)
    return (f"{namespace}.{name}", "") if name else ("", no_name(name))


def _traits(layout: Layout) -> tuple[list[TraitFound], list[DeltaGenerator], str]:
    """Draw the traits of each label column with their fields; return also the places of their pictures."""
    traits, pictures, slots = list[TraitFound](), list[DeltaGenerator](), list[DeltaGenerator]()
    for position, column in enumerate(layout.columns):
        if layout.roles[position] != "label" or not column.kinds:
            continue
        shape, order = _pick_shape(layout, position, column)
        for number, guess in enumerate(traits_of(column.name, column.kinds, shape, order=order)):
            trait, picture, slot = _fields(f"{layout.upload.key}.{position}.{shape}.{number}", guess)
            traits.append(trait)
            pictures.append(picture)
            slots.append(slot)
    return traits, pictures, _check_names(traits, slots)


def _pick_shape(layout: Layout, position: int, column: Column) -> tuple[Shape, list[str] | None]:
    """Draw the one question about a column with more than two kinds, and the order of a scale."""
    kinds = column.kinds or {}
    if len(column.shapes) < 2:
        return column.shapes[0], None
    sides = traits_of(column.name, kinds, "sides")[0] if "sides" in column.shapes else None
    names: dict[Shape, str] = {
        "sides": f"Two sides: {sides.negative} and {sides.positive}" if sides else "",
        "each": "One trait each, against the rest",
        "order": "An order",
    }
    shape = st.radio(
        f"“{plain(column.name)}” has {len(kinds)} kinds",
        column.shapes,
        format_func=lambda each: names[each],
        key=f"{layout.upload.key}.shape.{position}",
        persist_state="page",
    )
    order = None
    if shape == "order":
        known = order_of(kinds)
        order = st.multiselect(
            "From the lowest to the highest",
            known,
            known,
            key=f"{layout.upload.key}.order.{position}",
            persist_state="page",
        )
    return shape, order


def _fields(key: str, guess: TraitFound) -> tuple[TraitFound, DeltaGenerator, DeltaGenerator]:
    """Draw the name and the poles of a trait as fields, and the button that exchanges its sides."""
    is_swapped = bool(session.get(f"{key}.swapped"))
    trait = guess.swapped() if is_swapped else guess
    for side in ("name", "negative", "positive"):
        _begin(f"{key}.{side}", getattr(guess, side))
    name = st.text_input(f"Trait from “{plain(guess.column)}”", key=f"{key}.name", max_chars=80, persist_state="page")
    picture = st.empty()
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        negative = st.text_input(
            "Left side", key=f"{key}.negative", max_chars=80, label_visibility="collapsed", persist_state="page"
        )
        st.button(
            "",
            icon=":material/swap_horiz:",
            key=f"{key}.swap",
            help="Exchange the sides",
            type="tertiary",
            on_click=_swap,
            args=(key,),
        )
        positive = st.text_input(
            "Right side", key=f"{key}.positive", max_chars=80, label_visibility="collapsed", persist_state="page"
        )
    named = replace(trait, name=name.strip(), negative=negative.strip(), positive=positive.strip())
    return named, picture, st.empty()


def _begin(key: str, value: str) -> None:
    """Give a widget its first value. It has no default, because a callback may set it too."""
    if session.get(key) is None:
        session.put({key: value})


def _swap(key: str) -> None:
    """Exchange the sides with their names. A button callback."""
    session.put({f"{key}.negative": session.get(f"{key}.positive"), f"{key}.positive": session.get(f"{key}.negative")})
    session.store(f"{key}.swapped", not session.get(f"{key}.swapped"))


def _check_names(traits: Sequence[TraitFound], slots: Sequence[DeltaGenerator]) -> str:
    """Show below its fields what is wrong with a trait, and return the first of these sentences."""
    names = Counter(each.name.casefold() for each in traits)
    first = ""
    for trait, slot in zip(traits, slots, strict=True):
        wrong = ""
        if not (trait.name and trait.negative and trait.positive):
            wrong = "Give the trait a name, and name both sides."
        elif names[trait.name.casefold()] > 1:
            wrong = "Two traits have this name. Use two different ones."
        elif trait.negative.casefold() == trait.positive.casefold():
            wrong = "Both sides have the same name. Use two different ones."
        if wrong:
            field_error(slot, wrong)
        first = first or wrong
    return first


def _draw_balances(
    layout: Layout, traits: Sequence[TraitFound], samples: Sequence[SampleInput], pictures: Sequence[DeltaGenerator]
) -> None:
    """Draw how many texts each side of a trait has, and how many rows have no label."""
    for number, (trait, picture) in enumerate(zip(traits, pictures, strict=True)):
        own = [each.quality for each in samples if each.trait == str(number)]
        above, below = sum(each > 0.5 for each in own), sum(each < 0.5 for each in own)
        blank = sum(not row.cells.get(trait.column, "").strip() for row in layout.table.rows)
        between = len(own) - above - below
        notes = [f"{count(between, 'text')} in the middle." if between else ""]
        notes.append(f"{count(blank, 'row has', 'rows have')} no label here." if blank else "")
        with picture.container(gap=None):
            st.html(balance(below, above, negative=trait.negative, positive=trait.positive))
            if any(notes):
                st.caption(" ".join(note for note in notes if note))


def _missing(traits: Sequence[TraitFound], samples: Sequence[SampleInput]) -> str:
    """Which trait has a side without texts to train with."""
    for number, trait in enumerate(traits):
        own = [each.quality for each in samples if each.trait == str(number) and not each.held_out]
        for side, there in ((trait.negative, any(q < 0.5 for q in own)), (trait.positive, any(q > 0.5 for q in own))):
            if not there:
                return f"{trait.name} has no text that is {side}."
    return ""


# ---- what is not used ------------------------------------------------------------------------------------------------


def draw_unused(layout: Layout) -> DeltaGenerator:
    """Draw each column that is not used with the reason; one that could be a label can become one. Return the card."""
    with question("What is not used", key="unused"):
        _draw_columns_left_out(layout)
        return st.container()


def _draw_columns_left_out(layout: Layout) -> None:
    reasons: dict[str, list[str]] = {}
    offered = []
    for position, column in enumerate(layout.columns):
        if layout.roles[position] != "unused":
            continue
        if column.shapes and column.role != "label":
            offered.append(position)
        else:
            reasons.setdefault(column.reason or "You left it out.", []).append(column.name)
    if source := layout.named("source"):
        reasons["Stays with each text as its source."] = source
    _draw_list([(_names(names), plain(reason)) for reason, names in reasons.items()])
    for position in offered[:_NAMED]:
        column = layout.columns[position]
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            st.markdown(f"**{plain(column.name)}**: {plain(column.reason)}", width="content")
            st.button(
                "Add as a label",
                type="tertiary",
                key=f"{layout.upload.key}.add.{position}",
                on_click=session.put,
                args=({_role_key(layout.upload, position): "label"},),
            )
    if more := [layout.columns[position].name for position in offered[_NAMED:]]:
        _draw_list([(_names(more), "Could be labels. Choose Label above.")])


def _draw_list(lines: Sequence[tuple[str, str]]) -> None:
    """Draw what is not used, and why, in Markdown."""
    if lines:
        st.markdown("\n".join(f"- **{what}**: {why}" for what, why in lines))


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return f"{', '.join(map(plain, names[:_NAMED]))}{more}"


def _decided(layout: Layout, traits: Sequence[TraitFound]) -> list[TraitFound]:
    """Draw each label at neither pole with the decision about it, and return the traits with these decisions."""
    result = []
    for number, trait in enumerate(traits):
        middle = {}
        for word, times in list(trait.neither.items())[:_DECIDED]:
            st.markdown(
                f"“{plain(trait.column)}” says “{plain(shortened(word, 60))}” in {count(times, 'row')}. It is neither "
                f"{plain(trait.negative)} nor {plain(trait.positive)}."
            )
            decision = st.segmented_control(
                word,
                ["Leave out", "Middle"],
                default="Leave out",
                required=True,
                key=f"{layout.upload.key}.neither.{number}.{word}",
                label_visibility="collapsed",
                persist_state="page",
            )
            if decision == "Middle":
                middle[word] = 0.5
        if rest := list(trait.neither)[_DECIDED:]:
            words = ", ".join(f"“{plain(shortened(word, 60))}”" for word in rest)
            st.markdown(f"“{plain(trait.column)}” also says {words}. These rows are left out.")
        result.append(replace(trait, words={**trait.words, **middle}))
    return result


def _checked(layout: Layout, traits: Sequence[TraitFound]) -> tuple[Checked, list[str]]:
    """The samples of the file and its texts without a label, which are read once for every choice."""
    used = [(each.column, tuple(each.words.items()), tuple(each.neither)) for each in traits]
    chosen = (layout.upload.key, layout.roles, used)
    test, source = (next(iter(layout.named(role)), None) for role in ("test", "source"))
    columns = layout_of(layout.text or "", traits, test=test)
    return session.once(
        _CHECKED,
        chosen,
        lambda: (check_all(layout.table, columns, source=source), unlabelled(layout.table, columns)),
    )


def _draw_rows(layout: Layout, checked: Checked) -> None:
    """Draw how many rows give no sample for which reason, and offer them as a file."""
    lines: dict[tuple[str, str], list[int]] = {}
    for problem in checked.problems:
        lines.setdefault((problem.column, problem.reason), []).append(problem.row)
    listed = []
    for (column, reason), rows in lines.items():
        what = f"“{plain(column)}” {plain(reason)}" if column else plain(reason)
        listed.append((count(len(rows), "row"), f"{what} ({_lines_named(rows)})."))
    _draw_list(listed)
    if lines:
        download(
            "Download these rows",
            partial(csv_file, *to_mend(layout.table, checked)),
            "rows-not-used.csv",
            key="from_file.rows",
        )
    elif all(role != "unused" for role in layout.roles):
        st.caption("Everything in the file is used.")


def _lines_named(lines: Sequence[int]) -> str:
    """`line 41`, `lines 41 and 207`, `lines 3, 5, 8 and 12 more`."""
    if len(lines) == 1:
        return f"line {lines[0]:,}"
    shown = [f"{line:,}" for line in lines[: _NAMED if len(lines) > _NAMED else -1]]
    last = f"{len(lines) - _NAMED:,} more" if len(lines) > _NAMED else f"{lines[-1]:,}"
    return f"lines {', '.join(shown)} and {last}"


def _draw_tests(layout: Layout, samples: Sequence[SampleInput]) -> tuple[SampleInput, ...]:
    """Draw how many texts are set aside for testing, and return the samples with this mark."""
    if test := layout.named("test"):
        tests = len({each.text for each in samples if each.held_out})
        st.markdown(f"**{count(tests, 'text is', 'texts are')} set aside for testing**, as “{plain(test[0])}” says.")
        return tuple(samples)
    aside = frozenset(held_out.aside(samples).ids) if samples else frozenset[int]()
    if not aside:
        st.caption(
            f"No texts are set aside for testing: that takes {2 * held_out.AT_LEAST} different texts at each side."
        )
        return tuple(samples)
    texts = len({samples[position].text for position in aside})
    wanted = st.toggle(
        f"Set {count(texts, 'text')} aside for testing",
        value=True,
        key=f"{layout.upload.key}.tests",
        help="No version learns from them, so later versions can be compared on the same texts.",
        persist_state="page",
    )
    marked = [
        each.model_copy(update={"held_out": True}) if position in aside else each
        for position, each in enumerate(samples)
    ]
    return tuple(marked if wanted else samples)


# ---- the title -------------------------------------------------------------------------------------------------------


def title_of(layout: Layout, traits: int | None) -> str:
    """`2 traits found in 248 reviews`, in Markdown; `traits` is None while they cannot be made."""
    text = (layout.text or "").strip().lower()
    rows = count(layout.upload.source.count, text if text in _NOUNS else "text")
    if traits is None:
        return f"Labels found in {rows}" if layout.named("label") else "No labels found"
    return f"{count(traits, 'trait')} found in {rows}"


def lead_of(layout: Layout) -> str:
    """`reviews.csv, 8 columns. Texts are in “comment”, labels in “mood” and “detail”.`, in Markdown."""
    start = f"{plain(layout.upload.name)}, {count(len(layout.columns), 'column')}."
    labels = [f"“{plain(name)}”" for name in layout.named("label")]
    if layout.text is None:
        return f"{start} No column is chosen for the texts."
    texts = f"{start} Texts are in “{plain(layout.text)}”"
    if not labels:
        return f"{texts}, and no column has labels."
    return f"{texts}, labels in {' and '.join([', '.join(labels[:-1]), labels[-1]] if labels[1:] else labels)}."
