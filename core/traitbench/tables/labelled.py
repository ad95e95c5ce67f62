"""What each column of a labelled file is for, and the traits that its labels make, if no model says it yet.

Nothing here calls the service or draws. `columns_of` guesses a role for every column and gives a reason for each one
that is not used. `traits_of` makes traits of a label column; `check_all` makes their samples, and names every row that
gives none.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from traitbench.display.text import is_address
from traitbench.tables.rows import Problem, Table
from traitbench.tables.sample_files import (
    QUALITY_NAMES,
    YES_NO,
    Checked,
    FileLayout,
    FileSample,
    LabelColumn,
    as_number,
    check,
    folded,
    guess_test_columns,
    guess_text_column,
    guess_words,
    kinds,
)

Role = Literal["text", "label", "test", "source", "unused"]
Shape = Literal["sides", "each", "order"]
"""How labels make traits: two sides and what is neither, one trait for each kind against the rest, or a scale."""

MOST_KINDS = 12
"""The most different labels in a column."""

MOST_LABELS = 8
"""The most columns that are guessed as labels at once."""

REST = "anything else"
"""The negative pole of a trait that tells one kind of text from the rest."""

REPEATS = "repeats a text with the same label; one copy stays"
CONTRADICTS = "has a text that another row labels otherwise"
BLANK = "has no label"
LEFT_OUT = "has only labels that are left out"

_RARE, _REST = 0.1, 0.2
_MANY = 200  # far more than labels have in different spellings
_NO_NAMES = {*QUALITY_NAMES} - {"sentiment", "rating"}
_LABEL_NAMES = (
    *(*QUALITY_NAMES, "labels", "category", "topic", "mood", "tone", "emotion", "intent", "stars", "type", "kategorie"),
    *("thema", "stimmung", "bewertung", "sterne", "klasse", "gefühl", "ton"),
)
_NEGATIONS = ("un", "in", "im", "ir", "il", "dis", "non", "not", "no", "nicht", "kein", "keine")
_SCALES = (
    ("low", "medium", "high"),
    ("low", "moderate", "high"),
    ("small", "medium", "large"),
    ("weak", "medium", "strong"),
    ("bad", "ok", "good"),
    ("poor", "fair", "good", "very good", "excellent"),
    ("never", "rarely", "sometimes", "often", "always"),
    ("very negative", "negative", "neutral", "positive", "very positive"),
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
    ("schlecht", "mittel", "gut"),
    ("niedrig", "mittel", "hoch"),
    ("nie", "selten", "manchmal", "oft", "immer"),
)
_DATE = re.compile(r"\d{4}-\d\d?-\d\d?([T ].*)?|\d\d?[./]\d\d?[./]\d{2,4}")


@dataclass(frozen=True)
class Column:
    """A column with the role that is guessed; `kinds` are its different cells if they are few enough for labels.

    `reason` says why it is not used, `shapes` how its kinds can make traits, the likeliest first.
    """

    name: str
    role: Role
    reason: str = ""
    kinds: Mapping[str, int] | None = None
    shapes: tuple[Shape, ...] = ()


@dataclass(frozen=True)
class TraitFound:
    """A trait that a label column makes: its poles, the quality of each label, and the labels at neither pole."""

    column: str
    name: str
    negative: str
    positive: str
    words: Mapping[str, float]
    neither: Mapping[str, int]

    def swapped(self) -> "TraitFound":
        """Return the trait with its sides exchanged."""
        words = {word: 1.0 - quality for word, quality in self.words.items()}
        return replace(self, negative=self.positive, positive=self.negative, words=words)


# ---- columns ---------------------------------------------------------------------------------------------------------


def columns_of(table: Table) -> tuple[Column, ...]:
    """Return each column with the role that its name and its cells suggest."""
    text, (test, _) = guess_text_column(table), guess_test_columns(table)
    read = [_column(table, name, text, test) for name in table.columns]
    candidates = [each for each in read if each.shapes]
    sided = [each for each in candidates if each.shapes[0] == "sides" or _is_label_name(each.name)]
    scales = [each for each in sided if _are_numbers(each.kinds or {}) and each.shapes[0] == "order"]
    labels = [each for each in sided if each not in scales] or scales or (candidates if len(candidates) == 1 else [])
    chosen = {each.name for each in labels[:MOST_LABELS]}
    source = next((each.name for each in read if each.role == "source"), None)
    return tuple(_with_role(each, is_label=each.name in chosen, source=source) for each in read)


def _with_role(column: Column, *, is_label: bool, source: str | None) -> Column:
    if is_label:
        return replace(column, role="label", reason="")
    if column.role == "source" and column.name != source:
        return replace(column, role="unused", reason="Has addresses. A sample has one source.")
    return column


def _column(table: Table, name: str, text: str | None, test: str | None) -> Column:
    if name in (text, test):
        return Column(name, "text" if name == text else "test")
    counts: Mapping[str, int] = Counter(cell for row in table.rows if (cell := row.cells.get(name, "").strip()))
    if len(counts) <= _MANY:
        counts = kinds(table, name)
    filled = sum(counts.values())
    if not counts:
        return Column(name, "unused", "Is empty.")
    if all(map(is_address, counts)):
        return Column(name, "source")
    few = dict(counts) if len(counts) <= MOST_KINDS else None
    if len(counts) == 1:
        only = "in every row" if filled == len(table.rows) else "wherever it is filled"
        return Column(name, "unused", f"Says “{next(iter(counts))}” {only}, so there is no other side to learn.", few)
    if all(map(_DATE.fullmatch, counts)):
        return Column(name, "unused", "Has dates.", few)
    if few and (len(few) == 2 or filled >= 2 * len(few)):
        shapes = shapes_of(few)
        order = order_of(few)
        what = f"is an order from {order[0]} to {order[-1]}" if shapes[0] == "order" else f"has {len(few)} kinds"
        return Column(name, "unused", f"Could be a label: it {what}.", few, shapes)
    if len(counts) == filled:
        return Column(name, "unused", "Differs in every row, so it is neither a label nor a group.", few)
    what = "numbers" if _are_numbers(counts) else "values"
    return Column(name, "unused", f"Has too many different {what} for labels.", few)


def _is_label_name(name: str) -> bool:
    return folded(name) in _LABEL_NAMES


def _are_numbers(cells: Mapping[str, int]) -> bool:
    return all(as_number(cell) is not None for cell in cells)


# ---- traits ----------------------------------------------------------------------------------------------------------


def shapes_of(counts: Mapping[str, int]) -> tuple[Shape, ...]:
    """Return how the kinds of a label column can make traits, the likeliest first; empty for less than two kinds."""
    if len(counts) < 2:
        return ()
    if len(counts) == 2:
        return ("sides",)
    sides = _sides_of(counts)
    if _are_numbers(counts) or _scale_of(counts):
        return ("order", "each", "sides") if sides else ("order", "each")
    if not sides:
        return ("each", "order")
    known = guess_words(counts, ())
    others = sum(times for cell, times in counts.items() if cell not in sides and known[cell] is None)
    is_rest = others <= _REST * sum(counts.values())
    return ("sides", "each", "order") if is_rest else ("each", "order", "sides")


def order_of(counts: Mapping[str, int]) -> list[str]:
    """Return the kinds from the lowest to the highest, as far as that is known; others come in alphabetical order."""
    if _are_numbers(counts):
        return sorted(counts, key=lambda cell: as_number(cell) or 0.0)
    scale, known = _scale_of(counts), guess_words(counts, ())
    if scale:
        return sorted(counts, key=lambda cell: scale.index(folded(cell)))
    middle = {cell: 0.5 if quality is None else quality for cell, quality in known.items()}
    return sorted(counts, key=lambda cell: (middle[cell], folded(cell)))


def traits_of(
    name: str, counts: Mapping[str, int], shape: Shape, *, order: Sequence[str] | None = None
) -> list[TraitFound]:
    """Return the traits that a label column makes; `order` has the kinds of a scale, the lowest first."""
    if shape == "each":
        return [
            TraitFound(name, _capital(kind), REST, kind, {each: float(each == kind) for each in counts}, {})
            for kind in counts
        ]
    if shape == "order":
        return [_scaled(name, counts, order_of(counts) if order is None else order)]
    negative, positive = _sides_of(counts) or tuple(order_of(counts)[:: len(counts) - 1])
    neither = {cell: times for cell, times in counts.items() if cell not in (negative, positive)}
    words = {negative: 0.0, positive: 1.0}
    poles = _named_poles(name, negative, positive)
    return [TraitFound(name, _trait_name(name, poles), *poles, words, neither)]


def _scaled(name: str, counts: Mapping[str, int], order: Sequence[str]) -> TraitFound:
    numbers = [as_number(cell) for cell in order]
    if all(number is not None for number in numbers) and len({*numbers}) > 1:
        values = [number or 0.0 for number in numbers]
        least, most = min(values), max(values)
        words = {cell: (value - least) / (most - least) for cell, value in zip(order, values, strict=True)}
        plural = name.strip().lower().endswith("s") and folded(name) not in _NO_NAMES
        poles = tuple(f"{how} {name.strip().lower()}" for how in (("few", "many") if plural else ("low", "high")))
    else:
        words = {cell: position / max(len(order) - 1, 1) for position, cell in enumerate(order)}
        poles = (order[0], order[-1]) if order else ("", "")
    neither = {cell: times for cell, times in counts.items() if cell not in words}
    return TraitFound(name, _trait_name(name, poles), poles[0], poles[1], words, neither)


def _sides_of(counts: Mapping[str, int]) -> tuple[str, str] | None:
    """Return the negative and the positive kind; None if more than two kinds could be sides."""
    known = guess_words(counts, ()) | {cell: float(YES_NO[folded(cell)]) for cell in counts if folded(cell) in YES_NO}
    low, high = ([cell for cell in counts if known[cell] == quality] for quality in (0.0, 1.0))
    if len(low) == len(high) == 1 and not _scale_of(counts) and not (len(counts) > 2 and _are_numbers(counts)):
        return low[0], high[0]
    total = sum(counts.values())
    main = [cell for cell, times in counts.items() if known[cell] != 0.5 and times > max(1, _RARE * total)]
    if len(counts) == 2:
        main = list(counts)
    elif len(main) != 2 or _are_numbers(counts):
        return None
    first, second = order_of(dict.fromkeys(main, 1))
    return (second, first) if _negates(second, first) else (first, second)


def _negates(kind: str, other: str) -> bool:
    """Whether a kind is the other one with a negation in front: `unhappy`, `not happy`."""
    start, base, end = folded(kind).rpartition(folded(other))
    return bool(base) and not end and start.strip(" -_") in _NEGATIONS


def _scale_of(counts: Mapping[str, int]) -> tuple[str, ...] | None:
    """Return the known scale that has all of at least three kinds."""
    cells = {folded(cell) for cell in counts}
    return next((scale for scale in _SCALES if len(cells) > 2 and cells <= {*scale}), None)


def _named_poles(name: str, negative: str, positive: str) -> tuple[str, str]:
    """Return the names of the poles: the labels, or the column's own name if they are only yes and no."""
    if folded(name) in _NO_NAMES or not {folded(negative), folded(positive)} <= YES_NO.keys():
        return negative, positive
    what = re.sub(r"^(is|has|ist|hat)[ _-]+", "", " ".join(re.split(r"[\s_]+", name.strip())), flags=re.IGNORECASE)
    return f"not {what}", what


def _trait_name(name: str, poles: Sequence[str]) -> str:
    if folded(name) in _NO_NAMES:
        return _capital(" or ".join(reversed(poles)))
    return _capital(" ".join(re.split(r"[\s_]+", name.strip())))


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:]


# ---- samples ---------------------------------------------------------------------------------------------------------


def layout_of(text: str, traits: Sequence[TraitFound], *, test: str | None = None) -> FileLayout:
    """Return where the labels of the traits are, each by its position; empty cells and other labels give no sample."""
    labels = [
        LabelColumn(trait.column, str(position), {"": None} | dict.fromkeys(trait.neither) | dict(trait.words))
        for position, trait in enumerate(traits)
    ]
    return FileLayout(text, tuple(labels), held_out=test)


def check_all(table: Table, layout: FileLayout, *, source: str | None = None) -> Checked:
    """Return the samples of a file, and a problem for every row that gives none.

    Of equal samples one stays, and none of those that contradict each other. `source` is a column of addresses.
    """
    checked = check(table, layout, None)
    entries, by_row = _without_copies(checked, _sources(table, source))
    by_row = {problem.row: problem for problem in checked.problems} | by_row
    labels, used = [str(each.column) for each in layout.labels], {each.line for each in entries}
    for row in table.rows:
        if row.number in used or row.number in by_row:
            continue
        if not row.cells.get(layout.text, "").strip():
            by_row[row.number] = Problem(row.number, layout.text, "is empty")
        else:
            has_label = any(row.cells.get(column, "").strip() for column in labels)
            by_row[row.number] = Problem(row.number, "", LEFT_OUT if has_label else BLANK)
    return Checked(tuple(entries), tuple(by_row[line] for line in sorted(by_row)))


def _without_copies(checked: Checked, sources: Mapping[int, str]) -> tuple[list[FileSample], dict[int, Problem]]:
    """Keep one of equal samples, and none of those that contradict each other; return these rows by line."""
    qualities: dict[tuple[str, str], set[float]] = {}
    for sample in checked.samples:
        qualities.setdefault((sample.trait, sample.text), set()).add(sample.quality)
    first, by_row = dict[tuple[str, str], FileSample](), dict[int, Problem]()
    for each in checked.entries:
        what = (each.sample.trait, each.sample.text)
        if len(qualities[what]) > 1:
            by_row[each.line] = Problem(each.line, "", CONTRADICTS)
        elif what not in first:
            address = sources.get(each.line)
            sample = each.sample.model_copy(update={"source_url": address}) if address else each.sample
            first[what] = each._replace(sample=sample)
    copies = {*checked.lines} - {each.line for each in first.values()} - {*by_row}
    return [*first.values()], by_row | {line: Problem(line, "", REPEATS) for line in copies}


def _sources(table: Table, source: str | None) -> dict[int, str]:
    if source is None:
        return {}
    return {row.number: cell for row in table.rows if is_address(cell := row.cells.get(source, "").strip())}
