"""The positions of a version's samples when they were held out: from its training, worked out later, and carried on."""

import base64
import json
from collections import Counter
from typing import Any

import numpy as np
import pytest
from sqlalchemy import delete, select, update

from tests.contexts import AUTHOR, COLD, ON_BOTH, STRANGER, WARM, draft, export_of, new_handle
from tests.operations import author
from traitbench import errors
from traitbench.contract.bundles import Bundle, digest
from traitbench.contract.samples import SampleQuery
from traitbench.contract.traits import TraitInput
from traitbench.contract.versions import VersionSample
from traitbench.encoders.registry import load_encoder
from traitbench.fitting.fit import EncoderIdentity, out_of_fold
from traitbench.local.training import collected_samples, label_axes
from traitbench.local.vectors import sample_vectors
from traitbench.operations import bundles, held_out_positions, samples, traits, versions
from traitbench.operations.context import Context
from traitbench.operations.worker import answer_positions
from traitbench.scoring.snapshot import Snapshot
from traitbench.store import tables, version_positions
from traitbench.store import versions as stored_versions
from traitbench.store.database import reading, writing

LABELLED = [
    *((f"{text}, {number}", 1.0) for text in WARM for number in range(3)),
    *((f"{text}, {number}", 0.0) for text in COLD for number in range(3)),
    ("the office opens at nine", 0.5),
    # Labels that no fit agrees with.
    (f"{WARM[0]}, indeed", 0.0),
    (f"{COLD[0]}, indeed", 1.0),
]
TESTS = [("how very kind of you", 1.0), ("you were denied the form", 0.0), ("thank you so much", 0.0)]


@pytest.fixture(scope="module")
def measured(context: Context) -> str:
    """A trained model with wrong labels, labels in the middle, and test samples; tests only read it."""
    return trained(context)


def trained(context: Context, **fields: Any) -> str:
    handle = author.new_model(context, TraitInput(name="Warmth"), TraitInput(name="Cool", key="cool"), **fields)
    author.add_samples(context, handle, LABELLED)
    author.add_samples(context, handle, [(text, 1 - quality) for text, quality in LABELLED[:8:2]], trait="cool")
    author.add_samples(context, handle, [(text, 1 - quality) for text, quality in LABELLED[12:20:2]], trait="cool")
    author.add_samples(context, handle, TESTS, held_out=True)
    author.train(context, handle)
    return handle


def rows(context: Context, handle: str, version: str = "active", *, limit: int = 5_000) -> list[VersionSample]:
    page = versions.list_samples(context, AUTHOR, handle, version, limit=limit)
    items = list(page.items)
    while page.next_cursor:
        page = versions.list_samples(context, AUTHOR, handle, version, limit=limit, cursor=page.next_cursor)
        items += page.items
    return items


def forget(context: Context, version_id: int) -> None:
    """Leave the version as a release before this one did."""
    with writing(context.engine) as connection:
        for table in (tables.version_positions, tables.asked_positions):
            connection.execute(delete(table).where(table.c.version_id == version_id))


def worked_out(context: Context, handle: str, version: str = "active") -> list[VersionSample]:
    """The rows of a version without positions, after a worker has looked; of positions, twelve decimals."""
    with pytest.raises(errors.Unavailable) as met:
        rows(context, handle, version)
    assert met.value.headers["Retry-After"] == "2"
    answer_positions(context.engine, context.settings)
    return rounded(rows(context, handle, version))


def rounded(found: list[VersionSample]) -> list[VersionSample]:
    return [
        each if each.position is None else each.model_copy(update={"position": round(each.position, 12)})
        for each in found
    ]


# ---- a training ------------------------------------------------------------------------------------------------------


@ON_BOTH
def test_a_training_stores_what_fits_said_of_samples_that_they_had_not_seen(context: Context) -> None:
    handle = trained(context)
    found = {each.sample_id: each for each in rows(context, handle)}
    own, version = author.samples_of(context, handle), author.active(context, handle)
    assert found.keys() == {sample.id for sample in own}
    assert all((found[each.id].trait, found[each.id].held_out) == (each.trait, each.held_out) for each in own)
    given = traits.list_traits(context, AUTHOR, handle).traits
    learned = [sample for sample in own if not sample.held_out]
    encoder = load_encoder(context.settings.encoder, cache=context.settings.cache)
    collected = collected_samples(
        given, learned, sample_vectors(encoder, learned), label_axis=label_axes(encoder, context.settings.cache).of
    )
    fitted = out_of_fold(
        collected,
        encoder=EncoderIdentity.of(encoder),
        effort="low",
        fixed={key: each.model_dump() for key, each in version.metrics.traits.items()},
        modes=encoder.modes,
    )
    for key, result in fitted.items():
        ids = [sample.id for sample in learned if sample.trait == key]
        assert [found[each].position for each in ids] == pytest.approx(result.positions.tolist())
    assert fitted.keys() == {"warmth", "cool"}


def test_the_figures_are_counted_from_these_positions(context: Context, measured: str) -> None:
    found, version = rows(context, measured), author.active(context, measured)
    figures, axes = version.metrics.traits["warmth"], version.snapshot["traits"] if version.snapshot else []
    qualities = {sample.id: sample.quality for sample in author.samples_of(context, measured)}
    own = [each for each in found if each.trait == "warmth" and not each.held_out and each.right is not None]
    breaks = next(axis["breaks"] for axis in axes if axis["key"] == "warmth")
    assert figures.confusion
    counted = Counter("positive" if qualities[each.sample_id] > 0.5 else "negative" for each in own)
    assert counted == {pole: sum(tiers.values()) for pole, tiers in figures.confusion.items()}
    assert breaks
    assert figures.confidence
    assert sum(bool(each.right) for each in own) == sum(each.right for each in figures.confidence.values())
    tests = [each for each in found if each.held_out]
    assert figures.test
    assert len(tests) == len(TESTS)
    for each, (text, _) in zip(tests, TESTS, strict=True):
        assert each.position is not None
        assert round(100 * each.position) == author.score(context, measured, text).scores["warmth"]


def test_right_is_the_side_of_the_points(context: Context, measured: str) -> None:
    version_id = author.active(context, measured).version_id
    cases = [
        (0.504, 1.0, False),  # 50 points are on neither side
        (0.505, 1.0, True),
        (0.505, 0.0, False),
        (0.495, 0.0, False),
        (0.494, 0.0, True),
        (0.9, 0.5, None),
        (float("nan"), 1.0, None),
    ]
    stored = [(at, position, 0, quality, False) for at, (position, quality, _) in enumerate(cases, start=1)]
    with writing(context.engine) as connection:
        was = version_positions.read(connection, version_id)
        assert was is not None
        version_positions.add(
            connection, version_id, version_positions.Positions(["warmth"], version_positions.records(stored))
        )
    try:
        found = rows(context, measured)
        assert [each.right for each in found] == [right for *_, right in cases]
        assert [each.position for each in found] == [*(position for position, *_ in cases[:-1]), None]
    finally:
        with writing(context.engine) as connection:
            version_positions.add(connection, version_id, was)


def test_pages_divide_the_rows(context: Context, measured: str) -> None:
    assert rows(context, measured, limit=4) == rows(context, measured)
    assert [each.sample_id for each in rows(context, measured)] == sorted(
        each.sample_id for each in rows(context, measured)
    )
    with pytest.raises(errors.VersionNotFound):
        rows(context, measured, "v9")
    with pytest.raises(errors.InvalidCursor):
        versions.list_samples(context, AUTHOR, measured, "v1", cursor="x")
    with pytest.raises(errors.ModelNotFound):
        versions.list_samples(context, STRANGER, measured, "v1")


def test_a_synthesized_sample_that_was_never_held_out_has_no_position(context: Context) -> None:
    handle = author.new_model(context, TraitInput(name="Warmth"))
    ids = author.add_samples(context, handle, LABELLED)
    with writing(context.engine) as connection:
        mine = update(tables.samples).where(tables.samples.c.id == ids[0])
        connection.execute(mine.values(provenance="synthesized"))
    author.train(context, handle)
    assert [each.sample_id for each in rows(context, handle) if each.position is None] == [ids[0]]


# ---- a version of an earlier release ---------------------------------------------------------------------------------


@ON_BOTH
def test_a_version_without_positions_gets_those_of_its_training_and_the_model_is_not_busy(context: Context) -> None:
    handle = trained(context, max_depth=2)
    before = rows(context, handle)
    forget(context, author.active(context, handle).version_id)
    run = author.row(context, handle).run_id
    assert worked_out(context, handle) == rounded(before)
    after = author.row(context, handle)
    assert (after.state, after.run_id) == ("ready", run)


def test_feedback_that_came_later_changes_nothing(context: Context) -> None:
    handle = trained(context)
    before = rows(context, handle)
    author.give_feedback(context, handle, "a word of thanks", warmth=0.0)
    forget(context, author.active(context, handle).version_id)
    assert worked_out(context, handle) == rounded(before)


def test_without_a_record_of_its_samples_those_of_its_time_are_taken(context: Context) -> None:
    handle = trained(context)
    before, version_id = rows(context, handle), author.active(context, handle).version_id
    forget(context, version_id)
    with writing(context.engine) as connection:
        table = tables.version_samples
        connection.execute(delete(table).where(table.c.version_id == version_id))
    assert worked_out(context, handle) == rounded(before)


def test_an_axis_that_another_processor_rounded_is_the_same(context: Context) -> None:
    handle = trained(context)
    before, version = rows(context, handle), author.active(context, handle)
    for factor, is_same in ((1 + 1e-6, True), (1 + 1e-3, False)):
        forget(context, version.version_id)
        with writing(context.engine) as connection:
            snapshot = stored_versions.snapshot(connection, version.version_id)
            axis = Snapshot.from_json(snapshot).traits[0].vector * np.float32(factor)
            snapshot["traits"][0]["vector"] = base64.b64encode(axis.astype("<f4").tobytes()).decode()
            stored_versions.rewrite(connection, version.version_id, snapshot, param_hash="other")
        if is_same:
            assert [each.position for each in worked_out(context, handle) if not each.held_out] == [
                each.position for each in rounded(before) if not each.held_out
            ]
        else:
            with pytest.raises(errors.FeatureUnavailable):
                worked_out(context, handle)


def test_a_killed_worker_begins_again_and_is_not_given_endless_attempts(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    handle = trained(context)
    before, version_id = rows(context, handle), author.active(context, handle).version_id
    forget(context, version_id)
    with pytest.raises(errors.Unavailable):
        rows(context, handle)
    with monkeypatch.context() as patched:
        patched.setattr(held_out_positions, "out_of_fold", _killed)
        for _ in range(4):
            with pytest.raises(KeyboardInterrupt):
                answer_positions(context.engine, context.settings)
            with pytest.raises(errors.Unavailable):
                rows(context, handle)
    answer_positions(context.engine, context.settings)
    assert rounded(rows(context, handle)) == rounded(before)
    forget(context, version_id)
    with writing(context.engine) as connection:
        version_positions.ask(connection, version_id)
        connection.execute(update(tables.asked_positions).values(attempts=5))
    answer_positions(context.engine, context.settings)
    with pytest.raises(errors.FeatureUnavailable) as met:
        rows(context, handle)
    assert met.value.details == {"version": "v1", "reason": "failed"}


def _killed(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("field", ["quality", "text", "gone", "trait"])
def test_where_samples_or_traits_have_changed_it_is_said_that_there_are_none(context: Context, field: str) -> None:
    handle = trained(context)
    version_id, model_id = author.active(context, handle).version_id, author.row(context, handle).id
    forget(context, version_id)
    first = author.samples_of(context, handle)[0].id
    mine = update(tables.samples).where(tables.samples.c.id == first)
    with writing(context.engine) as connection:
        connection.execute(
            {
                "quality": mine.values(quality=0.9),
                "text": mine.values(content_sha256="0" * 64),
                "gone": delete(tables.samples).where(tables.samples.c.id == first),
                "trait": update(tables.traits)
                .where(tables.traits.c.model_id == model_id, tables.traits.c.key == "warmth")
                .values(positive_label="quite another thing"),
            }[field]
        )
    with pytest.raises(errors.FeatureUnavailable) as met:
        worked_out(context, handle)
    assert met.value.details == {"version": "v1", "reason": "changed"}
    with reading(context.engine) as connection:
        assert not [each for each in version_positions.asked(connection) if each.version_id == version_id]


@ON_BOTH
def test_rows_that_are_damaged_are_found_again(context: Context) -> None:
    handle = trained(context)
    before, version_id = rows(context, handle), author.active(context, handle).version_id
    for damage in ({"samples": b"x"}, {"traits": ["warmth"]}, {"traits": 1}):
        with writing(context.engine) as connection:
            mine = update(tables.version_positions).where(tables.version_positions.c.version_id == version_id)
            connection.execute(mine.values(**damage))
        assert worked_out(context, handle) == rounded(before)


# ---- a purge ---------------------------------------------------------------------------------------------------------


@ON_BOTH
def test_positions_and_replaced_samples_are_purged_with_the_samples(context: Context) -> None:
    handle = trained(context)
    author.promote(context, handle, author.improved(context, handle))
    author.update(context, handle, zero_data_retention=True)
    model_id = author.row(context, handle).id
    with reading(context.engine) as connection:
        kept = select(tables.replaced_samples.c.sample_id).where(tables.replaced_samples.c.model_id == model_id)
        assert connection.execute(kept).all() == []
        for version_id in [author.active(context, handle, each).version_id for each in ("v1", "v2")]:
            assert version_positions.read(connection, version_id) is None
    for again in (True, False):
        author.update(context, handle, zero_data_retention=again)
        with pytest.raises(errors.SamplesPurged):
            rows(context, handle)
    assert author.train(context, trained(context, zero_data_retention=True))


def test_a_purge_while_positions_are_worked_out_leaves_none(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    handle = trained(context)
    version_id = author.active(context, handle).version_id
    forget(context, version_id)
    with pytest.raises(errors.Unavailable):
        rows(context, handle)

    def purged(*given: Any, **fields: Any) -> Any:
        author.update(context, handle, zero_data_retention=True)
        return out_of_fold(*given, **fields)

    monkeypatch.setattr(held_out_positions, "out_of_fold", purged)
    answer_positions(context.engine, context.settings)
    with reading(context.engine) as connection:
        assert version_positions.read(connection, version_id) is None


# ---- a promotion -----------------------------------------------------------------------------------------------------


def replaced(context: Context, handle: str) -> set[int]:
    with reading(context.engine) as connection:
        mine = select(tables.replaced_samples.c.sample_id).where(
            tables.replaced_samples.c.model_id == author.row(context, handle).id
        )
        return set(connection.execute(mine).scalars())


@ON_BOTH
def test_a_promotion_carries_positions_to_the_copies_and_keeps_what_it_replaces(context: Context) -> None:
    handle = trained(context)
    first, was = rows(context, handle), author.samples_of(context, handle)
    copy = author.improved(context, handle)
    new = rows(context, copy)
    author.promote(context, handle, copy)
    now = {sample.id: sample for sample in author.samples_of(context, handle)}
    carried = rows(context, handle)
    assert {each.sample_id for each in carried} == now.keys()
    assert [each.model_copy(update={"sample_id": 0}) for each in carried] == [
        each.model_copy(update={"sample_id": 0}) for each in new
    ]
    assert rows(context, handle, "v1") == first
    assert replaced(context, handle) == {sample.id for sample in was}
    ids = tuple(sorted({*(each.id for each in was), *now}))
    assert author.samples_of(context, handle, ids=ids, limit=7) == [*was, *now.values()]
    some = [each for each in was if each.trait == "cool" and each.held_out is False and each.quality > 0.5]
    chosen: dict[str, Any] = {"ids": ids[: len(was)], "trait": "cool", "held_out": False, "pole": "positive"}
    assert author.samples_of(context, handle, **chosen, newest_first=True) == some[::-1]
    copy = author.fork(context, handle).handle
    assert author.samples_of(context, copy, ids=ids) == []
    assert {each.text for each in author.samples_of(context, copy)} == {each.text for each in now.values()}
    listed = samples.list_samples(context, AUTHOR, handle, SampleQuery(ids=ids[: len(was)], text="YOU", count=True))
    assert listed.count == len(listed.items) == sum("you" in each.text for each in was) > 0
    assert samples.list_samples(context, AUTHOR, handle, SampleQuery(count=True)).count == len(now)


@ON_BOTH
def test_replaced_samples_stay_until_their_versions_are_pruned(context: Context) -> None:
    handle = trained(context)
    one = {sample.id for sample in author.samples_of(context, handle)}
    versions.tag(context, AUTHOR, handle, "kept")
    author.promote(context, handle, author.improved(context, handle))
    two = {sample.id for sample in author.samples_of(context, handle)}
    author.refit(context, handle)
    copy = author.improved(context, handle)
    carried = author.give_feedback(context, handle, "a word of thanks", warmth=1.0)
    author.promote(context, handle, copy)
    assert replaced(context, handle) == one | two
    assert carried in {sample.id for sample in author.samples_of(context, handle)}
    author.update(context, handle, version_retention_policy={"keep_unnamed": 0, "keep_first_of_month": False})
    assert replaced(context, handle) == one
    versions.untag(context, AUTHOR, handle, "kept")
    author.update(context, handle, version_retention_policy={"keep_unnamed": 1, "keep_first_of_month": False})
    assert replaced(context, handle) == set()


def test_a_promotion_of_a_version_without_positions_can_be_worked_out_later(context: Context) -> None:
    handle = trained(context)
    copy = author.improved(context, handle)
    expected = [each.position for each in rounded(rows(context, copy))]
    forget(context, author.active(context, copy).version_id)
    author.promote(context, handle, copy)
    assert [each.position for each in worked_out(context, handle)] == expected


# ---- bundles ---------------------------------------------------------------------------------------------------------


def promoted_bundle(context: Context) -> Bundle:
    handle = trained(context)
    author.promote(context, handle, author.improved(context, handle))
    return export_of(context, AUTHOR, handle)


@ON_BOTH
def test_a_bundle_has_positions_and_replaced_samples(context: Context) -> None:
    handle = trained(context)
    author.promote(context, handle, author.improved(context, handle))
    bundle, copy = export_of(context, AUTHOR, handle), new_handle()
    bundles.import_(context, AUTHOR, bundle, copy)
    again = export_of(context, AUTHOR, copy)
    assert (again.samples, again.replaced) == (bundle.samples, bundle.replaced)
    assert [each.positions for each in again.versions] == [each.positions for each in bundle.versions]
    for version in ("v1", "v2"):
        left, right = rows(context, handle, version), rows(context, copy, version)
        assert [each.model_copy(update={"sample_id": 0}) for each in left] == [
            each.model_copy(update={"sample_id": 0}) for each in right
        ]
        texts = [_texts(context, each, [row.sample_id for row in own]) for each, own in ((handle, left), (copy, right))]
        assert texts[0] == texts[1]


def _texts(context: Context, handle: str, ids: list[int]) -> list[str]:
    known = {sample.id: sample.text for sample in author.samples_of(context, handle, ids=tuple(ids))}
    return [known[each] for each in ids]


def test_a_bundle_of_an_earlier_release_is_imported_and_its_positions_are_worked_out(context: Context) -> None:
    handle = trained(context)
    content = json.loads(export_of(context, AUTHOR, handle).model_dump_json())
    del content["versions"][0]["positions"]
    assert "replaced" not in content
    bundle, copy = Bundle.model_validate(content), new_handle()
    bundles.import_(context, AUTHOR, bundle.model_copy(update={"sha256": digest(bundle)}), copy)
    expected = [each.position for each in rounded(rows(context, handle))]
    assert [each.position for each in worked_out(context, copy)] == expected


def test_an_export_without_positions_has_no_field_that_an_earlier_release_refuses(context: Context) -> None:
    handle = draft(context, warm=2, cold=2)
    author.train(context, handle)
    forget(context, author.active(context, handle).version_id)
    content = json.loads(export_of(context, AUTHOR, handle).model_dump_json())
    assert "positions" not in content["versions"][0]
    assert "replaced" not in content


def _changed(number: int, **fields: Any) -> Any:
    def change(content: dict[str, Any]) -> None:
        records = np.frombuffer(base64.b64decode(content["versions"][number]["positions"]), version_positions.RECORD)
        records = records.copy()
        for name, value in fields.items():
            records[name][0] = value
        content["versions"][number]["positions"] = base64.b64encode(records.tobytes()).decode()

    return change


def _packed(number: int, value: str) -> Any:
    return lambda content: content["versions"][number].update(positions=value)


def _of_replaced(**fields: Any) -> Any:
    return lambda content: content["replaced"][0].update(fields)


HOSTILE = {
    "no base64": (_packed(0, "%"), "positions"),
    "half a record": (_packed(0, base64.b64encode(b"x" * 13).decode()), "positions"),
    "a sample that is not there": (_changed(0, sample=10**6), "positions"),
    "a negative sample": (_changed(0, sample=-1), "positions"),
    "the same sample twice": (lambda content: _twice(content), "positions"),
    "a position beyond 1": (_changed(0, position=1.5), "positions"),
    "an infinite position": (_changed(0, position=float("inf")), "positions"),
    "a trait that is not there": (_changed(1, trait=9), "positions"),
    "no side": (_changed(1, side=-128), "positions"),
    "replaced after no version": (_of_replaced(first_version_no=7, last_version_no=9), "first_version_no"),
    "replaced by turns": (_of_replaced(first_version_no=2, last_version_no=1), "first_version_no"),
    "no key": (_of_replaced(trait="<script>"), "trait"),
    "another hash": (_of_replaced(content_sha256="0" * 64), "content_sha256"),
    "a seed that is none": (_of_replaced(seed=0), "seed"),
}


def _twice(content: dict[str, Any]) -> None:
    packed = base64.b64decode(content["versions"][0]["positions"])
    size = version_positions.RECORD.itemsize
    content["versions"][0]["positions"] = base64.b64encode(packed[:size] + packed).decode()


@pytest.fixture(scope="module")
def bundle(context: Context) -> Bundle:
    return promoted_bundle(context)


@pytest.mark.parametrize("what", HOSTILE)
def test_a_bundle_that_no_service_wrote_is_refused(context: Context, bundle: Bundle, what: str) -> None:
    change, field = HOSTILE[what]
    content = json.loads(bundle.model_dump_json())
    change(content)
    changed = Bundle.model_validate({**content, "sha256": ""})
    handle = new_handle()
    with pytest.raises(errors.ValidationFailed) as met:
        bundles.import_(context, AUTHOR, changed.model_copy(update={"sha256": digest(changed)}), handle)
    assert field in met.value.details["errors"][0]["loc"]
    with pytest.raises(errors.ModelNotFound):
        author.get(context, handle)


def test_under_zero_retention_a_bundle_has_neither(context: Context, bundle: Bundle) -> None:
    content = json.loads(bundle.model_dump_json()) | {"samples": None}
    content["model"]["zero_data_retention"] = True
    for version in content["versions"]:
        version["samples"] = None
    changed = Bundle.model_validate({**content, "sha256": ""})
    with pytest.raises(errors.ValidationFailed) as met:
        bundles.import_(context, AUTHOR, changed.model_copy(update={"sha256": digest(changed)}), new_handle())
    assert {tuple(each["loc"])[-1] for each in met.value.details["errors"]} == {"replaced", "positions"}
