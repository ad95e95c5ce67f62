"""The model that a file makes: its traits with their fields, its test samples, and what is not used."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from traitbench.contract.samples import SampleInput
from traitbench.display.pictures import balance
from traitbench.display.text import count, plain, shortened
from traitbench.local import held_out
from traitbench.names import no_name, slug
from traitbench.tables.answers import number_in
from traitbench.tables.columns import ColumnReading, Reading
from traitbench.tables.file_model import FileModel, missing_side, model_of, names_wrong, with_tests
from traitbench.tables.labelled import FileSamples, Shape, TraitFound, are_numbers, ends_of, order_of, traits_of
from traitbench.tables.sample_files import to_mend
from traitbench.tables.writing import csv_file
from traitbench_app.from_file.layout import HEADER, Layout, answers_key, give, is_used
from traitbench_app.parts.controls import download, question
from traitbench_app.parts.model_actions import free_name, handle_fields
from traitbench_app.shell import session
from traitbench_app.shell.service import field_error

_CHECKED, _NAME = "from_file.checked", "from_file.name"
_NAMED, _DECIDED = 6, 6


def draw_plan(layout: Layout, owned: Sequence[str]) -> tuple[FileModel | None, str]:
    """Draw the model that the labels make and what is not used; return it, or None and why it cannot be created."""
    left, right = st.columns([1.8, 1], gap="small")
    with right, question("The model", key="plan"):
        handle, why = _name(layout, owned)
        traits, pictures, problem = _traits(layout)
    with left, draw_unused(layout):
        traits = _decided(layout, traits)
        read = _read(layout, traits)
        _draw_rows(layout, read)
        samples = _draw_tests(layout, read.samples)
    _draw_balances(layout, traits, samples, pictures)
    why = why or problem or missing_side(traits, samples)
    if why or not handle:
        return None, why
    return model_of(layout.reading, traits, read, samples, handle=handle, source=layout.upload.name), ""


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
        for key, guess in _guesses(layout, position, column):
            trait, picture, slot = _fields(key, guess)
            traits.append(trait)
            pictures.append(picture)
            slots.append(slot)
    wrong = names_wrong(traits)
    for slot, sentence in zip(slots, wrong, strict=True):
        if sentence:
            field_error(slot, sentence)
    return traits, pictures, next(filter(None, wrong), "")


def _guesses(layout: Layout, position: int, column: ColumnReading) -> list[tuple[str, TraitFound]]:
    """Draw the questions about a column with labels, and return its traits with the keys of their fields."""
    start = f"{layout.upload.key}.{position}"
    if not column.traits or column.reading in ("verdicts", "several_answers"):
        return [(f"{start}.{column.reading}.{number}", trait) for number, trait in enumerate(column.traits)]
    shape, order = _pick_shape(layout, position, column)
    ends, border = None, None
    if shape == "order" and are_numbers(dict.fromkeys(order or column.answers.kinds, 1)):
        ends, border = _pick_ends(layout, position, column)
    traits = traits_of(column.name, column.answers, shape, order=order, ends=ends, border=border)
    return [(f"{start}.{shape}.{number}", trait) for number, trait in enumerate(traits)]


def _pick_ends(layout: Layout, position: int, column: ColumnReading) -> tuple[tuple[float, float], float]:
    """Draw the ends of a scale of numbers, and the number between its sides."""
    numbers = [number for cell in column.answers.kinds if (number := number_in(cell)) is not None]
    low, high = ends_of(numbers, column.name)
    start = f"{layout.upload.key}.ends.{position}"
    fields = {"low": ("Lowest", low), "border": ("Border", (low + high) / 2), "high": ("Highest", high)}
    chosen = {}
    with st.container(horizontal=True, gap="xsmall"):
        for name, (label, value) in fields.items():
            help_text = "Texts below this number are on the left side, texts above it on the right side."
            chosen[name] = st.number_input(
                label,
                value=value,
                key=f"{start}.{name}",
                help=help_text if name == "border" else None,
                persist_state="page",
            )
    return (chosen["low"], chosen["high"]), chosen["border"]


def _pick_shape(layout: Layout, position: int, column: ColumnReading) -> tuple[Shape, list[str] | None]:
    """Draw the one question about a column with more than two kinds, and the order of a scale."""
    kinds = column.answers.kinds
    if len(column.shapes) < 2:
        return column.shapes[0], None
    sides = traits_of(column.name, column.answers, "sides")[0] if "sides" in column.shapes else None
    names: dict[Shape, str] = {
        "sides": f"Two sides: {sides.negative} and {sides.positive}" if sides else "",
        "each": "One trait each, against the rest",
        "order": "An order",
    }
    shape = st.radio(
        f"“{plain(shortened(column.name, HEADER))}” has {len(kinds)} kinds",
        column.shapes,
        format_func=lambda each: names[each],
        key=f"{layout.upload.key}.shape.{position}.{column.reading}",
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


def _draw_balances(
    layout: Layout, traits: Sequence[TraitFound], samples: Sequence[SampleInput], pictures: Sequence[DeltaGenerator]
) -> None:
    """Draw how many texts each side of a trait has, and how many rows have no label."""
    for number, (trait, picture) in enumerate(zip(traits, pictures, strict=True)):
        own = [each.quality for each in samples if each.trait == str(number)]
        above, below = sum(each > 0.5 for each in own), sum(each < 0.5 for each in own)
        blank = layout.reading.without_answer(trait)
        between = len(own) - above - below
        notes = [f"{count(between, 'text')} in the middle." if between else ""]
        notes.append(f"{count(blank, 'row has', 'rows have')} no label here." if blank else "")
        with picture.container(gap=None):
            st.html(balance(below, above, negative=trait.negative, positive=trait.positive))
            if any(notes):
                st.caption(" ".join(note for note in notes if note))


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
        if is_used(column) and column.name not in layout.reading.also:
            continue
        if (more := _as_label(column)) is not None and column.name not in layout.reading.given:
            offered.append((position, more))
        else:
            reasons.setdefault(column.said, []).append(shortened(column.name, HEADER))
    _draw_list([(_names(names), plain(reason)) for reason, names in reasons.items()])
    for position, reading in offered[:_NAMED]:
        column = layout.columns[position]
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            st.markdown(f"**{plain(shortened(column.name, HEADER))}**: {plain(column.said)}", width="content")
            st.button(
                "Add as a label",
                type="tertiary",
                key=f"{layout.upload.key}.add.{position}",
                on_click=give,
                args=(layout, position, reading),
            )
    if more_names := [layout.columns[position].name for position, _ in offered[_NAMED:]]:
        _draw_list([(_names(more_names), "Could be labels. Choose Labels above.")])


def _as_label(column: ColumnReading) -> Reading | None:
    """Return the reading with which a column that is not used would make traits; None if it could not."""
    if column.reading not in ("group", "number", "not_used") or len(column.answers.kinds) < 2 or not column.shapes:
        return None
    return "scale" if are_numbers(column.answers.kinds) else "labels"


def _draw_list(lines: Sequence[tuple[str, str]]) -> None:
    """Draw what is not used, and why, in Markdown."""
    if lines:
        st.markdown("\n".join(f"- **{what}**: {why}" for what, why in lines))


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return f"{', '.join(map(plain, names[:_NAMED]))}{more}"


def _decided(layout: Layout, traits: Sequence[TraitFound]) -> list[TraitFound]:
    """Draw each label at neither pole with the decision about it, and return the traits with these decisions."""
    _draw_missing(layout)
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


def _draw_missing(layout: Layout) -> None:
    """Draw the words and codes that mean no answer in a column with labels; each can be an answer instead."""
    as_answers: frozenset[str] = session.get(answers_key(layout.upload), frozenset())
    words = {word: column for column in layout.columns if column.traits for word in column.answers.missing}
    words |= {
        word: column for column in layout.columns if column.traits for word in column.answers.rows if word in as_answers
    }
    for word, column in [*words.items()][:_DECIDED]:
        times = column.answers.rows.get(word, column.answers.missing.get(word, 0))
        st.markdown(
            f"“{plain(shortened(column.name, HEADER))}” says “{plain(shortened(word, 60))}” in {count(times, 'row')}."
        )
        key = f"{layout.upload.key}.missing.{word}"
        session.put({key: "An answer" if word in as_answers else "No answer"})
        st.segmented_control(
            word,
            ["No answer", "An answer"],
            required=True,
            key=key,
            label_visibility="collapsed",
            on_change=_keep,
            args=(layout, word, key),
            persist_state="page",
        )


def _keep(layout: Layout, word: str, key: str) -> None:
    """Read a word as an answer, or as none. A callback."""
    as_answers: frozenset[str] = session.get(answers_key(layout.upload), frozenset())
    is_answer = session.get(key) == "An answer"
    session.store(answers_key(layout.upload), as_answers | {word} if is_answer else as_answers - {word})


def _read(layout: Layout, traits: Sequence[TraitFound]) -> FileSamples:
    """The samples of the file, which are read once for every choice."""
    reading = layout.reading
    used = [(each.column, tuple(each.words.items()), tuple(each.neither)) for each in traits]
    chosen = (layout.upload.key, layout.upload.way, reading.column, reading.given, reading.test, reading.people, used)
    return session.once(_CHECKED, chosen, lambda: reading.samples(traits))


def _draw_rows(layout: Layout, read: FileSamples) -> None:
    """Draw how many rows give no sample for which reason, and offer them as a file."""
    lines: dict[tuple[str, str], list[int]] = {}
    for problem in read.problems:
        lines.setdefault((problem.column, problem.reason), []).append(problem.row)
    listed = []
    for (column, reason), rows in lines.items():
        what = f"“{plain(column)}” {plain(reason)}" if column else plain(reason)
        listed.append((count(len(rows), "row"), f"{what} ({_lines_named(rows)})."))
    _draw_list(listed)
    if lines:
        download(
            "Download these rows",
            partial(csv_file, *to_mend(layout.reading.table, read.problems)),
            "rows-not-used.csv",
            key="from_file.rows",
        )
    elif all(map(is_used, layout.columns)):
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
    if test := layout.reading.test:
        tests = len({each.text for each in samples if each.held_out})
        st.markdown(f"**{count(tests, 'text is', 'texts are')} set aside for testing**, as “{plain(test)}” says.")
        return tuple(samples)
    marked = with_tests(layout.reading, samples, lambda some: frozenset(held_out.aside(some).ids))
    texts = len({each.text for each in marked if each.held_out})
    if not texts:
        st.caption(
            f"No texts are set aside for testing: that takes {2 * held_out.AT_LEAST} different texts at each side."
        )
        return tuple(samples)
    wanted = st.toggle(
        f"Set {count(texts, 'text')} aside for testing",
        value=True,
        key=f"{layout.upload.key}.tests",
        help="No version learns from them, so later versions can be compared on the same texts.",
        persist_state="page",
    )
    return marked if wanted else tuple(samples)
