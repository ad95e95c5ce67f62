"""JSON files, one object a line or one array, and Parquet files, as programs write them."""

import io
import json
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from functools import partial
from random import Random
from typing import IO, Any

import pyarrow as pa
from pyarrow import parquet

from tests.foreign_files.cases import COLUMNS, QUOTES, Case, Kinds, Record, Refused, Rows, Survived, numbered, texts

RECORDS = Kinds()


def objects(rows: Iterable[Sequence[str]]) -> list[dict[str, Any]]:
    """Return each row as an object."""
    return [dict(zip(COLUMNS, row, strict=True)) for row in rows]


def lines(values: Iterable[object], ascii: bool = True) -> bytes:
    """Return one value a line."""
    return "".join(json.dumps(value, ensure_ascii=ascii) + "\n" for value in values).encode()


def _some(chance: Random) -> list[tuple[str, ...]]:
    return numbered([*texts(chance, 40), *QUOTES])


def _right(rows: Sequence[Record], says: str = "") -> Rows:
    return Rows(COLUMNS, tuple(rows), says)


# ---- JSON ------------------------------------------------------------------------------------------------------------


@RECORDS.add
def json_lines(chance: Random) -> Case:
    rows = _some(chance)
    return Case("a.jsonl", lines(objects(rows), chance.random() < 0.5), (_right(rows),))


@RECORDS.add
def json_array(chance: Random) -> Case:
    rows = _some(chance)
    content = json.dumps(objects(rows), indent=chance.choice((None, 1)), ensure_ascii=False).encode()
    return Case("a.json", chance.choice((b"", b"\xef\xbb\xbf", b"\n\n ")) + content, (_right(rows),))


@RECORDS.add
def json_lines_with_a_mark(chance: Random) -> Case:
    rows = _some(chance)
    encoding = chance.choice(("utf-8-sig", "utf-16"))
    return Case("a.jsonl", lines(objects(rows), ascii=False).decode().encode(encoding), (_right(rows),))


@RECORDS.add
def json_with_nested_values(chance: Random) -> Case:
    rows = _some(chance)
    more = [{**each, "author": {"name": "A", "tags": ["x", None]}, "n": 2**70} for each in objects(rows)]
    return Case("a.jsonl", lines(more), (_right(rows),))


@RECORDS.add
def json_with_numbers_that_json_has_not(chance: Random) -> Case:
    rows = _some(chance)
    values = (float("nan"), float("inf"), -float("inf"))
    more = [{**each, "value": values[at % 3]} for at, each in enumerate(objects(rows))]
    return Case("a.jsonl", lines(more), (_right(rows),))


@RECORDS.add
def json_with_a_deep_line(chance: Random) -> Case:
    rows = _some(chance)
    deep = b'{"id": "0", "text": ' + b"[" * 100_000 + b"]" * 100_000 + b', "label": ""}\n'
    return Case(
        "a.jsonl", lines(objects(rows[:3])) + deep + lines(objects(rows[3:])), (_right([*rows[:3], None, *rows[3:]]),)
    )


RECORDS.small |= {
    "json array of a million brackets": lambda _: Case("a.json", b"[" * 10**6, (Refused(),)),
    "json line of a million brackets": lambda _: Case("a.jsonl", b'{"a":' * 10**6, (Refused(),)),
}


@RECORDS.add
def json_with_a_long_number(chance: Random) -> Case:
    rows = _some(chance)
    long = b'{"id": ' + b"9" * 6_000 + b', "text": "x", "label": ""}\n'
    return Case("a.jsonl", lines(objects(rows)) + long, (_right([*rows, ...]),))


@RECORDS.add
def json_with_a_key_twice(chance: Random) -> Case:
    """One of the two texts would be lost without a word."""
    rows = _some(chance)
    twice = b'{"id": "0", "text": "the first text", "text": "the second text", "label": ""}\n'
    right = (_right([None, *rows]), _right([..., *rows], "twice|duplicate|same (key|name)"))
    return Case("a.jsonl", twice + lines(objects(rows)), right)


@RECORDS.add
def json_lines_some_of_them_bad(chance: Random) -> Case:
    rows = _some(chance)
    bad = [b"{", b"null", b"[]", b'"text"', b"3", b"{'text': 1}", b"NaN", b'{"text": "\x01"}', b"}", b"undefined"]
    content = lines(objects(rows)) + b"".join(line + b"\n" for line in bad)
    return Case("a.jsonl", content, (_right([*rows, *([None] * len(bad))]),))


@RECORDS.add
def json_with_halves_of_pairs(chance: Random) -> Case:
    """A half of a surrogate pair is no character; the row is a problem, or keeps it to be refused later."""
    rows = _some(chance)
    half = b'{"id": "0", "text": "a \\ud800 b", "label": ""}\n'
    return Case("a.jsonl", lines(objects(rows)) + half, (_right([*rows, ...]),))


@RECORDS.add
def json_with_other_keys_in_each_line(chance: Random) -> Case:
    rows = _some(chance)
    more = [
        {key: value for key, value in each.items() if value} | {f"k{at}": at} for at, each in enumerate(objects(rows))
    ]
    return Case("a.jsonl", lines(more), (_right(rows),))


@RECORDS.add
def json_object_around_the_array(chance: Random) -> Case:
    rows = _some(chance)
    content = json.dumps({"count": len(rows), "data": objects(rows)}, indent=chance.choice((None, 2))).encode()
    return Case("a.json", content, (_right(rows), Refused()))


@RECORDS.add
def json_called_csv(chance: Random) -> Case:
    rows = _some(chance)
    return Case("a.csv", lines(objects(rows)), (_right(rows), Refused()))


@RECORDS.add
def json_array_cut_off(chance: Random) -> Case:
    return Case("a.json", json.dumps(objects(_some(chance))).encode()[:-20], (Refused(),))


# ---- Parquet ---------------------------------------------------------------------------------------------------------


def packed(table: pa.Table, **options: Any) -> bytes:
    """Return a table as a Parquet file."""
    place = io.BytesIO()
    parquet.write_table(table, place, **options)
    return place.getvalue()


def table_of(rows: Sequence[Sequence[str]], **columns: Any) -> pa.Table:
    """Return the rows and further columns."""
    own = {name: [row[at] for row in rows] for at, name in enumerate(COLUMNS)}
    return pa.table({**own, **columns})


def _with(chance: Random, values: Callable[[Random], pa.Array]) -> Case:
    """Rows with one more column, which is repeated as often as there are rows."""
    rows, array = _some(chance), values(chance)
    column = array.take(pa.array([at % len(array) for at in range(len(rows))]))
    return Case("a.parquet", packed(table_of(rows, more=column)), (_right(rows),))


TIMES = (pa.timestamp("ns"), pa.timestamp("us", tz="Europe/Berlin"), pa.time64("ns"), pa.duration("ns"))
TIMES_OUT_OF_RANGE = (pa.timestamp("ms"), pa.timestamp("us", tz="UTC"), pa.duration("ms"))
DECIMALS = (pa.decimal128(38, 10), pa.decimal256(60, 20))
NESTED: Sequence[Any] = ([{"a": [1, 2], "b": {"c": b"\xff"}}], [], None, [{"a": None, "b": {"c": b"x"}}])
NUMBERS = (
    pa.array([1.5, float("nan"), None, float("-inf")], pa.float64()),
    pa.array([2**64 - 1, 0], pa.uint64()),
    pa.array([None, None], pa.null()),
    pa.array([True, None, False]),
)
MORE: Mapping[str, Callable[[Random], pa.Array]] = {
    "an unknown time zone": lambda _: pa.array([0, 10**15], pa.timestamp("us", tz="Mars/Olympus_Mons")),
    "times": lambda chance: pa.array([1, 1_700_000_000_000], pa.int64()).cast(chance.choice(TIMES)),
    "times out of range": lambda chance: pa.array([9 * 10**18, -9 * 10**18], pa.int64()).cast(
        chance.choice(TIMES_OUT_OF_RANGE)
    ),
    "days out of range": lambda _: pa.array([2**31 - 1, -(2**31), 0], pa.int32()).cast(pa.date32()),
    "decimals": lambda chance: pa.array([Decimal("1.5"), None, Decimal("-99999999999999.25")], chance.choice(DECIMALS)),
    "nested values": lambda _: pa.array(NESTED),
    "a map": lambda _: pa.array([[("a", date(2026, 1, 2))], None], pa.map_(pa.string(), pa.date32())),
    "numbers": lambda chance: chance.choice(NUMBERS),
}
RECORDS.small |= {f"parquet with {name}": partial(_with, values=values) for name, values in MORE.items()}


@RECORDS.add
def parquet_file(chance: Random) -> Case:
    rows = _some(chance)
    options = chance.choice(
        ({}, {"compression": "zstd"}, {"compression": "gzip"}, {"row_group_size": 3}, {"version": "1.0"})
    )
    return Case("download", packed(table_of(rows), **options), (_right(rows),))


@RECORDS.add
def parquet_with_a_dictionary(chance: Random) -> Case:
    rows = _some(chance)
    table = table_of(rows)
    for at in (1, 2):
        table = table.set_column(at, COLUMNS[at], table.column(at).dictionary_encode())
    return Case("a.parquet", packed(table), (_right(rows),))


@RECORDS.add
def parquet_with_long_strings(chance: Random) -> Case:
    rows = _some(chance)
    table = table_of(rows)
    kind = chance.choice((pa.large_string(), pa.string_view()))
    return Case("a.parquet", packed(table.set_column(1, "text", table.column(1).cast(kind))), (_right(rows),))


@RECORDS.add
def parquet_with_bytes_as_texts(chance: Random) -> Case:
    rows = _some(chance)
    table = table_of(rows)
    return Case("a.parquet", packed(table.set_column(1, "text", table.column(1).cast(pa.binary()))), (_right(rows),))


@RECORDS.add
def parquet_with_invalid_bytes(chance: Random) -> Case:
    return _invalid(chance, lambda binary: binary, Refused("UTF-8|bytes"))


@RECORDS.add
def parquet_with_an_invalid_string(chance: Random) -> Case:
    """The type says string, the bytes are none."""
    return _invalid(chance, lambda binary: pa.StringArray.from_buffers(len(binary), *binary.buffers()[1:]), Refused())


def _invalid(chance: Random, as_column: Callable[[pa.Array], pa.Array], refused: Refused) -> Case:
    rows = _some(chance)
    binary = pa.array([b"a \xff b", *(row[1].encode() for row in rows[1:])], pa.binary())
    table = table_of(rows).set_column(1, "text", as_column(binary))
    right = (_right([None, *rows[1:]]), _right([..., *rows[1:]], "UTF-8|bytes"), refused)
    return Case("a.parquet", packed(table), right)


@RECORDS.add
def parquet_with_columns_of_one_name(chance: Random) -> Case:
    rows = _some(chance)
    table = table_of(rows).rename_columns(["x (3)", "x", "x"])
    return Case("a.parquet", packed(table), (Rows((), tuple(rows)),))


RECORDS.small |= {
    "parquet without rows": lambda _: Case(
        "a.parquet", packed(pa.table({"text": pa.array([], pa.string())})), (Refused("rows"),)
    ),
    "parquet without columns": lambda _: Case("a.parquet", packed(pa.table({})), (Refused("rows|columns"),)),
}


@RECORDS.add
def parquet_with_an_index_of_pandas(chance: Random) -> Case:
    rows = _some(chance)
    frame = table_of(rows).to_pandas().set_index("id")
    return Case("a.parquet", packed(pa.Table.from_pandas(frame)), (_right(rows),))


@RECORDS.add
def parquet_that_declares_too_many_rows(chance: Random) -> Case:
    content = packed(table_of(_some(chance)[:7]))
    return Case("a.parquet", declared(content, 7, chance.choice((2**31, 2**40, 2**62))), (Refused(), Survived()))


@RECORDS.add
def parquet_with_a_wrong_length_of_its_footer(chance: Random) -> Case:
    content = packed(table_of(_some(chance)))
    wrong = chance.choice((0, 1, 2**31 - 1, 2**32 - 1, len(content)))
    return Case("a.parquet", content[:-8] + struct.pack("<I", wrong) + b"PAR1", (Refused(),))


@RECORDS.add
def parquet_cut_off(chance: Random) -> Case:
    content = packed(table_of(_some(chance)))
    return Case("a.parquet", content[: chance.randrange(4, len(content) - 1)], (Refused(),))


@RECORDS.add
def parquet_that_is_encrypted(chance: Random) -> Case:
    return Case("a.parquet", b"PARE" + packed(table_of(_some(chance)))[4:-4] + b"PARE", (Refused(),))


def declared(content: bytes, rows: int, instead: int) -> bytes:
    """Return a Parquet file whose footer says another number of rows and values, wherever it says that number."""
    size = struct.unpack("<I", content[-8:-4])[0]
    start, footer = content[: -8 - size], content[-8 - size : -8]
    changed = footer.replace(b"\x16" + _varint(rows), b"\x16" + _varint(instead))
    return start + changed + struct.pack("<I", len(changed)) + b"PAR1"


def _varint(number: int) -> bytes:
    """Return a positive number as Thrift's compact protocol writes it: zigzag, then seven bits a byte."""
    left, parts = number << 1, bytearray()
    while left > 127:
        parts.append(left & 127 | 128)
        left >>= 7
    return bytes([*parts, left])


# ---- large -----------------------------------------------------------------------------------------------------------


def _once_compressed(values: pa.Array, times: int) -> Case:
    """A small file: a value that repeats is written once."""

    def write(file: IO[bytes]) -> None:
        schema = pa.schema({"text": values.type})
        with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
            for _ in range(times):
                writer.write_table(pa.table({"text": values}))

    return Case("a.parquet", write, (Survived(),))


def _long_lists(_chance: Random) -> Case:
    offsets = pa.array([0, 100_000_000], pa.int32())
    return _once_compressed(pa.ListArray.from_arrays(offsets, pa.nulls(100_000_000, pa.int8())), 1)


RECORDS.large |= {
    "parquet of 100 million rows": lambda _: _once_compressed(pa.nulls(10_000_000, pa.string()), 10),
    "parquet of one text of gigabytes": lambda _: _once_compressed(pa.array(["word " * 50_000_000]), 6),
    "parquet of long lists": _long_lists,
}


@RECORDS.add_large
def parquet_of_20_000_columns(_chance: Random) -> Case:
    return Case(
        "a.parquet",
        lambda file: parquet.write_table(pa.table({f"c{at}": [at] for at in range(20_000)}), file),
        (Survived(),),
    )


@RECORDS.add_large
def json_array_of_two_hundred_megabytes(_chance: Random) -> Case:
    def write(file: IO[bytes]) -> None:
        file.write(b"[")
        for _ in range(200):
            file.write(b'{"text":"a","n":{}},' * 50_000)
        file.write(b'{"text":"z"}]')

    return Case("a.json", write, (Survived(),))


@RECORDS.add_large
def json_of_empty_objects(_chance: Random) -> Case:
    return Case("a.json", lambda file: file.write(b"[" + b"{}," * 30_000_000 + b"{}]"), (Survived(),))


@RECORDS.add_large
def json_of_a_million_keys(_chance: Random) -> Case:
    def write(file: IO[bytes]) -> None:
        for at in range(100_000):
            file.write(b'{"text":"a",' + b",".join(b'"k%d":1' % (10 * at + key) for key in range(10)) + b"}\n")

    return Case("a.jsonl", write, (Survived(),))
