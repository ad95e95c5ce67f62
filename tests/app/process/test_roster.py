"""people.toml: who is listed under which name, what is refused with its line, and what a change does to a session."""

import os
from pathlib import Path

import pytest

from traitbench_app.process.roster import Roster, RosterDamaged, RosterEntry, parse

ALICE = RosterEntry("authoring", ("local", "team-a"))
EXAMPLE = (Path(__file__).parents[3] / "core" / "docs" / "people.toml").read_text("utf-8")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    written = tmp_path / "people.toml"
    written.write_text(EXAMPLE)
    return written


def test_a_person_is_found_by_the_providers_id_or_a_verified_address(file: Path) -> None:
    roster = Roster(file)
    assert roster.find("x", "ALICE@example.ORG") == ("alice@example.org", ALICE)
    assert roster.find("248289761001", None) == ("sub:248289761001", RosterEntry("scoring", ("team-a",)))
    assert roster.find("x", "olga@example.org") == (
        "olga@example.org",
        RosterEntry("authoring", ("local", "demo"), operator=True),
    )
    nobody = [("x", None), ("alice@example.org", None), ("x", "sub:248289761001"), ("", ""), ("x", "\ud800@x")]
    assert [roster.find(*each) for each in nobody] == [None] * len(nobody)


@pytest.mark.parametrize(
    "other", ["alice@example.org.", "alıce@example.org", "ａlice@example.org", " alice@example.org"]
)
def test_an_address_that_only_looks_the_same_is_another_one(file: Path, other: str) -> None:
    assert Roster(file).find("x", other) is None


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ('["alice@example.org"\n', "line 1"),
        ('\n["alice@example.org"]\nscope = scoring\n', "line 3"),
        (
            '\n["a@b.org"]\nscope = "all"\nnamespaces = ["local"]',
            "Line 2, 'a@b.org': scope must be scoring or authoring",
        ),
        ('["a@b.org"]\nnamespaces = ["local"]', "Line 1, 'a@b.org': scope must be"),
        ('["a@b.org"]\nscope = "scoring"', "namespaces must be a list with at least one name"),
        ('["a@b.org"]\nscope = "scoring"\nnamespaces = []', "namespaces must be a list with at least one name"),
        ('["a@b.org"]\nscope = "scoring"\nnamespaces = "local"', "namespaces must be a list"),
        ('["a@b.org"]\nscope = "scoring"\nnamespaces = ["*"]', "a namespace is 1-64"),
        ('["a@b.org"]\nscope = ["scoring"]\nnamespaces = ["local"]', "scope must be"),
        ('["a@b.org"]\noperator = "yes"', "operator must be true or false"),
        ('["a@b.org"]\noperator = true\nscope = "scoring"', "an operator must have the scope authoring"),
        ('["a@b.org"]\nnamespace = ["local"]', "'namespace' is unknown"),
        ('[alice]\nscope = "scoring"\nnamespaces = ["local"]', "a name must be an e-mail address"),
        ('[alice@example.org]\nscope = "scoring"', "line 1"),
        ('[alice.example]\nscope = "scoring"', "a name must be an e-mail address"),
        ('["a@b.org\u2060"]\noperator = true', "a name must be an e-mail address"),
        ('["sub:"]\noperator = true', "an id must follow sub:"),
        ('"a@b.org" = "scoring"', "a person must be a table"),
        (
            '["a@b.org"]\noperator = true\n["A@B.org"]\noperator = true',
            "Line 3, 'A@B.org': this person is listed twice",
        ),
        ('["a@b.org"]\noperator = true\n["a@b.org"]\noperator = true', "line 3"),
    ],
)
def test_a_damaged_list_says_what_is_wrong_and_where(text: str, result: str) -> None:
    with pytest.raises(RosterDamaged) as refusal:
        parse(text.encode())
    assert result in str(refusal.value)


def test_an_empty_list_and_a_byte_order_mark_are_fine_and_other_bytes_are_not() -> None:
    assert parse(b"") == {}
    assert parse(b'\xef\xbb\xbf["a@b.org"]\noperator = true\n').keys() == {"a@b.org"}
    for bad in (b"\xff\xfe", b"\x00", b"[" * 50_000):
        with pytest.raises(RosterDamaged):
            parse(bad)


def test_an_unusable_list_lets_nobody_in_and_keeps_people_a_minute(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("traitbench_app.process.roster.time.monotonic", lambda: now[0])
    roster = Roster(file)
    assert roster.still_has("alice@example.org", ALICE)
    for spoil in (lambda: file.write_text("["), file.unlink, file.mkdir):
        spoil()
        now[0] += 1.0
        assert roster.still_has("alice@example.org", ALICE)
        assert not roster.still_has("bob@example.org", ALICE)
    with pytest.raises(RosterDamaged, match="cannot be read"):
        roster.find("x", "alice@example.org")
    now[0] = 62.0
    assert not roster.still_has("alice@example.org", ALICE)
    file.rmdir()
    assert roster.find("x", "alice@example.org") is None
    file.write_text(EXAMPLE)
    assert roster.still_has("alice@example.org", ALICE)


def test_a_change_counts_at_once_even_within_one_tick_of_the_clock(file: Path) -> None:
    roster = Roster(file)
    assert roster.find("x", "alice@example.org")
    before = file.stat()
    file.write_text(EXAMPLE.replace("alice", "malia"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert roster.find("x", "alice@example.org") is None


def test_an_old_list_is_not_read_again(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.utime(file, (1, 1))
    roster = Roster(file)
    assert roster.find("x", "alice@example.org")
    monkeypatch.setattr("traitbench_app.process.roster.parse", lambda _: pytest.fail("read again"))
    assert roster.still_has("alice@example.org", ALICE)
