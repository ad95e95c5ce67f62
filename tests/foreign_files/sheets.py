"""Spreadsheets, written part by part, so that each can be as no library would write it."""

import io
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from xml.sax.saxutils import escape, quoteattr

from tests.foreign_files.cases import COLUMNS, POOL, QUOTES, Case, Cell, Kinds, Record, Refused, Rows, numbered, texts

SHEETS = Kinds()

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
NAMESPACES = f"xmlns='{MAIN}' xmlns:r='{RELATION}'"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"

FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]")
"""What XML 1.0 cannot hold, and the carriage return, which it turns into a line feed."""

PAIRS = tuple(text for text in POOL if not FORBIDDEN.search(text) and not re.search("_x[0-9A-Fa-f]{4}_", text))
"""Texts that a sheet can hold without the escapes of Excel."""


@dataclass(frozen=True)
class Xml:
    """A cell as its element; `{at}` is its place."""

    content: str


@dataclass(frozen=True)
class Sheet:
    """A sheet: its rows of cells, None for a cell that is not there."""

    rows: Sequence[Sequence[object]] = ()
    name: str = "Answers"
    state: str = "visible"
    before: str = ""
    behind: str = ""
    hidden_rows: frozenset[int] = frozenset()
    places: bool = True
    xml: str = ""


def column(number: int) -> str:
    """Return the letters of a column, counted from 0."""
    return (column(number // 26 - 1) if number >= 26 else "") + chr(65 + number % 26)


def workbook(
    *sheets: Sheet,
    strings: Sequence[str] | None = None,
    properties: str = "",
    parts: Mapping[str, bytes | None] | None = None,
) -> bytes:
    """Return an Excel file; texts are shared if `strings` is not None, and parts replace those of the same name."""
    shared: dict[str, int] | None = None if strings is None else {text: at for at, text in enumerate(strings)}
    numbers = range(1, len(sheets) + 1)
    written = {f"xl/worksheets/sheet{n}.xml": _sheet(sheet, shared) for n, sheet in zip(numbers, sheets, strict=True)}
    names = "".join(
        f"<sheet name={quoteattr(sheet.name)} sheetId='{n}' r:id='r{n}' state='{sheet.state}'/>"
        for n, sheet in zip(numbers, sheets, strict=True)
    )
    relations = [(f"r{n}", "worksheet", f"worksheets/sheet{n}.xml") for n in numbers]
    content = {
        "[Content_Types].xml": content_types(len(sheets)),
        "_rels/.rels": relationships([("r1", "officeDocument", "xl/workbook.xml")]),
        "xl/workbook.xml": f"<workbook {NAMESPACES}>{properties}<sheets>{names}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": relationships(
            [
                *relations,
                ("s1", "styles", "styles.xml"),
                *([("s2", "sharedStrings", "sharedStrings.xml")] if shared is not None else []),
            ]
        ),
        "xl/styles.xml": STYLES,
        **written,
    }
    if shared is not None:
        items = "".join(f"<si><t xml:space='preserve'>{escape(text)}</t></si>" for text in shared)
        content["xl/sharedStrings.xml"] = f"<sst xmlns='{MAIN}' count='{len(shared)}'>{items}</sst>"
    full = {name: part.encode("utf-8", "surrogatepass") for name, part in content.items()} | dict(parts or {})
    return zipped([(name, part) for name, part in full.items() if part is not None])


def repeating(rows: int, text: str) -> bytes:
    """Return an Excel file with one text in each row, which it has once: kilobytes for hundreds of megabytes."""
    head, row = (f"<row><c t='s'><v>{at}</v></c></row>" for at in (0, 1))
    xml = f"<worksheet xmlns='{MAIN}'><sheetData>{head}{row * rows}</sheetData></worksheet>"
    return workbook(Sheet(xml=xml), strings=("text", text))


def zipped(parts: Sequence[tuple[str, bytes]]) -> bytes:
    """Return a zip file that is always the same."""
    place = io.BytesIO()
    with zipfile.ZipFile(place, "w") as archive:
        for name, part in parts:
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, part)
    return place.getvalue()


def content_types(sheets: int) -> str:
    """Return the part that says what the others are."""
    parts = [("workbook.xml", "sheet.main"), ("styles.xml", "styles"), ("sharedStrings.xml", "sharedStrings")]
    parts += [(f"worksheets/sheet{n}.xml", "worksheet") for n in range(1, sheets + 1)]
    overrides = "".join(f"<Override PartName='/xl/{name}' ContentType='{_TYPE}.{kind}+xml'/>" for name, kind in parts)
    return (
        f"<Types xmlns='{_PACKAGE}/content-types'><Default Extension='xml' ContentType='application/xml'/>"
        "<Default Extension='rels' ContentType='application/vnd.openxmlformats-package.relationships+xml'/>"
        f"{overrides}</Types>"
    )


def relationships(targets: Sequence[tuple[str, str, str]]) -> str:
    """Return a part of relations, each an identifier, a kind and a target."""
    each = "".join(
        f"<Relationship Id='{key}' Type='{RELATION}/{kind}' Target='{target}'/>" for key, kind, target in targets
    )
    return f"<Relationships xmlns='{_PACKAGE}/relationships'>{each}</Relationships>"


STYLES = (
    f"<styleSheet xmlns='{MAIN}'><numFmts count='1'><numFmt numFmtId='164' formatCode='yyyy\\-mm\\-dd'/></numFmts>"
    "<fonts count='1'><font/></fonts><fills count='1'><fill/></fills><borders count='1'><border/></borders>"
    "<cellStyleXfs count='1'><xf/></cellStyleXfs><cellXfs count='4'><xf numFmtId='0'/>"
    "<xf numFmtId='14' applyNumberFormat='1'/><xf numFmtId='164' applyNumberFormat='1'/>"
    "<xf numFmtId='10' applyNumberFormat='1'/></cellXfs></styleSheet>"
)


def _sheet(sheet: Sheet, shared: dict[str, int] | None) -> str:
    if sheet.xml:
        return sheet.xml
    rows = []
    for number, cells in enumerate(sheet.rows, start=1):
        places = [f' r="{column(at)}{number}"' if sheet.places else "" for at in range(len(cells))]
        written = "".join(
            _cell(place, cell, shared) for place, cell in zip(places, cells, strict=True) if cell is not None
        )
        own = (f' r="{number}"' if sheet.places else "") + (' hidden="1"' if number in sheet.hidden_rows else "")
        rows.append(f"<row{own}>{written}</row>")
    data = f"<sheetData>{''.join(rows)}</sheetData>"
    return f"<worksheet {NAMESPACES}>{sheet.before}{data}{sheet.behind}</worksheet>"


def _cell(place: str, value: object, shared: dict[str, int] | None) -> str:
    if isinstance(value, Xml):
        return value.content.replace("{at}", place)
    if isinstance(value, bool):
        return f'<c{place} t="b"><v>{int(value)}</v></c>'
    if isinstance(value, int | float):
        return f"<c{place}><v>{value!r}</v></c>"
    if shared is not None:
        return f'<c{place} t="s"><v>{shared.setdefault(str(value), len(shared))}</v></c>'
    return f"<c{place} t=\"inlineStr\"><is><t xml:space='preserve'>{escape(str(value))}</t></is></c>"


# ---- tables ----------------------------------------------------------------------------------------------------------


def rows_of(chance: Random, count: int = 14) -> list[tuple[str, ...]]:
    """Rows that a sheet can hold as they are."""
    return numbered([*texts(chance, count, among=PAIRS), *QUOTES])


def _case(
    rows: Sequence[Sequence[object]], right: Sequence[Record], says: str = "", properties: str = "", places: bool = True
) -> Case:
    """A file of one sheet and what it has to give."""
    content = workbook(Sheet([COLUMNS, *rows], places=places), strings=(), properties=properties)
    return Case("a.xlsx", content, (Rows(COLUMNS, tuple(right), says),))


@SHEETS.add
def sheet_of_shared_strings(chance: Random) -> Case:
    rows = rows_of(chance)
    return _case(rows, rows)


@SHEETS.add
def sheet_of_inline_strings(chance: Random) -> Case:
    rows = rows_of(chance)
    return Case("a.xlsx", workbook(Sheet([COLUMNS, *rows])), (Rows(COLUMNS, tuple(rows)),))


@SHEETS.add
def sheet_without_places(chance: Random) -> Case:
    """Rows and cells need not say where they are."""
    rows = rows_of(chance)
    return _case(rows, rows, places=False)


@SHEETS.add
def sheet_of_rich_text(chance: Random) -> Case:
    rows: list[tuple[str, ...]] = [("1", "one two three", "warm"), ("2", "東京", "cold"), *rows_of(chance, 3)[2:]]
    runs = "<r><t xml:space='preserve'>{0}</t></r>"
    runs = runs.format("one ") + "<r><rPr><b/></rPr><t>two</t></r>" + runs.format(" three")
    read = "<t>東京</t><rPh sb='0' eb='2'><t>トウキョウ</t></rPh><phoneticPr fontId='1'/>"
    inline = [Xml(f"<c{{at}} t='inlineStr'><is>{each}</is></c>") for each in (runs, read)]
    shared = [("1", inline[0], "warm"), ("2", inline[1], "cold"), *rows[2:]]
    return _case(shared, rows)


@SHEETS.add
def sheet_of_shared_rich_text(_chance: Random) -> Case:
    rows = [("1", "one two", "warm"), ("2", "東京", "cold")]
    strings = (
        f"<sst xmlns='{MAIN}'><si><r><t xml:space='preserve'>one </t></r><r><t>two</t></r></si>"
        "<si><t>東京</t><rPh sb='0' eb='2'><t>トウキョウ</t></rPh></si></sst>"
    )
    cells = [Xml(f"<c{{at}} t='s'><v>{at}</v></c>") for at in range(2)]
    sheet = Sheet([COLUMNS, ("1", cells[0], "warm"), ("2", cells[1], "cold")])
    content = workbook(
        sheet,
        parts={
            "xl/sharedStrings.xml": strings.encode(),
            "xl/_rels/workbook.xml.rels": relationships(
                [("r1", "worksheet", "worksheets/sheet1.xml"), ("s2", "sharedStrings", "sharedStrings.xml")]
            ).encode(),
        },
    )
    return Case("a.xlsx", content, (Rows(COLUMNS, tuple(rows)),))


@SHEETS.add
def sheet_with_escaped_characters(_chance: Random) -> Case:
    """Excel writes what XML cannot hold as `_x` and four digits, and such a text itself with an escaped underline."""
    written = [
        ("1", "two_x000D_\nlines", "a"),
        ("2", "a_x0007_b", "b"),
        ("3", "_x005F_x0041_", "c"),
        ("4", "_x00zz_ _x0041", "d"),
    ]
    right = [("1", "two\r\nlines", "a"), ("2", "a\x07b", "b"), ("3", "_x0041_", "c"), ("4", "_x00zz_ _x0041", "d")]
    return _case(written, right)


@SHEETS.add
def sheet_with_blanks_at_the_ends(_chance: Random) -> Case:
    rows = [("1", "  two before", "a "), ("2", "two behind  ", "b"), ("3", "\na line\n", "c"), ("4", "\ta tab", "d")]
    return _case(rows, rows)


@SHEETS.add
def sheet_with_line_breaks(_chance: Random) -> Case:
    """`&#10;` and `&#13;` are characters; `a&#xA0;b` too."""
    cell = Xml("<c{at} t='inlineStr'><is><t>one&#10;two&#13;&#10;three&#xA0;four</t></is></c>")
    return _case([("1", cell, "a")], [("1", "one\ntwo\r\nthree\u00a0four", "a")])


# ---- sheets ----------------------------------------------------------------------------------------------------------


def _of_two(first: Sheet, second: Sheet, *right: Rows | Refused) -> Case:
    return Case("a.xlsx", workbook(first, second, strings=()), right)


@SHEETS.add
def workbook_of_several_sheets(chance: Random) -> Case:
    rows = rows_of(chance)
    return _of_two(Sheet([COLUMNS, *rows]), Sheet([("other",)], "Other"), Rows(COLUMNS, tuple(rows), "sheet"))


@SHEETS.add
def workbook_with_a_hidden_first_sheet(chance: Random) -> Case:
    hidden, seen = rows_of(chance, 3), rows_of(chance, 5)
    right = (Rows(COLUMNS, tuple(seen), "sheet"), Rows(COLUMNS, tuple(hidden), "hidden"))
    state = chance.choice(("hidden", "veryHidden"))
    return _of_two(Sheet([COLUMNS, *hidden], "Lists", state), Sheet([COLUMNS, *seen]), *right)


@SHEETS.add
def workbook_with_an_empty_first_sheet(chance: Random) -> Case:
    rows = rows_of(chance)
    return _of_two(Sheet(), Sheet([COLUMNS, *rows], "Data"), Refused("empty"), Rows(COLUMNS, tuple(rows), "sheet"))


@SHEETS.add
def workbook_with_a_first_chart(chance: Random) -> Case:
    rows = rows_of(chance)
    relations = [
        ("r1", "chartsheet", "chartsheets/sheet1.xml"),
        ("r2", "worksheet", "worksheets/sheet2.xml"),
        ("s2", "sharedStrings", "sharedStrings.xml"),
    ]
    content = workbook(
        Sheet(name="Chart"),
        Sheet([COLUMNS, *rows], "Data"),
        strings=(),
        parts={
            "xl/worksheets/sheet1.xml": None,
            "xl/chartsheets/sheet1.xml": f"<chartsheet xmlns='{MAIN}'><sheetViews/></chartsheet>".encode(),
            "xl/_rels/workbook.xml.rels": relationships(relations).encode(),
        },
    )
    return Case("a.xlsx", content, (Rows(COLUMNS, tuple(rows), "sheet"), Refused("sheet")))


@SHEETS.add
def sheet_with_hidden_rows(chance: Random) -> Case:
    rows = rows_of(chance)
    seen = tuple(row for number, row in enumerate(rows, start=2) if number not in (3, 5))
    content = workbook(Sheet([COLUMNS, *rows], hidden_rows=frozenset((3, 5))), strings=())
    return Case("a.xlsx", content, (Rows(COLUMNS, tuple(rows), "hidden|filter"), Rows(COLUMNS, seen, "hidden|filter")))


@SHEETS.add
def sheet_with_a_hidden_column(chance: Random) -> Case:
    rows = rows_of(chance)
    hidden = "<cols><col min='3' max='3' width='0' hidden='1'/></cols>"
    content = workbook(Sheet([COLUMNS, *rows], before=hidden), strings=())
    seen = tuple(row[:2] for row in rows)
    return Case("a.xlsx", content, (Rows(COLUMNS, tuple(rows), "hidden"), Rows(COLUMNS[:2], seen, "hidden")))


@SHEETS.add
def sheet_with_merged_labels(_chance: Random) -> Case:
    """The label of three rows is in the first of them."""
    written = [("1", "a b", "warm"), ("2", "c d", None), ("3", "e f", None), ("4", "g h", "cold")]
    full = (("1", "a b", "warm"), ("2", "c d", "warm"), ("3", "e f", "warm"), ("4", "g h", "cold"))
    bare = tuple(tuple(cell or "" for cell in row) for row in written)
    merged = "<mergeCells count='1'><mergeCell ref='C2:C4'/></mergeCells>"
    content = workbook(Sheet([COLUMNS, *written], behind=merged), strings=())
    return Case("a.xlsx", content, (Rows(COLUMNS, full), Rows(COLUMNS, bare, "merged")))


@SHEETS.add
def sheet_with_a_merged_header(chance: Random) -> Case:
    rows = rows_of(chance)
    merged = "<mergeCells count='1'><mergeCell ref='B1:C1'/></mergeCells>"
    content = workbook(Sheet([("id", "text", None), *rows], behind=merged), strings=())
    return Case("a.xlsx", content, (Rows((), tuple(rows)),))


@SHEETS.add
def sheet_with_a_title_above(chance: Random) -> Case:
    """The names of columns are in the third row."""
    rows = rows_of(chance)
    sheet = Sheet([("Survey of spring",), (), COLUMNS, *rows])
    right = (
        Rows(COLUMNS, tuple(rows)),
        Rows((), (..., *(... for _ in rows)), "header|title|first row"),
        Refused("header|row"),
    )
    return Case("a.xlsx", workbook(sheet, strings=()), right)


@SHEETS.add
def sheet_that_begins_at_c4(chance: Random) -> Case:
    rows = rows_of(chance)
    moved = [(None, None, *row) for row in (COLUMNS, *rows)]
    return Case("a.xlsx", workbook(Sheet([(), (), (), *moved], places=True), strings=()), (Rows(COLUMNS, tuple(rows)),))


@SHEETS.add
def sheet_with_gaps(_chance: Random) -> Case:
    rows = [("1", None, "warm"), (None, "a b", None), (), ("4", "c d", "cold")]
    return _case(rows, [("1", "", "warm"), ("", "a b", ""), ("4", "c d", "cold")])


# ---- cells -----------------------------------------------------------------------------------------------------------


def _cells(cells: Sequence[tuple[Xml | object, Cell]], says: str = "", properties: str = "") -> Case:
    """Cells in the column of labels."""
    rows = [(str(at), f"text {at}", cell) for at, (cell, _) in enumerate(cells)]
    right = [(str(at), f"text {at}", each) for at, (_, each) in enumerate(cells)]
    return _case(rows, right, says, properties)


@SHEETS.add
def cells_with_errors(_chance: Random) -> Case:
    """A cell that says #N/A has no value: a note tells of it."""
    kinds = ("#N/A", "#REF!", "#DIV/0!", "#NAME?", "#VALUE!", "#NULL!", "#NUM!", "#GETTING_DATA", "#SPILL!")
    cells = [(Xml(f"<c{{at}} t='e'><v>{kind}</v></c>"), frozenset((kind, ""))) for kind in kinds]
    return _cells([("warm", "warm"), *cells], "#N/A|#REF|error")


@SHEETS.add
def a_row_with_only_an_error(_chance: Random) -> Case:
    error = Xml("<c{at} t='e'><v>#REF!</v></c>")
    return _case(
        [("1", "a b", "warm"), (error,), ("3", "c d", "cold")], [("1", "a b", "warm"), ..., ("3", "c d", "cold")]
    )


@SHEETS.add
def cells_with_formulas_without_a_value(_chance: Random) -> Case:
    """Programs that write formulas do not compute them; a blank text would be silent loss."""
    cell = Xml("<c{at}><f>CONCATENATE(A1,B1)</f></c>")
    return _cells([("warm", "warm"), (cell, ""), (Xml("<c{at} t='str'><f>A1</f><v></v></c>"), "")], "formula")


@SHEETS.add
def cells_with_formulas_and_their_value(_chance: Random) -> Case:
    text = Xml("<c{at} t='str'><f>A1&amp;B1</f><v>so it &lt; is</v></c>")
    return _cells([(text, "so it < is"), (Xml("<c{at}><f>1+1</f><v>2</v></c>"), "2")])


def _dates(_chance: Random, earlier: int = 0, properties: str = "") -> Case:
    day = frozenset(("2026-01-02", "2026-01-02T00:00:00"))
    noon = frozenset(("2026-01-02T12:00:00", "2026-01-02 12:00:00"))
    cells = [
        (f"<c{{at}} s='1'><v>{46024 - earlier}</v></c>", day),
        (f"<c{{at}} s='2'><v>{46024 - earlier}</v></c>", day),
        ("<c{at} t='d'><v>2026-01-02</v></c>", day),
        (f"<c{{at}} s='2'><v>{46024.5 - earlier}</v></c>", noon),
    ]
    return _cells([(Xml(cell), right) for cell, right in cells], properties=properties)


SHEETS.small |= {
    "cells with dates": _dates,
    "cells with dates from 1904": partial(_dates, earlier=1462, properties="<workbookPr date1904='1'/>"),
}


@SHEETS.add
def cells_with_days_that_are_not_days(_chance: Random) -> Case:
    values = ("-1", "1e300", "99999999", "NaN", "60", "0")
    cells = [(str(at), f"text {at}", Xml(f"<c{{at}} s='1'><v>{value}</v></c>")) for at, value in enumerate(values)]
    right = tuple((str(at), f"text {at}") for at in range(len(values)))
    return Case("a.xlsx", workbook(Sheet([COLUMNS, *cells]), strings=()), (Rows(COLUMNS[:2], right), Refused()))


@SHEETS.add
def cells_with_numbers_and_truth(_chance: Random) -> Case:
    return _cells(
        [
            (True, frozenset(("yes", "true", "TRUE", "1"))),
            (False, frozenset(("no", "false", "FALSE", "0"))),
            (0.1, "0.1"),
            (3.0, "3"),
            (-7, "-7"),
            ("007", "007"),
            ("1e5", "1e5"),
            ("TRUE", "TRUE"),
            (Xml("<c{at} s='3'><v>0.5</v></c>"), frozenset(("0.5", "50%"))),
            (12345678901234, "12345678901234"),
        ]
    )


@SHEETS.add
def strings_that_are_missing(chance: Random) -> Case:
    """Cells name shared strings, and there are none."""
    content = workbook(Sheet([COLUMNS, *rows_of(chance)]), strings=(), parts={"xl/sharedStrings.xml": None})
    return Case("a.xlsx", content, (Refused(),))


@SHEETS.add
def strings_that_are_too_few(_chance: Random) -> Case:
    cells = [("1", Xml(f"<c{{at}} t='s'><v>{at}</v></c>"), "a") for at in (0, 99, 2**31, 2**63, -1)]
    return Case("a.xlsx", workbook(Sheet([COLUMNS, *cells]), strings=("id", "text", "label")), (Refused(),))


@SHEETS.add
def a_library_s_names_of_elements(chance: Random) -> Case:
    """Some programs write every element with a prefix."""
    rows = rows_of(chance, 4)
    content = workbook(Sheet([COLUMNS, *rows]))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = [(info.filename, archive.read(info)) for info in archive.infolist()]

    def prefixed(part: bytes) -> bytes:
        return re.sub(rb"<(/?)(?=[a-z])", rb"<\1x:", part).replace(b"xmlns='", b"xmlns:x='")

    ours = ("xl/worksheets", "xl/workbook.xml")
    changed = [(name, prefixed(part) if name.startswith(ours) else part) for name, part in parts]
    return Case("a.xlsx", zipped(changed), (Rows(COLUMNS, tuple(rows)), Refused()))


_DOCUMENT = [("word/document.xml", b"<w:document/>"), ("[Content_Types].xml", b"<Types/>")]
SHEETS.small |= {
    "an archive that is no workbook": lambda _: Case(
        "a.zip", zipped([("a.csv", b"id,text\n1,some words\n")]), (Refused(),)
    ),
    "a written document": lambda _: Case("a.docx", zipped(_DOCUMENT), (Refused(),)),
}


@SHEETS.add
def an_open_document(_chance: Random) -> Case:
    mime = ("mimetype", b"application/vnd.oasis.opendocument.spreadsheet")
    body = (
        b"<office:document-content xmlns:office='urn:oasis:names:tc:opendocument:xmlns:office:1.0' "
        b"xmlns:table='urn:oasis:names:tc:opendocument:xmlns:table:1.0' "
        b"xmlns:text='urn:oasis:names:tc:opendocument:xmlns:text:1.0'><office:body><office:spreadsheet>"
        b"<table:table table:name='S'>%s</table:table></office:spreadsheet></office:body></office:document-content>"
    )
    row = b"<table:table-row>%s</table:table-row>"
    cell = b"<table:table-cell office:value-type='string'><text:p>%s</text:p></table:table-cell>"
    rows = [row % b"".join(cell % each for each in cells) for cells in ((b"id", b"text"), (b"1", b"some words"))]
    return Case(
        "a.ods",
        zipped([mime, ("content.xml", body % b"".join(rows))]),
        (Refused(), Rows(("id", "text"), (("1", "some words"),))),
    )


@SHEETS.add
def a_workbook_called_csv(chance: Random) -> Case:
    rows = rows_of(chance)
    return Case("a.csv", workbook(Sheet([COLUMNS, *rows]), strings=()), (Rows(COLUMNS, tuple(rows)),))
