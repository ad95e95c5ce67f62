"""Files made to take the machine, and valid files in which bits, pieces and parts were changed by chance."""

import io
import struct
import warnings
import zipfile
import zlib
from collections.abc import Callable, Mapping
from functools import partial
from random import Random
from typing import IO

from tests.foreign_files.cases import COLUMNS, Case, Kinds, Refused, Survived
from tests.foreign_files.records import packed, table_of
from tests.foreign_files.sheets import MAIN, Sheet, relationships, rows_of, workbook, zipped

HOSTILE = Kinds()

_EITHER = (Refused(), Survived())


def _hostile(content: bytes | Callable[[IO[bytes]], object], name: str = "a.xlsx") -> Case:
    return Case(name, content, _EITHER)


def _sheet_xml(rows: str) -> str:
    return f"<worksheet xmlns='{MAIN}'><sheetData>{rows}</sheetData></worksheet>"


# ---- sheets that are small and claim to be large --------------------------------------------------------------------


@HOSTILE.add
def a_cell_far_away(chance: Random) -> Case:
    """Each way of writing a place that a check may overlook."""
    places = ("XFD60000", "XFD1048576", "A1048576", "XFD1", "ZZZ9999999", "AAAAAAAA1", "A99999999999999999999")
    place = chance.choice(places)
    cell = chance.choice((
        "<row r='1'><c r='A1' t='inlineStr'><is><t>text</t></is></c></row><row><c r='{0}'><v>1</v></c></row>",
        '<row r="1"><c r="A1"><v>1</v></c><c r="{0}"><v>1</v></c></row>',
        "<row><c r='A1'><v>1</v></c></row><row><c  r  =  '{0}' ><v>1</v></c></row>",
        "<row><c><v>1</v></c></row><row r='1048576'><c r='{0}'><v>1</v></c></row>",
        '<row><c t="n" r="&#88;FD60000"><v>1</v></c></row>',
        '<row r="1"><c r="$A$1"><v>1</v></c><c r="{0}"><v>1</v></c></row>',
    ))  # fmt: skip
    spelled = chance.choice((str, str.lower))(place)
    return _hostile(workbook(Sheet(xml=_sheet_xml(cell.replace("{0}", spelled)))))


@HOSTILE.add
def a_sheet_in_another_folder(chance: Random) -> Case:
    """The relations say where a sheet is."""
    place = chance.choice(("data.xml", "../elsewhere/data.bin", "/xl/other/data", "./worksheets/../x.xml"))
    name = {
        "data.xml": "xl/data.xml",
        "../elsewhere/data.bin": "elsewhere/data.bin",
        "/xl/other/data": "xl/other/data",
    }.get(place, "xl/x.xml")
    xml = _sheet_xml("<row><c r='A1'><v>1</v></c></row><row><c r='XFD60000'><v>1</v></c></row>")
    return _hostile(workbook(Sheet(), parts={
        "xl/worksheets/sheet1.xml": None,
        name: xml.encode(),
        "xl/_rels/workbook.xml.rels": relationships([("r1", "worksheet", place)]).encode(),
    }))  # fmt: skip


@HOSTILE.add
def a_dimension_that_lies(chance: Random) -> Case:
    place = chance.choice(("A1:XFD1048576", "XFD1048576", "B2:A1", "A0", "", "A1:ZZZZZZZZZ99999999999999", "-"))
    rows = [("text",), (1,)]
    return _hostile(workbook(Sheet(rows, before=f"<dimension ref='{place}'/>")))


@HOSTILE.add
def a_merged_area_of_a_whole_sheet(chance: Random) -> Case:
    merged = "".join(f"<mergeCell ref='A{at}:XFD{1048576 - at}'/>" for at in range(1, chance.choice((2, 2_000))))
    sheet = Sheet([COLUMNS, *rows_of(chance, 2)], behind=f"<mergeCells>{merged}</mergeCells>")
    return _hostile(workbook(sheet, strings=()))


@HOSTILE.add
def rows_of_one_number(chance: Random) -> Case:
    numbers = chance.choice(("1", "0", "-1", "4294967296", "18446744073709551616", "x"))
    rows = "".join(f"<row r='{numbers}'><c r='A{numbers}'><v>{at}</v></c></row>" for at in range(50))
    return _hostile(workbook(Sheet(xml=_sheet_xml(rows))))


@HOSTILE.add
def a_count_of_strings_that_lies(_chance: Random) -> Case:
    strings = f"<sst xmlns='{MAIN}' count='4294967295' uniqueCount='4294967295'><si><t>text</t></si></sst>".encode()
    sheet = Sheet([("text",), ("a",)])
    return _hostile(workbook(sheet, strings=("text", "a"), parts={"xl/sharedStrings.xml": strings}))


# ---- XML ------------------------------------------------------------------------------------------------------------


@HOSTILE.add
def entities_in_entities(chance: Random) -> Case:
    levels = "".join(f'<!ENTITY e{at} "{f"&e{at - 1};" * 10}">' for at in range(1, 12))
    document = f'<!DOCTYPE x [<!ENTITY e0 "word ">{levels}]>'
    outside = '<!DOCTYPE x [<!ENTITY e11 SYSTEM "file:///etc/passwd">]>'
    cell = "<row r='1'><c r='A1' t='inlineStr'><is><t>&e11;</t></is></c></row>"
    xml = _sheet_xml(cell + cell.replace("1", "2").replace("e22", "e11"))
    return _hostile(workbook(Sheet(xml=chance.choice((document, outside)) + xml)))


@HOSTILE.add
def deep_elements(chance: Random) -> Case:
    deep = chance.choice((1_000, 500_000))
    inside = chance.choice(("worksheets/sheet1.xml", "workbook.xml", "styles.xml", "_rels/workbook.xml.rels", None))
    part = f"xl/{inside}" if inside else "[Content_Types].xml"
    return _hostile(workbook(Sheet([("a",), ("b",)]), parts={part: b"<a>" * deep + b"</a>" * deep}))


@HOSTILE.add
def a_huge_attribute(chance: Random) -> Case:
    part = chance.choice(
        (b"<row r='%s'/>", b"<c r='%s'/>", b"<row spans='%s'/>", b"<c t='%s'><v>1</v></c>", b"<c><v>%s</v></c>")
    )
    content = part % (chance.choice((b"9", b"A", b"\xf0\x9f\x98\x80")) * 5_000_000)
    xml = b"<worksheet xmlns='%s'><sheetData><row>%s</row></sheetData></worksheet>" % (MAIN.encode(), content)
    return _hostile(workbook(Sheet(), parts={"xl/worksheets/sheet1.xml": xml}))


@HOSTILE.add
def a_million_attributes(_chance: Random) -> Case:
    many = b" ".join(b"a%d='1'" % at for at in range(200_000))
    return _hostile(workbook(Sheet(), parts={"xl/worksheets/sheet1.xml": b"<worksheet %s/>" % many}))


@HOSTILE.add
def names_with_a_way_out(chance: Random) -> Case:
    """A name of a part is never a path on the disk."""
    target = chance.choice(
        ("../../../../etc/passwd", "/etc/passwd", "file:///etc/passwd", "http://127.0.0.1:1/a", "..\\..\\a")
    )
    relations = relationships([("r1", "worksheet", target)]).encode()
    return _hostile(
        workbook(Sheet([("a",), ("b",)]), parts={"xl/_rels/workbook.xml.rels": relations, "../../etc/x": b"<a/>"})
    )


# ---- the archive ----------------------------------------------------------------------------------------------------


def _valid(chance: Random) -> bytes:
    return workbook(Sheet([COLUMNS, *rows_of(chance, 6)], before="<dimension ref='A1:C9'/>"), strings=())


@HOSTILE.add
def an_archive_cut_off(chance: Random) -> Case:
    content = _valid(chance)
    return Case("a.xlsx", content[: chance.randrange(4, len(content) - 30)], (Refused(),))


@HOSTILE.add
def an_archive_with_a_wrong_checksum(chance: Random) -> Case:
    content = bytearray(_valid(chance))
    for at, offset in (
        (content.rfind(b"xl/worksheets/sheet1.xml") - 46 + 16, 4),
        (content.find(b"xl/worksheets/sheet1.xml") - 30 + 14, 4),
    ):
        content[at : at + offset] = b"\x12\x34\x56\x78"
    return _hostile(bytes(content))


@HOSTILE.add
def an_archive_whose_sizes_lie(chance: Random) -> Case:
    """A part says that it is small, or large, and is not."""
    content = bytearray(_valid(chance))
    name = chance.choice((b"xl/worksheets/sheet1.xml", b"xl/sharedStrings.xml"))
    size = struct.pack("<I", chance.choice((0, 1, 2**31 - 1, 2**32 - 1)))
    at = content.rfind(name) - 46 + chance.choice((20, 24))
    content[at : at + 4] = size
    if chance.random() < 0.5:
        at = content.find(name) - 30 + chance.choice((18, 22))
        content[at : at + 4] = size
    return _hostile(bytes(content))


@HOSTILE.add
def an_archive_with_a_part_twice(chance: Random) -> Case:
    """Two readers may see two tables."""
    with zipfile.ZipFile(io.BytesIO(_valid(chance))) as archive:
        parts = [(info.filename, archive.read(info)) for info in archive.infolist()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        far = _sheet_xml("<row><c r='A1'><v>1</v></c></row><row><c r='XFD60000'><v>1</v></c></row>")
        return _hostile(zipped([*parts, ("xl/worksheets/sheet1.xml", far.encode())]))


@HOSTILE.add
def an_archive_that_says_it_is_encrypted(chance: Random) -> Case:
    content = bytearray(_valid(chance))
    for start, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = content.find(start)
        while at >= 0:
            content[at + offset] |= 1
            at = content.find(start, at + 1)
    return Case("a.xlsx", bytes(content), (Refused(),))


@HOSTILE.add
def an_archive_with_an_unknown_compression(chance: Random) -> Case:
    content = bytearray(_valid(chance))
    at = content.rfind(b"xl/worksheets/sheet1.xml") - 46 + 10
    content[at : at + 2] = struct.pack("<H", chance.choice((1, 6, 9, 12, 14, 93, 97, 99)))
    return _hostile(bytes(content))


@HOSTILE.add
def an_archive_behind_something_else(chance: Random) -> Case:
    return _hostile(b"PK\x03\x04" + chance.randbytes(chance.choice((0, 30, 70_000))) + _valid(chance))


@HOSTILE.add
def an_archive_of_many_parts(_chance: Random) -> Case:
    return _hostile(zipped([(f"xl/worksheets/sheet{at}.xml", b"<worksheet/>") for at in range(5_000)]))


@HOSTILE.add
def an_end_of_an_archive_only(chance: Random) -> Case:
    counts = chance.choice((0, 1, 65_535))
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, counts, counts, 2**32 - 1, 0, 0)
    return Case("a.xlsx", b"PK\x03\x04" + bytes(26) + end, (Refused(),))


# ---- by chance ------------------------------------------------------------------------------------------------------


def changed(chance: Random, content: bytes) -> bytes:
    """Return bytes with one to four changes: flipped bits, a piece cut, doubled, moved or replaced."""
    result = bytearray(content)
    for _ in range(chance.randint(1, 4)):
        if not result:
            break
        at, long = chance.randrange(len(result)), min(chance.choice((1, 2, 4, 16, 200)), len(result))
        match chance.randrange(6):
            case 0:
                result[at] ^= 1 << chance.randrange(8)
            case 1:
                del result[at : at + long]
            case 2:
                result[at:at] = result[at : at + long] * chance.choice((1, 2, 50))
            case 3:
                other = chance.randrange(len(result))
                result[at : at + long] = result[other : other + long]
            case 4:
                result[at : at + long] = chance.choice((b"\xff", b"\x00", b"\x7f", b"<", b"9")) * long
            case _:
                result[at : at + 1] = chance.randbytes(1)
    return bytes(result)


_TOKENS = (
    (b"r='1'", b"r='1048577'"),
    (b'r="A1"', b'r="XFD1048576"'),
    (b'r="B2"', b'r="A1"'),
    (b"<v>", b"<v>-"),
    (b"<v>1</v>", b"<v>4294967296</v>"),
    (b"</row>", b""),
    (b't="s"', b't="d"'),
    (b't="s"', b't="b"'),
    (b't="s"', b't="e"'),
    (b't="s"', b's="1"'),
    (b"<t ", b"<r><t "),
    (b"UTF-8", b"UTF-16"),
    (b"<c ", b"<c s='99999' "),
    (b"numFmtId='14'", b"numFmtId='-1'"),
)


@HOSTILE.add
def a_workbook_with_changed_bytes(chance: Random) -> Case:
    return _hostile(changed(chance, _valid(chance)))


@HOSTILE.add
def a_workbook_with_a_changed_part(chance: Random) -> Case:
    """The archive is whole and its checksums are right; the XML of one part is not as it was."""
    with zipfile.ZipFile(io.BytesIO(_valid(chance))) as archive:
        parts = [(info.filename, archive.read(info)) for info in archive.infolist()]
    at = chance.randrange(len(parts))
    name, part = parts[at]
    old, new = chance.choice(_TOKENS)
    parts[at] = (name, changed(chance, part) if chance.random() < 0.5 else part.replace(old, new))
    if chance.random() < 0.1:
        del parts[at]
    return _hostile(zipped(parts))


@HOSTILE.add
def a_parquet_with_changed_bytes(chance: Random) -> Case:
    content = packed(table_of(rows_of(chance, 6)), compression=chance.choice(("snappy", "none", "zstd")))
    return _hostile(changed(chance, content), "a.parquet")


@HOSTILE.add
def a_parquet_with_a_changed_footer(chance: Random) -> Case:
    """What the footer says is not what the file has; its length is right."""
    content = packed(table_of(rows_of(chance, 6)))
    size = struct.unpack("<I", content[-8:-4])[0]
    footer = changed(chance, content[-8 - size : -8])
    return _hostile(content[: -8 - size] + footer + struct.pack("<I", len(footer)) + b"PAR1", "a.parquet")


@HOSTILE.add
def a_parquet_with_changed_pages(chance: Random) -> Case:
    content = packed(table_of(rows_of(chance, 6)), compression=chance.choice(("snappy", "none", "zstd")))
    size = struct.unpack("<I", content[-8:-4])[0]
    pages = bytearray(content[4 : -8 - size])
    for _ in range(chance.randint(1, 5)):
        pages[chance.randrange(len(pages))] ^= 1 << chance.randrange(8)
    return _hostile(content[:4] + bytes(pages) + content[-8 - size :], "a.parquet")


# ---- large ----------------------------------------------------------------------------------------------------------


def _bomb(name: str, pieces: tuple[bytes, bytes, bytes], times: int, lie: int | None = None) -> bytes:
    """Return a workbook in which the middle piece of a part is repeated; `lie` is the size that the archive claims."""
    before, middle, behind = pieces
    parts = {name: before + middle * times + behind}
    content = bytearray(workbook(Sheet([("text",), ("a",)]), strings=("text", "a"), parts=parts))
    if lie is not None:
        for mark, offset in ((content.rfind(name.encode()), -46 + 24), (content.find(name.encode()), -30 + 22)):
            content[mark + offset : mark + offset + 4] = struct.pack("<I", lie)
    return bytes(content)


_BLANKS = (b"<worksheet><sheetData>", b" " * 10**6, b"</sheetData></worksheet>")
_ROWS = (f"<worksheet xmlns='{MAIN}'><sheetData>".encode(), b"<row/>" * 100_000, b"</sheetData></worksheet>")
_COLUMNS = (
    f"<worksheet xmlns='{MAIN}'><sheetData><row>".encode(),
    b"<c><v>1</v></c>" * 50_000,
    b"</row></sheetData></worksheet>",
)
_STRINGS = (f"<sst xmlns='{MAIN}'>".encode(), b"<si><t>a</t></si>" * 50_000, b"</sst>")
_SHEET = "xl/worksheets/sheet1.xml"

BOMBS: Mapping[str, Callable[[], bytes]] = {
    "blanks of 512 megabytes in a sheet": partial(_bomb, _SHEET, _BLANKS, 512),
    "a bomb that says it is small": partial(_bomb, _SHEET, _BLANKS, 1_500, lie=1_000),
    "shared strings of gigabytes": partial(_bomb, "xl/sharedStrings.xml", _STRINGS, 600),
    "millions of empty rows": partial(_bomb, _SHEET, _ROWS, 800),
    "millions of columns": partial(_bomb, _SHEET, _COLUMNS, 100),
}


def _exploding(_chance: Random, bomb: Callable[[], bytes]) -> Case:
    return _hostile(lambda file: file.write(bomb()))


HOSTILE.large |= {name: partial(_exploding, bomb=bomb) for name, bomb in BOMBS.items()}


@HOSTILE.add_large
def cells_that_name_one_long_string(_chance: Random) -> Case:
    """A million cells of one string of a megabyte: a terabyte of text in a file of kilobytes."""

    def write(file: IO[bytes]) -> None:
        rows = "".join(f"<row><c t='s'><v>0</v></c><c t='s'><v>{at % 2}</v></c></row>" for at in range(200_000))
        file.write(workbook(Sheet(xml=_sheet_xml(rows)), strings=("word " * 200_000, "text")))

    return _hostile(write)


@HOSTILE.add_large
def a_table_of_20_million_cells(_chance: Random) -> Case:
    """As large as the old limit allows: a cell at either end."""
    xml = _sheet_xml("<row r='1'><c r='A1'><v>1</v></c></row><row r='1000000'><c r='T1000000'><v>1</v></c></row>")
    return _hostile(workbook(Sheet(xml=xml)))


@HOSTILE.add_large
def a_stream_that_never_ends(_chance: Random) -> Case:
    """A text file of one compressed byte repeated, 10 GB, named as a sheet; the sizes say nothing of it."""

    def write(file: IO[bytes]) -> None:
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        stream = b"".join([*(packer.compress(b" " * 10**6) for _ in range(10_000)), packer.flush()])
        name = _SHEET.encode()
        base = workbook(Sheet(), parts={_SHEET: None})
        common = (20, 0, 8, 0, 33, 0, len(stream), 100, len(name), 0)
        head = struct.pack("<4s5H3L2H", b"PK\x03\x04", *common) + name + stream
        directory = base.rfind(b"PK\x05\x06")
        entries, size, offset = struct.unpack("<HLL", base[directory + 10 : directory + 20])
        own = struct.pack("<4s6H3L5H2L", b"PK\x01\x02", 20, *common, 0, 0, 0, 0, offset) + name
        end = struct.pack(
            "<4s4H2LH", b"PK\x05\x06", 0, 0, entries + 1, entries + 1, size + len(own), offset + len(head), 0
        )
        file.write(base[:offset] + head + base[offset : offset + size] + own + end)

    return _hostile(write)
