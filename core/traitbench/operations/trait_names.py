"""Which trait a key or name means, and which keys and names the traits of a request would share.

See core/docs/contract.md, section 2. NFC and NFD spellings are one name; an exact match always wins.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from traitbench.errors import DuplicateTrait, TraitbenchError, ValidationFailed
from traitbench.names import canonical, free_key, trait_key
from traitbench.operations import rules
from traitbench.store.traits import TraitRow

Problem = dict[str, Any]

_DUPLICATES = ("key_of_another_trait", "key_twice", "name_of_another_trait")
_CONCERNED = (("keys", "key"), ("names", "name"))


class TraitIndex:
    """The traits of a model by key and by name; the key wins."""

    def __init__(self, rows: Sequence[TraitRow]) -> None:
        self.rows = rows
        self._by_name = (
            {canonical(row.name): row for row in rows}
            | {canonical(row.key): row for row in rows}
            | {row.name: row for row in rows}
            | {row.key: row for row in rows}
        )

    def find(self, name: str) -> TraitRow | None:
        """The trait with this key or name, if any."""
        return self._by_name.get(name) or self._by_name.get(canonical(name))

    def known(self) -> dict[str, Any]:
        """The traits as `details` that help to correct an unknown one."""
        return rules.known_traits([(row.key, row.name) for row in self.rows])


class Sent(NamedTuple):
    """What a trait in a request is called, and its place there."""

    position: int
    name: str
    key: str | None


def keys_of(sent: Sequence[Sent], rows: Sequence[TraitRow]) -> tuple[dict[int, str], list[Problem]]:
    """The key of each trait by its place, and the problems of those that would share a key or a name with another."""
    keys, problems = dict[int, str](), list[Problem]()
    for each in sent:
        try:
            keys[each.position] = _key(each, rows)
        except ValidationFailed as error:
            problems.append(rules.problem(["traits", each.position, "name"], "empty_key", error.message))
    named = [each for each in sent if each.position in keys]
    problems += [*_shared_keys(named, keys, rows), *_shared_names(named, keys, rows)]
    return keys, sorted(problems, key=lambda problem: problem["loc"][1])


def name_problem(key: str, name: str, rows: Sequence[TraitRow]) -> Problem | None:
    """The problem with a new name for the trait with this key; None if the name is free."""
    for row in rows:
        if row.key != key and canonical(row.name) == canonical(name):
            return _name_taken(["name"], row.key, row.name)
    return None


def refusal(problems: Sequence[Problem]) -> TraitbenchError:
    """The error for these problems: `DuplicateTrait` if each concerns a shared key or name."""
    if any(problem["type"] not in _DUPLICATES for problem in problems):
        return rules.invalid(problems, thing="The traits")
    first = problems[0]
    more = f" ({len(problems) - 1} more in details.errors)" if len(problems) > 1 else ""
    return DuplicateTrait(
        f"{rules.location(first['loc'])}: {first['msg']}{more}. Nothing was changed.",
        details={
            **{field: sorted({problem[of] for problem in problems}) for field, of in _CONCERNED},
            **rules.named(problems),
        },
    )


def _key(sent: Sent, rows: Sequence[TraitRow]) -> str:
    """The key that a trait as sent means; raise `ValidationFailed` if it has none and its name gives none."""
    if sent.key is not None:
        return _stored(sent.key, rows) or canonical(sent.key)
    key = trait_key(sent.name)
    return _stored(key, rows) or key


def _stored(key: str, rows: Sequence[TraitRow]) -> str | None:
    """The key as it is stored: the key of an imported trait may have another spelling."""
    exact = (row.key for row in rows if row.key == key)
    similar = (row.key for row in rows if _same(row.key, key))
    return next(exact, None) or next(similar, None)


def _shared_keys(sent: Sequence[Sent], keys: Mapping[int, str], rows: Sequence[TraitRow]) -> Iterator[Problem]:
    stored = {row.key: row for row in rows}
    taken = {*stored, *keys.values()}
    first: dict[str, Sent] = {}
    for each in sent:
        key, row = keys[each.position], stored.get(keys[each.position])
        if key in first:
            other = first[key]
            yield _key_taken(
                each, key, "key_twice", f"traits[{other.position}], {rules.quoted(other.name)}", other.name, taken
            )
        # "C++" and "C#" give the same key. As an upsert, the second would replace the first trait and take its samples.
        # A key that is sent says which trait is meant, so it still replaces.
        elif each.key is None and row is not None and not _same(row.name, each.name):
            yield _key_taken(each, key, "key_of_another_trait", f"the trait {rules.quoted(row.name)}", row.name, taken)
        first.setdefault(key, each)


def _key_taken(sent: Sent, key: str, kind: str, whose: str, name: str, taken: set[str]) -> Problem:
    free = free_key(key, taken)
    taken.add(free)  # so that the suggestions for several traits differ
    what = f'the name {rules.quoted(sent.name)} gives the key "{key}"' if sent.key is None else f'the key "{key}"'
    belongs = ", which belongs to" if sent.key is None else " belongs to"
    message = f'{what}{belongs} {whose}; send a `key`, such as "{free}"'
    problem = rules.problem(["traits", sent.position, "key"], kind, message)
    return {**problem, "key": key, "name": name, "free_key": free}


def _shared_names(sent: Sequence[Sent], keys: Mapping[int, str], rows: Sequence[TraitRow]) -> Iterator[Problem]:
    changed = set(keys.values())
    owners = {canonical(row.name): (row.key, row.name) for row in rows if row.key not in changed}
    for each in sent:
        key, name = owners.setdefault(canonical(each.name), (keys[each.position], each.name))
        if key != keys[each.position]:
            yield _name_taken(["traits", each.position, "name"], key, name)


def _name_taken(loc: Sequence[str | int], key: str, name: str) -> Problem:
    message = f'the trait "{key}" has the name {rules.quoted(name)}; names are unique within a model, so use another'
    return {**rules.problem(loc, "name_of_another_trait", message), "key": key, "name": name}


def _same(one: str, other: str) -> bool:
    return canonical(one) == canonical(other)
