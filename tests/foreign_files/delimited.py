"""Tables as text: every separator, quoting, line end, header and encoding that people send."""

import csv
import gzip
import io
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from random import Random
from typing import IO

from tests.foreign_files.cases import (
    COLUMNS,
    PLAIN,
    QUOTES,
    Case,
    Kinds,
    Record,
    Refused,
    Rows,
    Survived,
    numbered,
    texts,
)
from traitbench.formulas import as_written

DELIMITED = Kinds()

Table = Sequence[tuple[str, ...]]


def unquoted(rows: Table, separator: str, end: str = "\n") -> str:
    """Join cells as a program does that knows of no quoting."""
    return "".join(separator.join(cells) + end for cells in rows)


def quoted(rows: Table, separator: str = ",", quoting: int = csv.QUOTE_MINIMAL, end: str = "\r\n") -> str:
    """Write rows as RFC 4180 says."""
    place = io.StringIO(newline="")
    csv.writer(place, delimiter=separator, quoting=quoting, lineterminator=end).writerows(rows)  # type: ignore[arg-type]
    return place.getvalue()


def as_is(rows: Table, content: str | bytes, name: str = "a.csv", says: str = "") -> Case:
    """A file that has to give these rows, the first of them as the names of columns."""
    encoded = content if isinstance(content, bytes) else content.encode()
    return Case(name, encoded, (Rows(rows[0], tuple(rows[1:]), says),))


def plain_rows(chance: Random, without: str = "\t\r\n") -> list[tuple[str, ...]]:
    """Rows without quotation marks or line breaks."""
    return [COLUMNS, *numbered(texts(chance, 8, without=without + '"'))]


# ---- quoting ---------------------------------------------------------------------------------------------------------


@DELIMITED.add
def unquoted_tsv(chance: Random) -> Case:
    some = [*texts(chance, without="\t\r\n"), *QUOTES]
    chance.shuffle(some)
    rows = [COLUMNS, *numbered(some)]
    return as_is(rows, unquoted(rows, "\t"), "a.tsv")


@DELIMITED.add
def unquoted_tsv_with_one_open_mark(chance: Random) -> Case:
    some = texts(chance, 20, without='\t\r\n"')
    some.insert(chance.randrange(len(some)), '"' + some[0])
    rows = [COLUMNS, *numbered(some)]
    return as_is(rows, unquoted(rows, "\t"), "a.tsv")


@DELIMITED.add
def unquoted_tsv_with_two_open_marks(chance: Random) -> Case:
    some = texts(chance, 20, without='\t\r\n"')
    some[3], some[15] = '"' + some[3], '"' + some[15]
    rows = [COLUMNS, *numbered(some)]
    return as_is(rows, unquoted(rows, "\t"), "a.txt")


@DELIMITED.add
def unquoted_tsv_without_a_header(chance: Random) -> Case:
    """Labels first, as classic corpora have it."""
    some = [*texts(chance, without="\t\r\n"), *QUOTES]
    rows = [(("ham", "spam")[at % 2], text) for at, text in enumerate(some)]
    return Case("a", unquoted(rows, "\t").encode(), (Rows((), tuple(rows)),), header=False)


@DELIMITED.add
def quotation_marks_that_are_not_doubled(chance: Random) -> Case:
    some = [text for text in (*texts(chance, without="\r\n"), *QUOTES[:5]) if '",' not in text and ',"' not in text]
    rows = [COLUMNS, *numbered(some)]
    return as_is(rows, "".join(f'"{number}","{text}","{label}"\n' for number, text, label in rows))


@DELIMITED.add
def quotation_marks_escaped_by_backslashes(chance: Random) -> Case:
    some = [*texts(chance, without="\r\n\\"), *QUOTES[:5]]
    rows = [COLUMNS, *numbered(some)]
    escaped = ("".join(f'"{cell}",' for cell in (cell.replace('"', '\\"') for cell in row))[:-1] for row in rows)
    return as_is(rows, "".join(f"{line}\n" for line in escaped))


@DELIMITED.add
def an_open_mark_in_a_quoted_csv(chance: Random) -> Case:
    """One cell whose mark never closes takes the rest of the file with it."""
    rows = plain_rows(chance)
    place = len(rows) // 2
    lines = quoted(rows, quoting=csv.QUOTE_ALL).splitlines(keepends=True)
    lines[place] = f'"{rows[place][0]}","{rows[place][1]},{rows[place][2]}\r\n'
    result: list[Record] = [*rows[1:]]
    result[place - 1] = ...
    return Case("a.csv", "".join(lines).encode(), (Rows(COLUMNS, tuple(result)), Refused("quotation|quote")))


def _rfc(chance: Random, separator: str = ",", name: str = "a.csv", **how: object) -> Case:
    rows = [COLUMNS, *numbered([*texts(chance, 40), *QUOTES])]
    return as_is(rows, quoted(rows, separator, **how), name)  # type: ignore[arg-type]


DELIMITED.small |= {
    "rfc csv": _rfc,
    "rfc csv all quoted": partial(_rfc, quoting=csv.QUOTE_ALL, end="\n"),
    "rfc tsv": partial(_rfc, separator="\t", name="a.tsv"),
}


@DELIMITED.add
def rfc_csv_numbers_not_quoted(chance: Random) -> Case:
    some = numbered([*texts(chance, 40), *QUOTES])
    place = io.StringIO(newline="")
    writer = csv.writer(place, quoting=csv.QUOTE_NONNUMERIC)
    writer.writerows([COLUMNS, *((int(number), text, label) for number, text, label in some)])
    return as_is([COLUMNS, *some], place.getvalue())


@DELIMITED.add
def plain_words_in_marks(_chance: Random) -> Case:
    """Nothing needs its marks, and still they enclose each text."""
    rows = [("id", "text"), *((str(at), word) for at, word in enumerate(("Thanks", "Never again", "Fine")))]
    return as_is(rows, "".join(f'{number},"{word}"\n' for number, word in rows))


@DELIMITED.add
def one_column_of_cells_with_line_breaks(_chance: Random) -> Case:
    rows = [("text",), ("first\nsecond",), ("one line",), ("third\n\nfourth",)]
    return as_is(rows, quoted(rows), "texts.txt")


@DELIMITED.add
def single_quotation_marks(chance: Random) -> Case:
    """Not a way of quoting: the marks may stay."""
    some = texts(chance, 0, without="\r\n',;\t|\"")
    rows = [COLUMNS, *((number, text, "warm") for number, text, _ in numbered(some))]
    content = "".join(",".join(f"'{cell}'" for cell in row) + "\n" for row in rows)
    with_marks = tuple(f"'{cell}'" for cell in COLUMNS)
    as_it_is = tuple(tuple(f"'{cell}'" for cell in row) for row in rows[1:])
    return Case("a.csv", content.encode(), (Rows(COLUMNS, tuple(rows[1:])), Rows(with_marks, as_it_is)))


@DELIMITED.add
def apostrophes_before_signs(chance: Random) -> Case:
    """Texts that look like cells of our own downloads, in a file that is none."""
    some = ["'@user is right", "'=1+1", "'-- so it goes", "'+1 for this", "plain", *texts(chance, 3, without='\t\r\n"')]
    rows = [COLUMNS, *numbered(some)]
    changed = tuple((number, as_written(text), label) for number, text, label in rows[1:])
    right = (Rows(COLUMNS, tuple(rows[1:])), Rows(COLUMNS, changed, "apostrophe"))
    return Case("a.csv", quoted(rows).encode(), right)


# ---- separators ------------------------------------------------------------------------------------------------------


@DELIMITED.add
def semicolons_and_decimal_commas(chance: Random) -> Case:
    rows = [
        (*COLUMNS, "share"),
        *((*row, f"{chance.random():.3f}".replace(".", ",")) for row in numbered(texts(chance))),
    ]
    return as_is(rows, quoted(rows, ";"))


@DELIMITED.add
def a_line_that_names_the_separator(chance: Random) -> Case:
    rows = [COLUMNS[:2], *((number, text) for number, text, _ in numbered(texts(chance)))]
    separator = chance.choice(";,\t|")
    return as_is(rows, f"sep={separator}\r\n" + quoted(rows, separator))


@DELIMITED.add
def pipes(chance: Random) -> Case:
    rows = plain_rows(chance, without="|\r\n")
    return as_is(rows, unquoted(rows, "|"), "a.txt")


@DELIMITED.add
def one_column_with_commas(chance: Random) -> Case:
    some = [*texts(chance, without="\r\n\t"), *QUOTES[:5]]
    chance.shuffle(some)
    rows = [("text",), *((text,) for text in some)]
    return as_is(rows, unquoted(rows, ","), "texts.txt")


@DELIMITED.add
def one_column_where_each_text_has_a_comma(chance: Random) -> Case:
    rows = [("text",), *((f"{text.split(',')[0]}, {chance.choice(PLAIN[:3]).split(',')[0]}",) for text in PLAIN)]
    return as_is(rows, unquoted(rows, ","), "texts.txt")


@DELIMITED.add
def one_column_of_one_word_each(chance: Random) -> Case:
    rows = [("text",), *((chance.choice(("warm", "cold")) + str(at),) for at in range(20))]
    return as_is(rows, unquoted(rows, ","))


@DELIMITED.add
def semicolons_in_texts_of_a_csv(chance: Random) -> Case:
    some = [f"{text}; one; two; three" for text in texts(chance, without="\r\n")]
    rows = [COLUMNS, *numbered(some)]
    return as_is(rows, quoted(rows))


# ---- lines -----------------------------------------------------------------------------------------------------------


@DELIMITED.add
def old_line_ends(chance: Random) -> Case:
    rows = plain_rows(chance)
    return as_is(rows, quoted(rows, end="\r"))


@DELIMITED.add
def mixed_line_ends(chance: Random) -> Case:
    rows = plain_rows(chance)
    return as_is(rows, "".join(quoted([row], end=chance.choice(("\n", "\r\n"))) for row in rows))


@DELIMITED.add
def blank_lines_between_and_behind(chance: Random) -> Case:
    rows = plain_rows(chance)
    lines = (quoted([row]) + chance.choice(("", "\r\n", "\r\n\r\n", "  \r\n")) for row in rows)
    return as_is(rows, "\r\n" + "".join(lines) + "\r\n" * 50)


@DELIMITED.add
def ragged_rows(chance: Random) -> Case:
    """A short row has blank cells, a long one is a problem, because its text is not clear."""
    rows = plain_rows(chance, without="\t\r\n,")
    short, long = (rows[1][0], rows[1][1], ""), ("long", "two", "three", "four")
    content = quoted([*rows, short[:2], long], end="\n")
    return Case("a.csv", content.encode(), (Rows(COLUMNS, (*rows[1:], short, None)),))


@DELIMITED.add
def trailing_separators(chance: Random) -> Case:
    rows = [COLUMNS, *numbered(texts(chance))]
    return as_is(rows, quoted(rows, end=",,\r\n"))


@DELIMITED.add
def trailing_separators_behind_rows_only(chance: Random) -> Case:
    rows = [COLUMNS, *numbered(texts(chance))]
    return as_is(rows, quoted(rows[:1]) + quoted(rows[1:], end=",\r\n"))


@DELIMITED.add
def comments_before_the_header(chance: Random) -> Case:
    """Names of columns cannot be known: they are those of the first line, and a note or a problem says it."""
    rows = plain_rows(chance)
    content = "# exported for the team\r\n\r\n" + quoted(rows)
    return Case("a.csv", content.encode(), (Rows(COLUMNS, tuple(rows[1:])), Rows((), (None,) * len(rows)), Refused()))


@DELIMITED.add
def a_row_cut_off_at_the_end(chance: Random) -> Case:
    rows = plain_rows(chance)
    content = quoted([*rows, ("99", "Cut off, in the mid", "warm")], quoting=csv.QUOTE_ALL)[: -len('d","warm"\r\n')]
    return Case("a.csv", content.encode(), (Rows(COLUMNS, (*rows[1:], ...)), Refused("quotation|quote")))


# ---- headers and cells -----------------------------------------------------------------------------------------------


@DELIMITED.add
def columns_of_one_name(chance: Random) -> Case:
    names = chance.choice((("x (3)", "x", "x"), ("x", "x", "x"), ("", "Column 1", ""), (" x", "x", "x ")))
    rows = numbered(texts(chance, 5))
    return Case("a.csv", quoted([names, *rows]).encode(), (Rows((), tuple(rows)),))


@DELIMITED.add
def a_header_without_the_first_name(chance: Random) -> Case:
    """R writes the names of rows and no name above them."""
    rows = plain_rows(chance, without="\t\r\n,")
    right = (Rows(("Column 1", *COLUMNS[1:]), tuple(rows[1:]), "one name fewer"),)
    return Case("a.csv", quoted([rows[0][1:], *rows[1:]]).encode(), right)


@DELIMITED.add
def two_rows_of_headers(chance: Random) -> Case:
    return _survey(chance, [("", "What would you tell us?", "How was it?")])


@DELIMITED.add
def three_rows_of_headers(chance: Random) -> Case:
    ids = tuple(f'{{"ImportId":"QID{number}_TEXT"}}' for number in range(3))
    return _survey(chance, [("Response", "What would you tell us, in your own words?", "How was it?"), ids])


def _survey(chance: Random, more: list[tuple[str, ...]]) -> Case:
    """The further lines of the header are no answers: they are left out, or rows, and a note says it."""
    rows, says = plain_rows(chance), "header|question|first (row|line)"
    right = (Rows(COLUMNS, tuple(rows[1:]), says), Rows(COLUMNS, (*more, *rows[1:]), says))
    return Case("a.csv", quoted([rows[0], *more, *rows[1:]]).encode(), right)


@DELIMITED.add
def thousands_of_columns(chance: Random) -> Case:
    names = ("text", *(f"q{number}" for number in range(3_000)))
    rows = [names, *((text, *(str(chance.randrange(5)) for _ in names[1:])) for text in texts(chance, 3))]
    return as_is(rows, quoted(rows))


@DELIMITED.add
def a_cell_of_200_000_characters(chance: Random) -> Case:
    rows = [COLUMNS, *numbered(["word " * 40_000, *texts(chance, 3), "x" * 200_000])]
    return as_is(rows, quoted(rows))


@DELIMITED.add
def doubled_ids_and_labels_of_different_spelling(chance: Random) -> Case:
    labels = ("warm", "Warm", "warm ", "WARM", " cold", "cold\u00a0", "", " ")
    rows = [COLUMNS, *(("7", text, labels[at % 8]) for at, text in enumerate(texts(chance)))]
    return as_is(rows, quoted(rows))


@DELIMITED.add
def empty_answers(chance: Random) -> Case:
    some = texts(chance, 6)
    rows = [
        COLUMNS,
        *((str(at), chance.choice((text, "", " ", "\u200b", "\ufeff", "n/a")), "warm") for at, text in enumerate(some)),
    ]
    return as_is(rows, quoted(rows))


@DELIMITED.add
def emoji_only(chance: Random) -> Case:
    some = ["".join(chance.choices(("😀", "👍🏽", "❤️", "🇹🇷", "👨‍👩‍👧"), k=chance.randint(1, 4))) for _ in range(12)]
    rows = [COLUMNS, *numbered(some)]
    return as_is(rows, quoted(rows))


@DELIMITED.add
def a_nul_in_a_text(chance: Random) -> Case:
    rows: list[Record] = [*numbered(["a\x00b", *texts(chance, 4, without='\r\n"')])]
    content = quoted([COLUMNS, *(row for row in rows if isinstance(row, tuple))]).encode()  # type: ignore[list-item]
    return Case("a.csv", content, (Rows(COLUMNS, tuple(rows)), Rows(COLUMNS, (None, *rows[1:]))))


@DELIMITED.add
def nothing_but_a_header(_chance: Random) -> Case:
    return Case("a.csv", b"id,text,label\r\n", (Refused("header|rows"),))


@DELIMITED.add
def nothing_but_blanks(chance: Random) -> Case:
    return Case("a.csv", chance.choice((b"", b"\r\n \r\n", b"\xef\xbb\xbf", b",,,\n,,,\n")), (Refused("empty|rows"),))


# ---- encodings -------------------------------------------------------------------------------------------------------


# By kind: the encoding, a mark before the text, and whether the file may be refused instead.
ENCODINGS: Mapping[str, tuple[str, bytes, bool]] = {
    "utf 8 with a mark": ("utf-8-sig", b"", False),
    "utf 16 little endian with a mark": ("utf-16-le", b"\xff\xfe", False),
    "utf 16 big endian with a mark": ("utf-16-be", b"\xfe\xff", False),
    "utf 16 little endian without a mark": ("utf-16-le", b"", True),
    "utf 16 big endian without a mark": ("utf-16-be", b"", True),
    "utf 32": ("utf-32", b"", True),
}


def _encoded(chance: Random, kind: str) -> Case:
    encoding, mark, may_be_refused = ENCODINGS[kind]
    rows = [COLUMNS, *numbered(texts(chance))]
    case = as_is(rows, mark + quoted(rows, chance.choice(",\t")).encode(encoding))
    return Case(case.name, case.content, (*case.right, *([Refused("UTF")] if may_be_refused else [])))


DELIMITED.small |= {kind: partial(_encoded, kind=kind) for kind in ENCODINGS}


@DELIMITED.add
def windows_1252(chance: Random) -> Case:
    some = ["café au lait", "“Naïve” – that’s the word", "größer, 5 €", *(PLAIN[0], PLAIN[1])]
    chance.shuffle(some)
    rows = [COLUMNS, *numbered(some)]
    return as_is(rows, quoted(rows, ";").encode("cp1252"), says="1252")


@DELIMITED.add
def shift_jis(_chance: Random) -> Case:
    """No reader can be sure: the file is refused, or a note says how it was read."""
    rows = [COLUMNS, *numbered(["梱包がとても丁寧でした。", "また頼みます。", "もう頼みません。"])]
    right = (Refused("UTF-8"), Rows((), (..., ..., ...), "read as"))
    return Case("a.csv", quoted(rows).encode("shift_jis"), right)


@DELIMITED.add
def one_invalid_byte(chance: Random) -> Case:
    """The other rows keep their accents and emoji; nothing is silently read in another encoding."""
    rows = numbered(["x", *texts(chance, 20, without='\r\n"')])
    bad = quoted([COLUMNS, *rows]).encode().replace(b"1,x,cold", b"1,a \xff b,cold")
    return Case(
        "a.csv",
        bad,
        (Rows(COLUMNS, (..., *rows[1:]), "UTF-8|byte"), Rows(COLUMNS, (None, *rows[1:])), Refused("UTF-8")),
    )


@DELIMITED.add
def cut_off_within_a_character(chance: Random) -> Case:
    rows = numbered([*texts(chance, 9, without='\r\n"'), "😀"])
    content = quoted([COLUMNS, *((number, text) for number, text, _ in rows)]).encode()[: -len("\r\n") - 1]
    short = tuple((number, text) for number, text, _ in rows)
    right = (Rows(COLUMNS[:2], (*short[:-1], ...), "UTF-8|byte"), Refused("UTF-8"))
    return Case("a.csv", content, (*right, Rows(COLUMNS[:2], (*short[:-1], None))))


# ---- files that are no table -----------------------------------------------------------------------------------------


NO_TABLES: Mapping[str, tuple[str, Callable[[Random], bytes]]] = {
    "an old spreadsheet": ("a.xls", lambda chance: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + chance.randbytes(4_000)),
    "a picture": ("a.png", lambda chance: b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + chance.randbytes(3_000)),
    "a picture called csv": ("a.csv", lambda chance: b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + chance.randbytes(3_000)),
    "a portable document": ("a.pdf", lambda chance: b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n" + chance.randbytes(900)),
    "a compressed table": (
        "a.csv.gz",
        lambda _: gzip.compress(b"id,text\n" + b"1,a text\n" * 90, mtime=0),
    ),
}


def _no_table(chance: Random, name: str, content: Callable[[Random], bytes]) -> Case:
    return Case(name, content(chance), (Refused("text|table|UTF-8|spreadsheet|compressed"),))


DELIMITED.small |= {kind: partial(_no_table, name=name, content=content) for kind, (name, content) in NO_TABLES.items()}


@DELIMITED.add
def a_page_called_a_spreadsheet(_chance: Random) -> Case:
    """Web programs call a page .xls, because spreadsheets open it."""
    rows = b"<tr><th>id</th><th>text</th></tr>\n<tr><td>1</td><td>kind, warm</td></tr>\n"
    page = b"<html><body><table>" + rows + b"</table></body></html>\n"
    return Case("a.xls", page, (Refused(), Rows(("id", "text"), (("1", "kind, warm"),))))


# ---- large -----------------------------------------------------------------------------------------------------------


MEGABYTE = 10**6
# By kind: pieces, and the bytes that each of them fills when it is repeated.
PIECES: Mapping[str, Sequence[tuple[bytes, int]]] = {
    "one line of 300 megabytes": ((b"id,text\n1,", 10), (b"word " * 1_000, 300 * MEGABYTE)),
    "one quoted cell of 300 megabytes": (
        (b'id,text\n1,"', 11),
        (b"many short words\n" * 1_000, 300 * MEGABYTE),
        (b'"\n', 2),
    ),
    "two million columns": (
        (b"a," * 1_000, 4 * MEGABYTE),
        (b"text\n", 5),
        (b"1," * 1_000, 4 * MEGABYTE),
        (b"x\n", 2),
    ),
    "blanks of 512 megabytes": ((b"id,text\n1,a\n", 12), (b" " * 10_000, 512 * MEGABYTE)),
    "blank lines of 100 megabytes": ((b"id,text\n1,a\n", 12), (b"\n" * 10_000, 100 * MEGABYTE)),
    "ten million short rows": ((b"id,text\n", 8), (b"1,a\n" * 1_000, 40 * MEGABYTE)),
    "quotation marks of 50 megabytes": ((b"id,text\n", 8), (b'"' * 9_999, 50 * MEGABYTE)),
}


def _repeated(_chance: Random, pieces: Sequence[tuple[bytes, int]]) -> Case:
    def write(file: IO[bytes]) -> None:
        for piece, size in pieces:
            for _ in range(size // len(piece)):
                file.write(piece)

    return Case("a.csv", write, (Survived(),))


DELIMITED.large |= {name: partial(_repeated, pieces=pieces) for name, pieces in PIECES.items()}
