"""A bundle with something in every field, ways to spoil it, and a signature for whatever came of that.

A spoilt bundle is signed again, and a spoilt snapshot gets its own hash, so that it reaches the checks behind both.
"""

import copy
import hashlib
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

from traitbench.contract.bundles import Bundle, digest
from traitbench.scoring.snapshot import Snapshot, SnapshotInvalid, param_hash

Json = dict[str, Any]
Path = tuple[str | int, ...]

DEEP = 70
_LATE = "9999-12-31T23:59:59-14:00"

NUMBERS: tuple[Any, ...] = (
    *(0, -1, 1, 2, 101, 2**31 - 1, 2**31, 2**53, 2**63 - 1, 2**63, -(2**63), 10**400),
    *(-0.0, 0.5, -0.5, 1e-308, 1e15, 1e308, -1e308, float("nan"), float("inf"), float("-inf")),
)
TEXTS: tuple[Any, ...] = (
    *("", " ", "\t\r\n", "a\x00b", "\ud800", "\u202egnp.exe", "\x1b[31mred", "\x07" * 50, "z\u0301" * 400),
    *("a" * 65, "a" * 201, "a" * 2_001, "a" * 70_000, "a" * 100_001, "v1", "active", "=1+1", "@SUM(A1)"),
    *("**b** :red[c] :material/home: $x$ <b>d</b>", "[x](javascript:alert(1))", "![y](data:image/png;base64,AA)"),
    *(
        "AAAA",
        "AACAfw==",
        "not base64",
        "0" * 64,
        "sha256:" + "0" * 64,
        "positive",
        "warmth",
        "full",
        "balanced_cosine",
    ),
)
TIMES: tuple[Any, ...] = (
    *(_LATE, "9999-12-31T23:59:59+00:00", "0001-01-01T00:00:00+14:00", "1969-12-31T23:59:59Z", "2262-04-12T00:00:00Z"),
    *("2026-01-01", "2026-01-01T00:00:00", "2026-02-30T00:00:00Z", 10**12, -1, 10**17, 1.5e300, "now"),
)
OTHERS: tuple[Any, ...] = (
    *(None, True, False, [], {}, [[]], [None], {"": ""}, {"a" * 500: 1}, {"\u202e": "\x1b"}, [0] * 5_000, ["a"] * 300),
    *({f"key {number}": number for number in range(3_000)}, {"a": "b" * 70_000}, [{"a": 1}] * 3_000),
)


def nested(depth: int) -> Any:
    """Lists and objects in one another, so deep."""
    value: Any = 1
    for level in range(depth):
        value = [value] if level % 2 else {"a": value}
    return value


NASTY: tuple[Any, ...] = (*NUMBERS, *TEXTS, *TIMES, *OTHERS, nested(10), nested(40), nested(58), nested(DEEP))


def rich(exported: Json) -> Json:
    """A trained model's bundle with the rest that a bundle can have: an intrinsic trait with anchors and what discovery
    found, seeds, feedback, sources, a readme, a policy, and a second version that is tagged."""
    document = copy.deepcopy(exported)
    document["model"] |= {
        "description": "How warm a message is.",
        "additional_terms": "For tests.",
        "upstream_sources": [{"name": "A set", "license": "CC0", "url": "https://example.org/a", "parts": [1, 2.5]}],
        "readme_markdown": "# What it is for\n\nTests.",
        "version_retention_policy": {"keep_unnamed": 5, "keep_first_of_month": True},
    }
    document["samples"] += [
        sample("Thank you, and see you soon.", "synthesized") | {"seed": 0, "generator": "offline-1", "pending": False},
        sample("What a kind thing to say!", "score_feedback") | {"pending": True, "source_url": "https://a.example"},
    ]
    first = document["versions"][0]
    axis = first["snapshot"]["traits"][0]
    document["traits"].append(
        {"name": "Found", "key": "found", "positive_label": "long", "negative_label": "short", "description": ""}
        | {"aggregation": "mean", "intrinsic": _intrinsic(axis["vector"], first["snapshot"]["encoder"]["digest"])}
    )
    first["snapshot"]["traits"].append(copy.deepcopy(axis) | {"key": "found", "name": "Found"})
    first["metrics"]["traits"]["found"] = copy.deepcopy(first["metrics"]["traits"]["warmth"])
    second = copy.deepcopy(first) | {"version_no": 3, "tags": ["best"], "active": True}
    document["versions"] = [first | {"active": False, "tags": ["first", "kept"]}, second]
    return signed(document)


def sample(text: str, provenance: str) -> Json:
    fields = {"trait": "warmth", "text": text, "quality": 0.9, "provenance": provenance}
    fields |= {"source_url": None, "seed": None, "generator": None, "pending": False, "score_then": None}
    fields |= {"held_out": False, "must_pass": False, "group": None}
    return fields | {"content_sha256": hashlib.sha256(text.encode()).hexdigest()}


def _intrinsic(vector: str, encoder_digest: str) -> Json:
    discovery = {"name": "Found", "positive_label": "long", "clusters": 4, "stability": 0.8}
    anchors = {"positive": [0, 1], "negative": [10]}
    values = {"discrimination": 0.9, "explained_variance": 0.2, "anchors": anchors, "discovery": discovery}
    return {"axis": vector, "encoder_digest": encoder_digest, **values}


# ---- signing ---------------------------------------------------------------------------------------------------------


def raw(content: Any) -> bytes:
    """JSON as somebody with ill will writes it: NaN, infinity, halves of surrogate pairs."""
    return json.dumps(content).replace("Infinity", "1e999").encode()


def signed(content: Json) -> Json:
    """The same, unchanged since it was exported, as far as hashes can tell."""
    content = copy.deepcopy(content)
    for version in content["versions"] if isinstance(content.get("versions"), list) else ():
        _hash_again(version)
    return {**content, "sha256": sha256_of(content)}


def sha256_of(content: Json) -> str:
    """The hash of a document, or of nothing if it is none."""
    try:
        return digest(Bundle.model_validate_json(raw({**content, "sha256": ""})))
    except (ValueError, RecursionError, OverflowError):
        return hashlib.sha256(b"").hexdigest()


def _hash_again(version: Any) -> None:
    if isinstance(version, dict) and isinstance(version.get("snapshot"), dict):
        try:
            read = Snapshot.from_json(version["snapshot"])
            version["param_hash"], version["snapshot"] = param_hash(read), read.to_json()
        except (SnapshotInvalid, ValueError, OverflowError, RecursionError):
            return


# ---- spoiling --------------------------------------------------------------------------------------------------------


def places(value: Any, path: Path = ()) -> Iterator[Path]:
    """Every place in a value, the value itself left out."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in items:
        yield (*path, key)
        yield from places(each, (*path, key))


def kinds_of_place(content: Json) -> list[list[Path]]:
    """The places, those that differ only in the place in a list together: no field is drawn more often for being
    repeated."""
    values: dict[tuple[str, ...], list[Path]] = {}
    for path in places(content):
        if path != ("sha256",):
            values.setdefault(tuple("*" if isinstance(part, int) else part for part in path), []).append(path)
    return [values[name] for name in sorted(values)]


Spoil = Callable[[Json, Path, random.Random], None]


def _replace(content: Json, path: Path, chance: random.Random) -> None:
    own = at(content, path)
    kind = TIMES if str(path[-1]).endswith("_at") else TEXTS if isinstance(own, str) else NASTY
    kind = NUMBERS if isinstance(own, int | float) else kind
    _parent(content, path)[path[-1]] = copy.deepcopy(chance.choice(kind if chance.random() < 0.6 else NASTY))


def _delete(content: Json, path: Path, chance: random.Random) -> None:
    del _parent(content, path)[path[-1]]


def _duplicate(content: Json, path: Path, chance: random.Random) -> None:
    own, parent = copy.deepcopy(at(content, path)), _parent(content, path)
    if isinstance(parent, list):
        parent.insert(chance.randint(0, len(parent)), own)
    else:
        parent[f"{path[-1]} again"] = own


def _deepen(content: Json, path: Path, chance: random.Random) -> None:
    own = at(content, path)
    _parent(content, path)[path[-1]] = chance.choice(([own], {"a": own}, [own, own]))


def _add(content: Json, path: Path, chance: random.Random) -> None:
    parent = _parent(content, path)
    value = copy.deepcopy(chance.choice(NASTY))
    if isinstance(parent, list):
        parent.append(value)
    else:
        parent[chance.choice(("new", "modes", "curve", "search", "feed", "auroc", "x" * 300))] = value


def _shuffle(content: Json, path: Path, chance: random.Random) -> None:
    for own in (at(content, path), _parent(content, path)):
        if isinstance(own, list):
            chance.shuffle(own)


SPOILS: tuple[Spoil, ...] = (_replace, _replace, _replace, _replace, _delete, _duplicate, _deepen, _add, _shuffle)


def spoilt(content: Json, seed: int) -> tuple[Json, str]:
    """A copy that is spoilt in one place, signed; and what was done to it."""
    chance = random.Random(seed)
    content = copy.deepcopy(content)
    path = chance.choice(chance.choice(kinds_of_place(content)))
    spoil = chance.choice(SPOILS)
    spoil(content, path, chance)
    return signed(content), f"seed {seed}: {spoil.__name__} {'.'.join(map(str, path))}"


def at(content: Any, path: Path) -> Any:
    """What stands at a place."""
    for part in path:
        content = content[part]
    return content


def _parent(content: Json, path: Path) -> Any:
    return at(content, path[:-1])
