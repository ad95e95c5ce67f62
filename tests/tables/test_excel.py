"""Excel files: the first sheet is a table like any other, and no file takes the memory of the machine."""

import io
from datetime import date
from xml.sax.saxutils import escape
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from traitbench.tables.rows import Unreadable
from traitbench.tables.sample_files import read

_TYPES = """<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Default Extension="xml" ContentType="application/xml"/>
<Override PartName="/xl/workbook.xml"
 ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>
</Types>"""
_RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def xlsx(*sheets: dict[str, object]) -> bytes:
    """An Excel file of sheets, each with its cells by place, such as `A1`."""
    place = io.BytesIO()
    relation = "<Relationship Id='r{0}' Type='" + _RELATION + "/{1}' Target='{2}'/>"
    names = "".join(f"<sheet name='S{n}' sheetId='{n}' r:id='r{n}'/>" for n in range(1, len(sheets) + 1))
    own = "".join(relation.format(n, "worksheet", f"worksheets/sheet{n}.xml") for n in range(1, len(sheets) + 1))
    package = "<Relationships xmlns='http://schemas.openxmlformats.org/package/2006/relationships'>{0}</Relationships>"
    with ZipFile(place, "w", ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", _TYPES)
        archive.writestr("_rels/.rels", package.format(relation.format(1, "officeDocument", "xl/workbook.xml")))
        archive.writestr("xl/_rels/workbook.xml.rels", package.format(own))
        archive.writestr(
            "xl/workbook.xml", f"<workbook xmlns='{_MAIN}' xmlns:r='{_RELATION}'><sheets>{names}</sheets></workbook>"
        )
        for number, cells in enumerate(sheets, start=1):
            rows = "".join(
                f'<row r="{int("".join(filter(str.isdigit, where)))}">{_cell(where, each)}</row>'
                for where, each in cells.items()
            )
            archive.writestr(
                f"xl/worksheets/sheet{number}.xml",
                f"<worksheet xmlns='{_MAIN}'><sheetData>{rows}</sheetData></worksheet>",
            )
    return place.getvalue()


def _cell(where: str, value: object) -> str:
    if isinstance(value, bool):
        return f'<c r="{where}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, int | float):
        return f'<c r="{where}"><v>{value}</v></c>'
    if isinstance(value, date):
        return f'<c r="{where}" t="d"><v>{value.isoformat()}</v></c>'
    return f'<c r="{where}" t="inlineStr"><is><t>{escape(str(value))}</t></is></c>'


def test_the_first_sheet_is_read_with_the_numbers_of_its_rows() -> None:
    cells = {"A1": "text", "B1": "label", "A2": "Thank you.", "B2": 1, "A4": "Go away.", "B4": 0.25, "C4": True}
    table = read("a.xlsx", xlsx(cells, {"A1": "other"}))
    assert table.columns[:2] == ("text", "label")
    assert [(row.number, row.cells["text"], row.cells["label"]) for row in table.rows] == [
        (2, "Thank you.", "1"),
        (4, "Go away.", "0.25"),
    ]
    assert "2 sheets" in table.notes[0]


def test_a_sheet_without_a_header_has_numbered_columns() -> None:
    table = read("a.xlsx", xlsx({"A1": "Thank you.", "B1": "warm"}), header=False)
    assert [dict(row.cells) for row in table.rows] == [{"Column 1": "Thank you.", "Column 2": "warm"}]


def test_a_file_that_is_too_large_when_unpacked_is_not_called_damaged() -> None:
    place = io.BytesIO(xlsx({"A1": "text", "A2": "Hello."}))
    with ZipFile(place, "a", ZIP_DEFLATED) as archive, archive.open("xl/media/picture.bin", "w") as part:
        for _ in range(513):
            part.write(bytes(2**20))
    with pytest.raises(Unreadable, match="too large"):
        read("a.xlsx", place.getvalue())


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"PK\x03\x04 and then nothing", "not a valid Excel file"),
        (xlsx({"A1": "text"}), "header but no rows"),
        (xlsx({}), "is empty"),
        (xlsx({"A1": "text", "XFD1048576": "far away"}), "The cell XFD1048576 is far outside the table"),
    ],
)
def test_a_file_that_is_no_table_is_refused_with_a_sentence(content: bytes, sentence: str) -> None:
    with pytest.raises(Unreadable, match=sentence):
        read("a.xlsx", content)
