"""Who may sign in through an OpenID provider or a proxy, and what each person may do: the file `people.toml`.

    ["alice@example.org"]
    scope = "authoring"
    namespaces = ["local", "team-a"]

The name of a table is a verified e-mail address, or `sub:` and the id that the provider or the proxy gives the person.
The file is read again whenever it changes. While the file is invalid, no one can sign in.
"""

import logging
import threading
import time
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from traitbench.names import NAMESPACE

Scope = Literal["scoring", "authoring"]

_OPERATORS_NAMESPACES = ("local", "demo")  # the same as for the workbench's own key
_FIELDS = frozenset({"scope", "namespaces", "operator"})
_SUBJECT = "sub:"
_GRACE_SECONDS = 60.0  # an editor may remove a file for a moment while it saves
_FRESH_SECONDS = 2.0  # a file may change twice within the resolution of its timestamp

_log = logging.getLogger(__name__)


class RosterDamaged(ValueError):
    """The file is invalid; the message says what is wrong and in which line."""


class RosterMissing(RosterDamaged):
    """The file does not exist."""


@dataclass(frozen=True)
class RosterEntry:
    """What one person may do."""

    scope: Scope
    namespaces: tuple[str, ...]
    operator: bool = False


class Roster:
    """The people in a file."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._lock = threading.Lock()
        self._stamp: tuple[int, ...] | None = None
        self._entries: Mapping[str, RosterEntry] = {}
        self._damage: RosterDamaged | None = None
        self._good_until: float | None = None
        self._logged = ""

    def find(self, subject: str, address: str | None) -> tuple[str, RosterEntry] | None:
        """The name and the entry of a person, by the provider's id, else by a verified e-mail address.

        None when there is no entry. Raise `RosterDamaged` when the file cannot be used.
        """
        with self._lock:
            self._refresh()
            if isinstance(self._damage, RosterMissing):
                return None
            if self._damage is not None:
                raise self._damage
            # An address that looks like an id must not match one.
            known = [_lowercase(address)] if address and not _lowercase(address).startswith(_SUBJECT) else []
            names = (f"{_SUBJECT}{subject}", *known)
            return next(((name, self._entries[name]) for name in names if name in self._entries), None)

    def still_has(self, name: str, entry: RosterEntry) -> bool:
        """Whether the entry of a person is unchanged.

        While the file is invalid, its last valid state counts, for at most a minute.
        """
        with self._lock:
            self._refresh()
            if self._good_until is not None and time.monotonic() > self._good_until:
                return False
            return self._entries.get(name) == entry

    def _refresh(self) -> None:
        """Read the file if it has changed. If it is invalid, record the error and keep the last valid entries."""
        try:
            status = self.file.stat()
            stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
            if stamp == self._stamp and time.time() - status.st_mtime > _FRESH_SECONDS:
                return
            entries = parse(self.file.read_bytes())
        except FileNotFoundError:
            self._unusable(None, RosterMissing(f"{self.file} does not exist."))
        except OSError as error:
            self._unusable(None, RosterDamaged(f"{self.file} cannot be read: {error.strerror}."))
        except RosterDamaged as error:
            self._unusable(stamp, RosterDamaged(f"{self.file}: {error}"))
        else:
            self._stamp, self._entries, self._damage, self._good_until = stamp, entries, None, None
            self._logged = ""

    def _unusable(self, stamp: tuple[int, ...] | None, damage: RosterDamaged) -> None:
        self._stamp, self._damage = stamp, damage
        if self._good_until is None:
            self._good_until = time.monotonic() + _GRACE_SECONDS
        if str(damage) != self._logged:
            self._logged = str(damage)
            _log.error("people cannot sign in: %s", damage)


def parse(content: bytes) -> Mapping[str, RosterEntry]:
    """Parse the file: entries by name, with e-mail addresses in lowercase; raise `RosterDamaged` with the line."""
    try:
        text = content.decode("utf-8-sig")
        tables = tomllib.loads(text)
    except UnicodeDecodeError:
        raise RosterDamaged("It is not UTF-8 text.") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise RosterDamaged(f"It is not valid TOML: {error}.") from None
    entries: dict[str, RosterEntry] = {}
    for written, table in tables.items():
        name = written if written.startswith(_SUBJECT) else _lowercase(written)
        wrong = _name_problem(name) or ("this person is listed twice" if name in entries else _problem(table))
        if wrong:
            raise RosterDamaged(f"Line {_line(text, written)}, {written[:200]!r}: {wrong}.")
        operator = table.get("operator", False)
        namespaces = table.get("namespaces", _OPERATORS_NAMESPACES)
        entries[name] = RosterEntry(table.get("scope", "authoring"), tuple(dict.fromkeys(namespaces)), operator)
    return entries


def _name_problem(name: str) -> str:
    if name.startswith(_SUBJECT):
        return "" if len(name) > len(_SUBJECT) else "an id must follow sub:"
    before, _, after = name.partition("@")
    if before and after and "@" not in after and " " not in name and name.isprintable():
        return ""
    return "a name must be an e-mail address in quotation marks, or sub: and the provider's id"


def _problem(table: Any) -> str:
    """Say what is wrong with one person's table; "" if nothing is."""
    if not isinstance(table, dict):
        return 'a person must be a table, such as ["alice@example.org"]'
    if unknown := sorted(table.keys() - _FIELDS):
        return f"{unknown[0][:100]!r} is unknown; use {', '.join(sorted(_FIELDS))}"
    operator = table.get("operator", False)
    if not isinstance(operator, bool):
        return "operator must be true or false"
    if operator and table.get("scope", "authoring") != "authoring":
        return "an operator must have the scope authoring"
    if table.get("scope", "authoring" if operator else None) not in get_args(Scope):
        return f"scope must be {' or '.join(get_args(Scope))}"
    namespaces = table.get("namespaces", list(_OPERATORS_NAMESPACES) if operator else None)
    if not isinstance(namespaces, list) or not namespaces:
        return "namespaces must be a list with at least one name"
    for each in namespaces:
        if not isinstance(each, str) or not NAMESPACE.fullmatch(each):
            return "a namespace is 1-64 of a-z, 0-9, - and _, and starts with a letter or digit"
    return ""


def _line(text: str, name: str) -> int:
    """Return the first line with a name, or 1 if the name is written with escapes."""
    return next((number for number, line in enumerate(text.splitlines(), 1) if name in line), 1)


def _lowercase(address: str) -> str:
    """Lowercase ASCII letters only, because full case folding can make two addresses equal."""
    return address.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")
