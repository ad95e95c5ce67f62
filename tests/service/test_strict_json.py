"""JSON as the contract reads it: what is refused, how, and that nothing read is repeated."""

import pytest

from traitbench.errors import InvalidJson
from traitbench.service.strict_json import MAX_DEPTH, faults, parse

NOT_ONE_VALUE = {
    "broken off": b'{"a": 1',
    "two values": b"{} {}",
    "trailing comma": b"[1,]",
    "bare word": b"nothing",
    "single quotes": b"{'a': 1}",
    "control character in a string": b'"a\nb"',
    "raw U+0000 in a string": b'"a\x00b"',
    "byte order mark": b"\xef\xbb\xbf{}",
    "not UTF-8": b'"\xff"',
    "UTF-16": '{"a": 1}'.encode("utf-16"),
    "surrogate in UTF-8": b'"\xed\xa0\x80"',
    "overlong UTF-8": b'"\xc0\xaf"',
    "blanks alone": b"  ",
    "key twice": b'{"a": 1, "a": 2}',
    "key twice, one escaped": b'{"a": 1, "\\u0061": 2}',
    "key twice, further in": b'[{"b": {"a": 1, "a": 1}}]',
    "far too deep": b"[" * 100_000,
    "far too deep, closed": b'{"a":' * 5_000 + b"1" + b"}" * 5_000,
}

NO_VALUE_OF_OURS = {
    "NaN": (b'{"a": NaN}', ["a"], "finite_number"),
    "Infinity": (b'{"a": [1, Infinity]}', ["a", 1], "finite_number"),
    "-Infinity": (b"[-Infinity]", [0], "finite_number"),
    "beyond a double": (b'{"a": 1e999}', ["a"], "finite_number"),
    "half a surrogate pair": (b'{"a": {"b": "x\\ud800y"}}', ["a", "b"], "string_unicode"),
    "the pair in the wrong order": (b'["\\udc00\\ud800"]', [0], "string_unicode"),
    "U+0000": (b'{"a": "x\\u0000"}', ["a"], "string_nul"),
    "U+0000 in a key": (b'{"a\\u0000": 1}', ["(key)"], "string_nul"),
    "65 bits": (b'{"a": 18446744073709551616}', ["a"], "int_too_long"),
    "64 bits with a sign": (b'{"a": -9223372036854775808}', ["a"], "int_too_long"),
    "ten thousand digits": (b'{"a": ' + b"9" * 10_000 + b"}", ["a"], "int_too_long"),
}


@pytest.mark.parametrize("raw", NOT_ONE_VALUE.values(), ids=NOT_ONE_VALUE.keys())
def test_what_is_not_one_value_is_invalid_json(raw: bytes) -> None:
    with pytest.raises(InvalidJson) as caught:
        parse(raw)
    assert caught.value.details["reason"]


@pytest.mark.parametrize(("raw", "loc", "kind"), NO_VALUE_OF_OURS.values(), ids=NO_VALUE_OF_OURS.keys())
def test_what_is_no_value_of_ours_is_named_by_its_place(raw: bytes, loc: list[str | int], kind: str) -> None:
    assert [(fault["loc"], fault["type"]) for fault in faults(parse(raw))] == [(loc, kind)]


def test_every_bad_place_is_named() -> None:
    results = list(faults(parse(b'{"a": [NaN, "\\ud800", 1], "b": {"c": "\\u0000\\udfff"}}')))
    assert [fault["loc"] for fault in results] == [["a", 0], ["a", 1], ["b", "c"], ["b", "c"]]


@pytest.mark.parametrize(
    "raw",
    [
        b'{"a": [1, -2.5, 1e3, true, false, null, "\\u00e9\\ud83d\\ude00"], "": {}}',
        b"9223372036854775807",
        '"\U0001f600 ÿ\U0010ffff"'.encode(),
        b'{"a": {"a": {"a": 1}}}',
        b'" \\u0001 "',
    ],
)
def test_plain_json_has_no_faults(raw: bytes) -> None:
    assert list(faults(parse(raw))) == []


def test_the_deepest_nesting_that_is_read() -> None:
    assert list(faults(parse(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH))) == []
    with pytest.raises(InvalidJson):
        list(faults(parse(b"[" * (MAX_DEPTH + 2) + b"]" * (MAX_DEPTH + 2))))


@pytest.mark.parametrize(
    "raw", [b'{"my secret text": 1, "my secret text": 2}', b'"my secret text', b'["my secret text"']
)
def test_a_refusal_does_not_repeat_what_was_sent(raw: bytes) -> None:
    with pytest.raises(InvalidJson) as caught:
        parse(raw)
    assert "secret" not in caught.value.message + str(caught.value.details)


def test_a_key_twice_is_named_when_it_looks_like_a_field() -> None:
    with pytest.raises(InvalidJson) as caught:
        parse(b'{"handle": 1, "handle": 2}')
    assert caught.value.details == {"reason": "duplicate key", "key": "handle"}
