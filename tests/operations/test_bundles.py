"""A model as one document: an import restores exactly what was exported, and anything else is refused."""

import base64
import copy
import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.bundles import material
from tests.bundles.material import Json
from tests.contexts import AUTHOR, ON_BOTH, SCORER, STRANGER, draft, export_of, new_handle
from tests.operations import author
from tests.size import sized
from traitbench.contract.bundles import Bundle, digest, document
from traitbench.contract.models import Model
from traitbench.errors import HandleTaken, InsufficientScope, InvalidHandle, NamespaceForbidden, ValidationFailed
from traitbench.operations import bundles, models, rules, traits, versions
from traitbench.operations.access import Caller
from traitbench.operations.context import Context
from traitbench.scoring.snapshot import Snapshot, param_hash
from traitbench.store import bundles as stored_bundles
from traitbench.store import version_samples


@pytest.fixture(scope="module")
def model(context: Context) -> str:
    """A model whose bundle tests only read."""
    return author.toned_model(context)


@pytest.fixture(scope="module")
def exported(context: Context, model: str) -> Bundle:
    return export_of(context, AUTHOR, model)


@pytest.fixture(scope="module")
def rich(exported: Bundle) -> Json:
    """A signed document with something in every field."""
    return material.rich(json.loads(exported.model_dump_json()))


def _bring_in(context: Context, content: Json) -> Model:
    """Import a document as it was sent."""
    return bundles.import_(context, AUTHOR, Bundle.model_validate_json(material.raw(content)), new_handle())


def _comparable(bundle: Bundle) -> Json:
    """A bundle without what must differ in a copy."""
    content = bundle.model_dump(mode="json", exclude={"handle", "sha256"})
    for version in content["versions"]:
        del version["triggered_by"]
    return content


def _refused(context: Context, content: Json) -> list[dict[str, Any]]:
    """What is wrong with a document, which leaves no model behind."""
    before = models.list_models(context, AUTHOR, namespace="local", limit=250)
    with pytest.raises(ValidationFailed) as caught:
        _bring_in(context, content)
    assert models.list_models(context, AUTHOR, namespace="local", limit=250) == before
    errors: list[dict[str, Any]] = caught.value.details["errors"]
    return errors


# ---- what comes in ---------------------------------------------------------------------------------------------------


@ON_BOTH
def test_a_model_comes_in_as_it_went_out_and_scores_as_before(context: Context, model: str, exported: Bundle) -> None:
    imported = _bring_in(context, json.loads(exported.model_dump_json()))
    assert (imported.state, imported.version_no, imported.version_tags) == ("ready", 1, ["first"])
    copied = _comparable(export_of(context, AUTHOR, imported.handle))
    own = copied["activations"].pop()
    assert (own["cause"], own["version_no"], own["previous_version_no"]) == ("import", 1, None)
    assert copied == _comparable(exported)
    [version] = versions.list_versions(context, SCORER, imported.handle).items
    assert (version.triggered_by, version.run_id) == ("backfill", None)
    for text in ("thank you, how kind of you", "no reply is needed"):
        assert author.score(context, imported.handle, text) == author.score(context, model, text)


_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=20).map(lambda text: f"{text}.")
_UNIT = st.floats(0, 1)
_MOMENT = st.datetimes(datetime(1971, 1, 1), datetime(2026, 1, 1), timezones=st.just(UTC))
_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "model.description": _TEXT,
    "model.readme_markdown": st.none() | _TEXT,
    "model.upstream_sources": st.none() | st.lists(st.dictionaries(_TEXT, st.none() | _TEXT | _UNIT), max_size=2),
    "model.max_depth": st.integers(1, 3),
    "model.hold_if_worse": st.booleans(),
    "model.demo_texts": st.none() | st.lists(_TEXT, min_size=1, max_size=2),
    "traits.0.name": _TEXT.map(lambda text: f"Warmth {text}"),
    "traits.0.positive_label": _TEXT,
    "traits.0.aggregation": st.sampled_from(["mean", "max", "min", "none"]),
    "traits.2.intrinsic.discrimination": st.none() | _UNIT,
    "traits.2.intrinsic.anchors": st.none() | st.just({"positive": [3], "negative": []}),
    "traits.2.intrinsic.discovery": st.dictionaries(_TEXT, _TEXT | _UNIT, max_size=3),
    "samples.1.text": _TEXT,
    "samples.1.quality": _UNIT,
    "samples.1.held_out": st.booleans(),
    "samples.0.note": st.none() | _TEXT,
    "samples.2.source_url": st.none() | _TEXT,
    "samples.-1.score_then": st.none() | st.integers(0, 100),
    "versions.0.created_at": _MOMENT.map(lambda moment: moment.isoformat().replace("+00:00", "Z")),
    "versions.0.metrics": st.fixed_dictionaries({}, optional={"auroc": st.none() | _UNIT, "note": _TEXT}),
    "versions.0.samples": st.none() | st.just(""),
    "versions.0.held_up_to": st.none() | st.integers(0, 20),
    "versions.0.snapshot.traits.0.positive_label": _TEXT,
    "versions.0.snapshot.traits.0.offset": _UNIT.map(lambda number: float(np.float32(number))),
    "activations.0.by": st.none() | _TEXT,
    "forked_from": st.none() | st.just({"handle": "local.a", "version_no": 3}),
}


@ON_BOTH
@given(values=st.fixed_dictionaries({}, optional=_VALUES))
@settings(
    max_examples=sized(10, 60),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_whatever_was_exported_comes_in_and_goes_out_the_same(context: Context, rich: Json, values: Json) -> None:
    content = copy.deepcopy(rich)
    for place, value in values.items():
        _put(content, place, value)
    content["samples"][1]["content_sha256"] = hashlib.sha256(content["samples"][1]["text"].encode()).hexdigest()
    if content["versions"][0]["samples"] == "":
        content["versions"][0]["sample_count"] = 0
    bundle = Bundle.model_validate_json(material.raw(material.signed(content)))
    imported = bundles.import_(context, AUTHOR, bundle, new_handle())
    copied = _comparable(export_of(context, AUTHOR, imported.handle))
    assert copied["activations"].pop()["cause"] == "import"
    assert copied == _comparable(bundle)
    assert (imported.state, imported.version_no) == ("ready", 3)
    assert imported.held_version_no == (None if bundle.versions[0].held_up_to is None else 1)
    assert [sample.provenance for sample in author.samples_of(context, imported.handle)] == [
        sample.provenance for sample in bundle.samples or []
    ]


def _put(content: Json, place: str, value: Any) -> None:
    """Write a value at a place like `samples.-1.text`; a function changes the value that is there."""
    path = tuple(int(part) if part.lstrip("-").isdigit() else part for part in place.split("."))
    parent = material.at(content, path[:-1])
    parent[path[-1]] = value(parent[path[-1]]) if callable(value) else value


def test_versions_go_on_behind_those_that_came_in(context: Context, exported: Bundle) -> None:
    content = json.loads(exported.model_dump_json())
    _put(content, "versions.0.version_no", 7)
    handle = _bring_in(context, material.signed({**content, "activations": []})).handle
    assert author.refit(context, handle).version_no == 8
    author.activate(context, handle, "v7")
    assert author.get(context, handle).version_no == 7


def test_a_draft_comes_in_as_a_draft_and_a_sample_without_its_hash_gets_it(context: Context) -> None:
    bundle = export_of(context, AUTHOR, draft(context, warm=2, cold=2))
    content = json.loads(bundle.model_dump_json())
    _put(content, "samples.3.content_sha256", None)
    imported = _bring_in(context, material.signed(content))
    assert imported.state == "draft"
    assert [trait.sample_count for trait in traits.list_traits(context, AUTHOR, imported.handle).traits] == [4]
    assert _comparable(export_of(context, AUTHOR, imported.handle)) == _comparable(bundle)


def test_under_zero_retention_no_sample_goes_out(context: Context) -> None:
    handle = draft(context, warm=1, cold=1)
    author.update(context, handle, zero_data_retention=True)
    bundle = export_of(context, AUTHOR, handle)
    assert bundle.samples is None
    imported = _bring_in(context, json.loads(bundle.model_dump_json()))
    assert imported.zero_data_retention
    assert _comparable(export_of(context, AUTHOR, imported.handle)) == _comparable(bundle)


def test_a_permission_to_ask_a_language_model_is_not_carried(context: Context) -> None:
    handle = draft(context, warm=1, cold=1)
    author.update(context, handle, language_model_allowed=True)
    bundle = export_of(context, AUTHOR, handle)
    assert bundle.model.language_model_allowed is None
    content = json.loads(bundle.model_dump_json())
    content["model"]["language_model_allowed"] = True
    assert not _bring_in(context, material.signed(content)).language_model_allowed


@ON_BOTH
def test_lineage_test_samples_and_recorded_samples_come_along(context: Context, model: str) -> None:
    made = author.fork(context, model)
    author.add_samples(context, made.handle, [("a warm test", 1.0)], held_out=True, must_pass=True)
    author.train(context, made.handle)
    bundle = export_of(context, AUTHOR, made.handle)
    imported = _bring_in(context, json.loads(bundle.model_dump_json()))
    assert imported.forked_from == made.forked_from
    again = export_of(context, AUTHOR, imported.handle)
    assert {**_comparable(again), "activations": None} == {**_comparable(bundle), "activations": None}
    assert [(each.held_out, each.must_pass) for each in again.samples or [] if each.held_out] == [(True, True)]
    assert len(_records(again.versions[0].samples or "")) == len(again.samples or [])


def test_only_the_newest_records_are_exported_if_they_are_large(
    context: Context, exported: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied = _bring_in(context, json.loads(exported.model_dump_json())).handle
    author.refit(context, copied)
    size = len(_records(export_of(context, AUTHOR, copied).versions[1].samples or "")) * version_samples.RECORD.itemsize
    for most, expected in ((2 * size, [True, True]), (2 * size - 1, [False, True]), (size - 1, [False, False])):
        monkeypatch.setattr(stored_bundles, "_MOST_RECORDS", most)
        shown = export_of(context, AUTHOR, copied).versions
        assert [each.samples is not None for each in shown] == expected


# ---- hashes ----------------------------------------------------------------------------------------------------------


def test_a_document_of_an_earlier_release_keeps_its_hash(exported: Bundle) -> None:
    """The canonical bytes of what a release without activations, and one without forks, knew."""
    without = exported.model_copy(update={"activations": []})
    records = [each.model_copy(update={"samples": None}) for each in exported.versions]
    for old in (without, without.model_copy(update={"versions": records})):
        values = old.model_dump(mode="json", exclude_defaults=True, exclude={"sha256", "activations"})
        canonical = json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        assert digest(old) == hashlib.sha256(canonical.encode()).hexdigest()
        assert digest(old) != digest(exported)


def test_a_bundle_is_written_in_pieces_as_it_would_be_at_once(exported: Bundle) -> None:
    assert "".join(document(exported)) == exported.model_dump_json()
    assert "".join(document(exported, {"samples": iter(exported.samples or [])})) == exported.model_dump_json()
    assert exported.sha256 == digest(exported) == digest(exported, {"samples": iter(exported.samples or [])})
    retained = exported.model_copy(update={"samples": None})
    assert "".join(document(retained)) == retained.model_dump_json()


@given(st.data())
@settings(
    max_examples=sized(50, 150),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_one_byte_that_was_changed_is_found(context: Context, exported: Bundle, data: st.DataObject) -> None:
    content = bytearray(exported.model_dump_json().encode())
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    try:
        changed = Bundle.model_validate_json(bytes(content))
    except ValueError:
        return
    # The same values in other bytes (1e-5 and 1E-5) are not a change.
    if changed != exported:
        with pytest.raises(ValidationFailed):
            bundles.import_(context, AUTHOR, changed, new_handle())


# ---- what is refused -------------------------------------------------------------------------------------------------


def test_a_handle_that_is_taken_is_refused(context: Context, exported: Bundle) -> None:
    gone = draft(context)
    models.delete(context, AUTHOR, gone)
    for taken in (None, gone):
        with pytest.raises(HandleTaken):
            bundles.import_(context, AUTHOR, exported, taken)


@pytest.mark.parametrize(
    ("caller", "handle", "error"),
    [
        (SCORER, "local.new", InsufficientScope),
        (STRANGER, "local.new", NamespaceForbidden),
        (AUTHOR, "", InvalidHandle),
    ],
)
def test_who_may_export_and_import(
    context: Context, model: str, exported: Bundle, caller: Caller, handle: str, error: type[Exception]
) -> None:
    with pytest.raises(InsufficientScope):
        export_of(context, SCORER, model)
    with pytest.raises(error):
        bundles.import_(context, caller, exported, handle)


def _records(packed: str) -> Any:
    return np.frombuffer(base64.b64decode(packed), version_samples.RECORD)


def _packed(records: Any) -> str:
    return base64.b64encode(records.tobytes()).decode()


def _spoilt(field: str, value: Any) -> Callable[[str], str]:
    """A record with another value in the last of its samples."""

    def spoil(packed: str) -> str:
        records = _records(packed).copy()
        records[field][-1] = value
        return _packed(records)

    return spoil


def _rehashed(**changes: Any) -> Callable[[Json], Json]:
    """A version with other fields in its snapshot, under its own hash."""

    def change(version: Json) -> Json:
        version["snapshot"].pop("resemblance", None)  # it has the encoder's dimension, which may change
        snapshot = Snapshot.from_json({**version["snapshot"], **changes})
        return version | {"snapshot": snapshot.to_json(), "param_hash": param_hash(snapshot)}

    return change


_LOST = {"id": "lost-1", "dimension": 1, "digest": "f" * 64}
_RECORDS = "versions.0.samples"
# Each with what is put there, and where the refusal says that the fault is, if that is another place.
FAULTS: list[tuple[str, Any, str]] = [
    ("sha256", "0" * 64, ""),
    ("handle", "../../etc", ""),
    ("traits.1.key", "warmth", "traits"),
    ("traits.1.name", "Warmth", "traits"),
    ("traits.1.key", None, ""),
    ("traits.2.intrinsic.discrimination", 2.0, ""),
    ("traits.2.intrinsic.explained_variance", -0.1, ""),
    ("traits.2.intrinsic.anchors.positive", [0, 0], ""),
    ("traits.2.intrinsic.anchors.negative", [10**6], ""),
    ("traits.2.intrinsic.discovery", {"a": "b" * 20_000}, ""),
    ("samples.2.trait", "zeal", ""),
    ("samples.2.content_sha256", "0" * 64, ""),
    ("samples.2.text", "another text", "samples.2.content_sha256"),
    ("samples.2.seed", 1, ""),
    ("samples.2.pending", True, ""),
    ("samples.0.score_then", 40, ""),
    ("samples", None, ""),
    ("model.zero_data_retention", True, "samples"),
    ("model.zero_data_retention", True, _RECORDS),
    ("model.upstream_sources", [{"a": "b" * 65_536}], ""),
    ("model.upstream_sources", [{"a": material.nested(30)}], ""),
    ("model.version_retention_policy.keep_unnamed", 10**18, ""),
    ("model.main_trait", "absent", ""),
    ("versions.0.tags", ["v1"], ""),
    ("versions.0.tags", ["a", "a"], "versions"),
    ("versions.0.tag_notes", {"absent": "A note."}, ""),
    ("versions.1.active", False, "versions"),
    ("versions", lambda both: [*both, copy.deepcopy(both[0])], ""),
    ("versions.0.param_hash", "sha256:" + "0" * 64, ""),
    ("versions.0.snapshot.max_depth", 3, "versions.0.param_hash"),
    ("versions.0.snapshot.note", "hello", "versions.0.param_hash"),
    ("versions.0.snapshot.format", 99, "versions.0.snapshot"),
    ("versions.0.snapshot.traits.0.vector", "AAAA", "versions.0.snapshot"),
    ("versions.0.snapshot", {}, ""),
    ("versions.0", _rehashed(scoring_method="magic"), "versions.0.snapshot"),
    ("versions.0", _rehashed(traits=[]), "versions.0.snapshot"),
    ("versions.0", _rehashed(encoder=_LOST, traits=[]), "versions.0.snapshot"),
    ("versions.0.created_at", "9999-12-31T23:59:59-14:00", ""),
    ("versions.0.created_at", "1969-12-31T23:59:59Z", ""),
    ("versions.0.created_at", "2500-01-01T00:00:00Z", ""),
    ("versions.1.version_no", 2**53 - 1, ""),
    ("versions.1.held_up_to", 0, ""),
    ("versions.0.metrics.traits", [], ""),
    ("versions.0.metrics.traits.warmth.auroc", "high", ""),
    ("versions.0.metrics.traits.warmth.counts", {"positive": -1}, ""),
    ("versions.0.metrics.traits.warmth.modes", {"layer4": {"brier": "small"}}, ""),
    ("versions.0.metrics.traits.warmth.curve", [{"samples": 8, "auroc": 1.5}], ""),
    ("versions.0.metrics.traits.warmth.forecast", "soon", ""),
    ("versions.0.metrics.traits.warmth.search", {"levels": [7]}, ""),
    ("versions.0.metrics.scoring_method", ["balanced_cosine"], ""),
    ("versions.0.metrics.note", "a\x00b", ""),
    ("versions.0.metrics.promoted_from", {"handle": 3}, "versions.0.metrics.promoted_from.handle"),
    ("versions.0.metrics.auroc", 1e308, ""),
    ("versions.0.metrics.x", 1e300, ""),
    ("versions.0.metrics.x", "a" * 2_001, ""),
    ("versions.0.metrics.x", {"b" * 300: 1}, ""),
    ("versions.0.metrics.x", material.nested(20), ""),
    ("versions.0.metrics", {"x": ["a" * 1_000] * 600}, ""),
    (_RECORDS, "not base64", ""),
    (_RECORDS, lambda packed: packed[4:], ""),
    (_RECORDS, lambda packed: _packed(_records(packed)[::-1]), ""),
    (_RECORDS, _spoilt("quality", 2.0), ""),
    (_RECORDS, _spoilt("quality", float("nan")), ""),
    (_RECORDS, _spoilt("must_pass", True), ""),
    (_RECORDS, _spoilt("held_out", True), ""),
    ("versions.0.sample_count", 3, _RECORDS),
    ("forked_from", {"handle": "Bad", "version_no": 1}, "forked_from.handle"),
    ("forked_from", {"handle": "local.a", "version_no": 2**40}, "forked_from.version_no"),
    ("activations.0.activated_at", "1969-01-01T00:00:00Z", ""),
    ("activations.0.version_no", 2**40, ""),
]


@pytest.mark.parametrize(
    ("place", "value", "told"), FAULTS, ids=[f"{n} {place}" for n, (place, _, _) in enumerate(FAULTS)]
)
def test_a_bundle_that_does_not_fit_together_is_refused_at_its_place(
    context: Context, rich: Json, place: str, value: Any, told: str
) -> None:
    content = copy.deepcopy(rich)
    _put(content, place, value)
    if place.endswith("param_hash") or told.endswith("param_hash"):
        content["sha256"] = material.sha256_of(content)  # the hash of the snapshot stays as it is
    elif place != "sha256":
        content = material.signed(content)
    path = [int(part) if part.isdigit() else part for part in (told or place).split(".")]
    assert path in [error["loc"][: len(path)] for error in _refused(context, content)]


def test_a_bundle_of_another_encoder_says_which(context: Context, rich: Json) -> None:
    content = copy.deepcopy(rich)
    _put(content, "versions.0", _rehashed(encoder=_LOST, traits=[]))
    said = " ".join(error["msg"] for error in _refused(context, material.signed(content)))
    assert "lost-1" in said
    assert context.encoder.id in said
    content = copy.deepcopy(rich)
    _put(content, "traits.2.intrinsic.encoder_digest", "0123456789abcdef" * 4)
    [error] = _refused(context, material.signed(content))
    assert error["loc"] == ["traits", 2, "intrinsic", "axis"]
    assert "not installed: digest 0123456789ab;" in error["msg"]


def test_a_version_may_be_as_old_as_the_refusal_of_an_older_one_says(context: Context, rich: Json) -> None:
    content = copy.deepcopy(rich)
    _put(content, "versions.0.created_at", "1969-12-31T23:59:59Z")
    assert "a time from 1970-01-01 to" in _refused(context, material.signed(content))[0]["msg"]
    _put(content, "versions.0.created_at", "1970-01-01T00:00:00Z")
    _bring_in(context, material.signed(content))


@pytest.mark.parametrize(
    ("count", "said"), [(1, "is not valid"), (2, "and 1 other place are not valid"), (3, "and 2 other places are not")]
)
def test_a_refusal_counts_the_places_that_are_not_valid(
    context: Context, exported: Bundle, count: int, said: str
) -> None:
    content = json.loads(exported.model_dump_json())
    invalid = {"created_at": "1969-12-31T23:59:59Z", "tags": ["v7"], "version_no": 2**53 - 1}
    content["versions"][0] |= dict([*invalid.items()][:count])
    with pytest.raises(ValidationFailed, match=rf"cannot be imported: versions\[0\]\.[\w.\[\]]+ {said}"):
        _bring_in(context, material.signed(content))


def test_more_than_the_operator_allows_is_refused(context: Context, exported: Bundle) -> None:
    narrow = replace(context, settings=replace(context.settings, max_traits=1, max_samples=3))
    errors = _refused(narrow, json.loads(exported.model_dump_json()))
    assert [error["loc"] for error in errors] == [["traits"], ["samples"]]


# ---- limits ----------------------------------------------------------------------------------------------------------


def _of_size(size: int) -> list[str]:
    """A value that takes this many bytes as compact JSON."""
    full, rest = divmod(size - len('[""]'), len('"",') + 1_000)
    return [*["a" * 1_000] * full, "a" * rest]


@pytest.mark.parametrize(
    ("bounds", "size", "levels", "magnitude", "longest_text", "longest_key"),
    [
        (rules.SOURCES, 64 * 1024, 16, None, None, None),
        (rules.METRICS, 512 * 1024, 16, 1e15, 2_000, 200),
        (rules.DISCOVERY, 16 * 1024, 8, 1e15, 2_000, 200),
        (rules.SNAPSHOT, None, 16, None, None, None),
    ],
)
def test_what_a_bundle_may_hold_today_it_may_always_hold(
    bounds: rules.Bounds,
    size: int | None,
    levels: int,
    magnitude: float | None,
    longest_text: int | None,
    longest_key: int | None,
) -> None:
    """Each limit is the last value accepted. A lower one would refuse bundles that were exported before."""
    edges: list[tuple[Any, Any, str]] = [(material.nested(levels), material.nested(levels + 1), "too_deep")]
    if size is not None:
        edges.append((_of_size(size), _of_size(size + 1), "too_large"))
    if magnitude is not None:
        edges += [(sign * magnitude, sign * magnitude * (1 + 1e-12), "out_of_range") for sign in (1, -1)]
    if longest_text is not None:
        edges.append(("a" * longest_text, "a" * (longest_text + 1), "too_long"))
    if longest_key is not None:
        edges.append(({"a" * longest_key: 1}, {"a" * (longest_key + 1): 1}, "too_long"))
    for accepted, refused, kind in edges:
        assert list(rules.faults(accepted, bounds)) == []
        assert [each for _, each, _ in rules.faults(refused, bounds)] == [kind]
