"""A model as one document: an import restores exactly what was exported, and anything else is refused."""

import base64
import copy
import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.contexts import AUTHOR, ON_SQLITE, SCORER, STRANGER, draft, export_of, new_handle, settled
from tests.operations.bundle_content import Json, as_bytes, content_of, pack, signed
from tests.size import sized
from traitbench.contract.bundles import Bundle, digest, document
from traitbench.contract.models import ForkRequest, ModelUpdate, TrainRequest
from traitbench.contract.samples import SampleInput, SamplesCreate
from traitbench.contract.scores import ScoreRequest
from traitbench.contract.versions import VersionActivate
from traitbench.errors import HandleTaken, InsufficientScope, InvalidHandle, NamespaceForbidden, ValidationFailed
from traitbench.operations import bundles, forking, free_form, models, samples, scores, training, traits, versions
from traitbench.operations.context import Context
from traitbench.scoring.snapshot import Snapshot, param_hash
from traitbench.store import bundles as stored_bundles
from traitbench.store import version_samples


@pytest.fixture(scope="module")
def exported(working: Context, toned: str) -> Bundle:
    return export_of(working, AUTHOR, toned)


def test_a_model_comes_in_as_it_went_out(working: Context, exported: Bundle) -> None:
    handle = new_handle()
    model = bundles.import_(working, AUTHOR, Bundle.model_validate_json(exported.model_dump_json()), handle)
    assert (model.handle, model.state, model.version_no, model.version_tags) == (handle, "ready", 1, ["first"])
    copied = content_of(export_of(working, AUTHOR, handle))
    own = copied["activations"].pop()
    assert (own["cause"], own["version_no"], own["previous_version_no"]) == ("import", 1, None)
    assert copied == content_of(exported)
    [version] = versions.list_versions(working, SCORER, handle).items
    assert (version.triggered_by, version.run_id) == ("backfill", None)


def test_what_came_in_scores_as_before(working: Context, toned: str, exported: Bundle) -> None:
    handle = new_handle()
    bundles.import_(working, AUTHOR, exported, handle)
    for text in ("thank you, how kind of you", "no reply is needed"):
        cards = [
            scores.score(working, SCORER, each, ScoreRequest(content=text), request_id="req_1")
            for each in (toned, handle)
        ]
        assert cards[0] == cards[1]


def test_versions_go_on_behind_those_that_came_in(working: Context, exported: Bundle) -> None:
    document = exported.model_dump(mode="json")
    document["versions"][0]["version_no"] = 7
    handle = new_handle()
    bundles.import_(working, AUTHOR, signed(document), handle)
    training.start(working, AUTHOR, handle, TrainRequest(effort="low", reoptimize_params=True))
    assert settled(working, handle).version_no == 8
    versions.activate(working, AUTHOR, handle, VersionActivate(tag="first"))
    assert models.get(working, AUTHOR, handle).version_no == 7


def test_a_version_may_be_as_old_as_the_refusal_of_an_older_one_says(working: Context, exported: Bundle) -> None:
    told = exported.model_dump(mode="json")
    told["versions"][0]["created_at"] = "1969-12-31T23:59:59Z"
    with pytest.raises(ValidationFailed) as caught:
        bundles.import_(working, AUTHOR, signed(told), new_handle())
    assert "a time from 1970-01-01 to" in caught.value.details["errors"][0]["msg"]
    told["versions"][0]["created_at"] = "1970-01-01T00:00:00Z"
    bundles.import_(working, AUTHOR, signed(told), new_handle())


@pytest.mark.parametrize(
    ("count", "said"), [(1, "is not valid"), (2, "and 1 other place are not valid"), (3, "and 2 other places are not")]
)
def test_a_refusal_counts_the_places_that_are_not_valid(
    working: Context, exported: Bundle, count: int, said: str
) -> None:
    invalid = {"created_at": "1969-12-31T23:59:59Z", "tags": ["v7"], "version_no": 2**53 - 1}
    told = exported.model_dump(mode="json")
    told["versions"][0] |= dict([*invalid.items()][:count])
    with pytest.raises(ValidationFailed, match=rf"cannot be imported: versions\[0\]\.[\w.\[\]]+ {said}"):
        bundles.import_(working, AUTHOR, signed(told), new_handle())


def test_a_draft_comes_in_as_a_draft(context: Context) -> None:
    bundle = export_of(context, AUTHOR, draft(context, warm=2, cold=2))
    handle = new_handle()
    assert bundles.import_(context, AUTHOR, bundle, handle).state == "draft"
    assert [trait.sample_count for trait in traits.list_traits(context, AUTHOR, handle).traits] == [4]
    assert content_of(export_of(context, AUTHOR, handle)) == content_of(bundle)


def test_under_zero_retention_no_sample_goes_out(context: Context) -> None:
    handle, other = draft(context, warm=1, cold=1), new_handle()
    models.update(context, AUTHOR, handle, ModelUpdate(zero_data_retention=True))
    bundle = export_of(context, AUTHOR, handle)
    assert bundle.samples is None
    assert bundles.import_(context, AUTHOR, bundle, other).zero_data_retention
    assert content_of(export_of(context, AUTHOR, other)) == content_of(bundle)


def test_a_handle_that_is_taken_is_refused(working: Context, toned: str, exported: Bundle) -> None:
    with pytest.raises(HandleTaken):
        bundles.import_(working, AUTHOR, exported)
    gone = draft(working)
    models.delete(working, AUTHOR, gone)
    with pytest.raises(HandleTaken):
        bundles.import_(working, AUTHOR, exported, gone)


def test_who_may_export_and_import(working: Context, toned: str, exported: Bundle) -> None:
    with pytest.raises(InsufficientScope):
        export_of(working, SCORER, toned)
    with pytest.raises(InsufficientScope):
        bundles.import_(working, SCORER, exported, new_handle())
    with pytest.raises(NamespaceForbidden):
        bundles.import_(working, STRANGER, exported, new_handle())
    with pytest.raises(InvalidHandle):
        bundles.import_(working, AUTHOR, exported, "")


@given(st.data())
@settings(
    max_examples=sized(50, 150),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_one_byte_that_was_changed_is_found(working: Context, exported: Bundle, data: st.DataObject) -> None:
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
            bundles.import_(working, AUTHOR, changed, new_handle())


def _at(*path: str | int) -> Callable[[Any], Callable[[Json], None]]:
    def put(value: Any) -> Callable[[Json], None]:
        def change(content: Json) -> None:
            inner: Any = content
            for step in path[:-1]:
                inner = inner[step]
            inner[path[-1]] = value(inner[path[-1]]) if callable(value) else value

        return change

    return put


def _again(content: Json) -> None:
    content["versions"].append(copy.deepcopy(content["versions"][0]))


def _rehashed(**changes: Any) -> Callable[[Json], None]:
    """A snapshot with other fields, under its own hash."""

    def change(content: Json) -> None:
        version = content["versions"][0]
        version["snapshot"].pop("resemblance", None)  # it has the encoder's dimension, which may change
        snapshot = Snapshot.from_json({**version["snapshot"], **changes})
        version["snapshot"], version["param_hash"] = snapshot.to_json(), param_hash(snapshot)

    return change


def _swapped(packed: str) -> str:
    """A record whose samples are not in their order."""
    return pack(_records(packed)[::-1])


def _spoilt(field: str, value: Any) -> Callable[[str], str]:
    """A record with another value in the last of its samples."""

    def spoil(packed: str) -> str:
        records = _records(packed).copy()
        records[field][-1] = value
        return pack(records)

    return spoil


def _records(packed: str) -> Any:
    return np.frombuffer(base64.b64decode(packed), version_samples.RECORD)


_AUROC = ("versions", 0, "metrics", "traits", "warmth", "auroc")
_LOST = {"id": "lost-1", "dimension": 1, "digest": "f" * 64}


def test_a_permission_to_ask_a_language_model_is_not_carried(context: Context) -> None:
    handle = draft(context, warm=1, cold=1)
    models.update(context, AUTHOR, handle, ModelUpdate(language_model_allowed=True))
    bundle = export_of(context, AUTHOR, handle)
    assert bundle.model.language_model_allowed is None
    told = bundle.model_copy(
        update={"model": bundle.model.model_copy(update={"language_model_allowed": True}), "sha256": ""}
    )
    signed = told.model_copy(update={"sha256": digest(told)})
    assert not bundles.import_(context, AUTHOR, signed, new_handle()).language_model_allowed


@pytest.mark.parametrize(
    ("change", "path"),
    [
        (_at("sha256")("0" * 64), ["sha256"]),
        (_at("traits", 1, "key")("warmth"), ["traits"]),
        (_at("traits", 1, "name")("Warmth"), ["traits"]),
        (_at("traits", 1, "key")(None), ["traits", 1, "key"]),
        (_at("samples", 2, "trait")("zeal"), ["samples", 2, "trait"]),
        (_at("samples", 2, "content_sha256")("0" * 64), ["samples", 2, "content_sha256"]),
        (_at("samples", 2, "text")("another text"), ["samples", 2, "content_sha256"]),
        (_at("samples", 2, "seed")(1), ["samples", 2, "seed"]),
        (_at("samples", 2, "pending")(True), ["samples", 2, "pending"]),
        (_at("samples")(None), ["samples"]),
        (_at("model", "zero_data_retention")(True), ["samples"]),
        (_at("versions", 0, "tags")(["v1"]), ["versions", 0, "tags"]),
        (_at("versions", 0, "tags")(["a", "a"]), ["versions"]),
        (_at("versions", 0, "active")(False), ["versions"]),
        (_at("versions", 0, "param_hash")("sha256:" + "0" * 64), ["versions", 0, "param_hash"]),
        (_at("versions", 0, "snapshot", "max_depth")(3), ["versions", 0, "param_hash"]),
        (_at("versions", 0, "snapshot", "note")("hello"), ["versions", 0, "param_hash"]),
        (_at("versions", 0, "snapshot", "format")(99), ["versions", 0, "snapshot"]),
        (_at("versions", 0, "snapshot", "traits", 0, "vector")("AAAA"), ["versions", 0, "snapshot"]),
        (_at("versions", 0, "snapshot")({}), ["versions", 0, "snapshot"]),
        (_rehashed(scoring_method="magic"), ["versions", 0, "snapshot"]),
        (_rehashed(traits=[]), ["versions", 0, "snapshot"]),
        (_rehashed(encoder=_LOST, traits=[]), ["versions", 0, "snapshot"]),
        (_at("versions", 0, "metrics", "traits")([]), ["versions", 0, "metrics", "traits"]),
        (
            _at("versions", 0, "metrics", "traits", "warmth", "auroc")("high"),
            ["versions", 0, "metrics", "traits", "warmth", "auroc"],
        ),
        (_at("versions", 0, "metrics", "note")("a\x00b"), ["versions", 0, "metrics", "note"]),
        (
            _at("versions", 0, "metrics", "promoted_from")({"handle": 3}),
            ["versions", 0, "metrics", "promoted_from", "handle"],
        ),
        (_at("versions", 0, "samples")("not base64"), ["versions", 0, "samples"]),
        (_at("versions", 0, "samples")(lambda packed: packed[4:]), ["versions", 0, "samples"]),
        (_at("versions", 0, "samples")(_swapped), ["versions", 0, "samples"]),
        (_at("versions", 0, "samples")(_spoilt("quality", 2.0)), ["versions", 0, "samples"]),
        (_at("versions", 0, "samples")(_spoilt("quality", float("nan"))), ["versions", 0, "samples"]),
        (_at("versions", 0, "samples")(_spoilt("must_pass", True)), ["versions", 0, "samples"]),
        (_at("versions", 0, "samples")(_spoilt("held_out", True)), ["versions", 0, "samples"]),
        (_at("versions", 0, "sample_count")(3), ["versions", 0, "samples"]),
        (_at("model", "zero_data_retention")(True), ["versions", 0, "samples"]),
        (_at("forked_from")({"handle": "Bad", "version_no": 1}), ["forked_from", "handle"]),
        (_at("forked_from")({"handle": "local.a", "version_no": 2**40}), ["forked_from", "version_no"]),
        (_again, ["versions"]),
    ],
)
def test_a_bundle_that_does_not_fit_together_is_refused_at_its_place(
    working: Context, exported: Bundle, change: Callable[[Json], None], path: list[str | int]
) -> None:
    document, handle = exported.model_dump(mode="json"), new_handle()
    change(document)
    bundle = Bundle.model_validate_json(as_bytes(document)) if path == ["sha256"] else signed(document)
    with pytest.raises(ValidationFailed) as caught:
        bundles.import_(working, AUTHOR, bundle, handle)
    assert path in [error["loc"] for error in caught.value.details["errors"]]
    page = models.list_models(working, AUTHOR, namespace="local", limit=250)
    assert handle not in [model.handle for model in page.items]


def test_a_bundle_of_another_encoder_says_which(working: Context, exported: Bundle) -> None:
    document = exported.model_dump(mode="json")
    _rehashed(encoder=_LOST, traits=[])(document)
    with pytest.raises(ValidationFailed) as caught:
        bundles.import_(working, AUTHOR, signed(document), new_handle())
    text = " ".join(error["msg"] for error in caught.value.details["errors"])
    assert "lost-1" in text
    assert working.encoder.id in text


def test_more_than_the_operator_allows_is_refused(working: Context, exported: Bundle) -> None:
    narrow = replace(working, settings=replace(working.settings, max_traits=1, max_samples=3))
    with pytest.raises(ValidationFailed) as caught:
        bundles.import_(narrow, AUTHOR, exported, new_handle())
    assert [error["loc"] for error in caught.value.details["errors"]] == [["traits"], ["samples"]]


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        (
            {"activations": [{"version_no": 1, "activated_at": "1969-01-01T00:00:00Z", "cause": "train"}]},
            "activated_at",
        ),
        (
            {"activations": [{"version_no": 2**40, "activated_at": "2026-01-01T00:00:00Z", "cause": "train"}]},
            "version_no",
        ),
        ({"held_up_to": 0}, "held_up_to"),
        ({"score_then": 40}, "score_then"),
    ],
)
def test_activations_holds_and_scores_are_checked(
    working: Context, exported: Bundle, changes: Json, place: str
) -> None:
    document = exported.model_dump(mode="json")
    if "activations" in changes:
        document |= changes
    else:
        part = document["versions"][0] if "held_up_to" in changes else document["samples"][0]
        part |= changes
    with pytest.raises(ValidationFailed) as caught:
        bundles.import_(working, AUTHOR, signed(document), new_handle())
    assert [error["loc"][-1] for error in caught.value.details["errors"]] == [place]


def test_a_bundle_without_activations_has_the_hash_of_earlier_releases(exported: Bundle) -> None:
    """An older release did not know the field, and its bundles stay usable."""
    bundle = exported.model_copy(update={"activations": []})
    plain = bundle.model_dump(mode="json", exclude_defaults=True, exclude={"sha256", "activations"})
    canonical = json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert digest(bundle) == hashlib.sha256(canonical.encode()).hexdigest()
    assert digest(exported) != digest(bundle)


def test_a_bundle_is_written_in_pieces_as_it_would_be_at_once(exported: Bundle) -> None:
    assert "".join(document(exported)) == exported.model_dump_json()
    assert "".join(document(exported, iter(exported.samples or []))) == exported.model_dump_json()
    assert exported.sha256 == digest(exported) == digest(exported, iter(exported.samples or []))
    retained = exported.model_copy(update={"samples": None})
    assert "".join(document(retained)) == retained.model_dump_json()


def _nested(levels: int) -> Any:
    value: Any = 1
    for level in range(levels):
        value = [value] if level % 2 else {"a": value}
    return value


def _of_size(size: int) -> list[str]:
    """A value that takes this many bytes as compact JSON."""
    full, rest = divmod(size - len('[""]'), len('"",') + 1_000)
    return [*["a" * 1_000] * full, "a" * rest]


@ON_SQLITE
@pytest.mark.parametrize(
    ("bounds", "size", "levels", "magnitude", "longest_text", "longest_key"),
    [
        (free_form.SOURCES, 64 * 1024, 16, None, None, None),
        (free_form.METRICS, 512 * 1024, 16, 1e15, 2_000, 200),
        (free_form.DISCOVERY, 16 * 1024, 8, 1e15, 2_000, 200),
        (free_form.SNAPSHOT, None, 16, None, None, None),
    ],
)
def test_what_a_bundle_may_hold_today_it_may_always_hold(
    bounds: free_form.Bounds,
    size: int | None,
    levels: int,
    magnitude: float | None,
    longest_text: int | None,
    longest_key: int | None,
) -> None:
    """Each limit is the last value accepted. A lower one would refuse bundles that were exported before."""
    edges: list[tuple[Any, Any, str]] = [(_nested(levels), _nested(levels + 1), "too_deep")]
    if size is not None:
        edges.append((_of_size(size), _of_size(size + 1), "too_large"))
    if magnitude is not None:
        edges += [(sign * magnitude, sign * magnitude * (1 + 1e-12), "out_of_range") for sign in (1, -1)]
    if longest_text is not None:
        edges.append(("a" * longest_text, "a" * (longest_text + 1), "too_long"))
    if longest_key is not None:
        edges.append(({"a" * longest_key: 1}, {"a" * (longest_key + 1): 1}, "too_long"))
    for accepted, refused, kind in edges:
        assert list(free_form.faults(accepted, bounds)) == []
        assert [each for _, each, _ in free_form.faults(refused, bounds)] == [kind]


# ---- forks -----------------------------------------------------------------------------------------------------------


def test_lineage_test_samples_and_recorded_samples_come_along(working: Context, toned: str) -> None:
    made = forking.fork(working, AUTHOR, toned, ForkRequest(handle=new_handle()))
    sent = SampleInput(trait="warmth", text="a warm test", quality=1.0, held_out=True, must_pass=True)
    samples.add(working, AUTHOR, made.handle, SamplesCreate(samples=[sent]))
    training.start(working, AUTHOR, made.handle, TrainRequest(effort="low"))
    assert settled(working, made.handle).state == "ready"
    bundle = export_of(working, AUTHOR, made.handle)
    imported = bundles.import_(working, AUTHOR, bundle, new_handle())
    assert imported.forked_from == made.forked_from
    again = export_of(working, AUTHOR, imported.handle)
    assert {**content_of(again), "activations": None} == {**content_of(bundle), "activations": None}
    assert [(each.held_out, each.must_pass) for each in again.samples or [] if each.held_out] == [(True, True)]
    [version] = again.versions
    assert version.samples is not None
    assert len(_records(version.samples)) == len(again.samples or [])


def test_a_document_from_before_forks_keeps_its_hash(exported: Bundle) -> None:
    """The canonical bytes of what earlier releases knew."""
    without = [each.model_copy(update={"samples": None}) for each in exported.versions]
    old = exported.model_copy(update={"versions": without, "activations": []})
    known = ("format", "handle", "model", "samples", "traits", "versions")
    values = old.model_dump(mode="json", exclude_defaults=True, include=set(known))
    canonical = json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert digest(old) == hashlib.sha256(canonical.encode()).hexdigest()
    assert digest(old) != digest(exported)


def test_only_the_newest_records_are_exported_if_they_are_large(
    working: Context, toned: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied = bundles.import_(working, AUTHOR, export_of(working, AUTHOR, toned), new_handle()).handle
    training.start(working, AUTHOR, copied, TrainRequest(effort="low", reoptimize_params=True))
    assert settled(working, copied).version_no == 2
    size = len(_records(export_of(working, AUTHOR, copied).versions[1].samples or "")) * version_samples.RECORD.itemsize
    for most, expected in ((2 * size, [True, True]), (2 * size - 1, [False, True]), (size - 1, [False, False])):
        monkeypatch.setattr(stored_bundles, "_MOST_RECORDS", most)
        shown = export_of(working, AUTHOR, copied).versions
        assert [each.samples is not None for each in shown] == expected
