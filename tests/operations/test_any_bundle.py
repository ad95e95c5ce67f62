"""Whatever a model may hold: it goes out and comes in the same."""

import base64
import hashlib
from datetime import UTC, datetime
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.contexts import AUTHOR, export_of, new_handle
from tests.operations.bundle_content import Json, content_of, pack, signed
from tests.size import sized
from traitbench.contract.bundles import Bundle
from traitbench.operations import bundles, samples
from traitbench.operations.context import Context
from traitbench.scoring.certainty import Certainty
from traitbench.scoring.snapshot import Breaks, EncoderIdentity, Quartiles, Snapshot, TraitAxis, param_hash
from traitbench.store import version_samples


@st.composite
def _bundles(draw: st.DrawFn, encoder: EncoderIdentity) -> Bundle:
    """Any bundle that an export could produce."""
    keys = [f"k{i}" for i in range(draw(st.integers(0, 3)))]
    intrinsic = {key: draw(st.booleans()) for key in keys}
    texts = draw(st.lists(_TEXT, max_size=6)) if keys else []
    fields: Json = {
        "format": "traitbench-bundle-1",
        "handle": "local.source",
        "model": _model(draw),
        "samples": [_sample(draw, i, text, keys) for i, text in enumerate(texts)],
        "traits": [_trait(draw, key, intrinsic[key], len(texts), encoder) for key in keys],
        "versions": _versions(draw, keys, encoder) if keys else [],
        "forked_from": draw(
            st.none() | st.fixed_dictionaries({"handle": st.just("local.a"), "version_no": st.just(3)})
        ),
    }
    numbers = [each["version_no"] for each in fields["versions"]]
    if texts and len(numbers) > 1 and draw(st.booleans()):
        held = next(each for each in fields["versions"] if not each["active"])
        held["held_up_to"] = draw(st.integers(0, len(texts) - 1))
    fields["activations"] = [_activation(draw, *each) for each in zip(numbers, _before(numbers), strict=True)]
    return signed(fields)


_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=20).map(lambda text: f"{text}.")


_UNIT = st.floats(0, 1)


def _model(draw: st.DrawFn) -> Json:
    policy = st.fixed_dictionaries({"keep_unnamed": st.integers(0, 9), "keep_first_of_month": st.booleans()})
    return {
        "description": draw(_TEXT),
        "scoring_method": "balanced_cosine",
        "max_depth": draw(st.integers(1, 3)),
        "additional_terms": draw(st.none() | _TEXT),
        "upstream_sources": draw(st.none() | st.lists(st.dictionaries(_TEXT, st.none() | _TEXT | _UNIT), max_size=2)),
        "readme_markdown": draw(st.none() | _TEXT),
        "zero_data_retention": False,
        "version_retention_policy": draw(st.none() | policy),
        "hold_if_worse": draw(st.booleans()),
        "demo_texts": draw(st.none() | st.lists(_TEXT, min_size=1, max_size=2)),
    }


def _sample(draw: st.DrawFn, place: int, text: str, keys: list[str]) -> Json:
    provenance = draw(st.sampled_from(["authored", "synthesized", "score_feedback"]))
    seeded = provenance == "synthesized" and place > 0
    return {
        "trait": draw(st.sampled_from(keys)),
        "text": text,
        "quality": draw(_UNIT),
        "source_url": draw(st.none() | _TEXT),
        "content_sha256": hashlib.sha256(text.encode()).hexdigest(),
        "provenance": provenance,
        "seed": draw(st.none() | st.integers(0, place - 1)) if seeded else None,
        "generator": "offline" if provenance == "synthesized" else None,
        "pending": provenance == "score_feedback" and draw(st.booleans()),
        "score_then": draw(st.none() | st.integers(0, 100)) if provenance == "score_feedback" else None,
        "held_out": draw(st.booleans()),
    }


def _trait(draw: st.DrawFn, key: str, intrinsic: bool, count: int, encoder: EncoderIdentity) -> Json:
    given: Json = {"key": key, "name": f"{key} {draw(_TEXT)}", "description": draw(_TEXT)}
    given |= {"positive_label": draw(_TEXT), "negative_label": draw(_TEXT)}
    given |= {"aggregation": draw(st.sampled_from(["mean", "max", "min", "none"])), "intrinsic": None}
    if not intrinsic:
        return given
    places = st.lists(st.integers(0, count - 1), max_size=3, unique=True) if count else st.just([])
    values = {
        "axis": base64.b64encode(_vector(draw, encoder).tobytes()).decode(),
        "encoder_digest": encoder.digest,
        "discrimination": draw(st.none() | _UNIT),
        "explained_variance": draw(st.none() | _UNIT),
        "anchors": draw(st.none() | st.fixed_dictionaries({"positive": places, "negative": places})),
        "discovery": draw(st.dictionaries(_TEXT, _TEXT | _UNIT, max_size=3)),
    }
    return given | {"intrinsic": values}


def _versions(draw: st.DrawFn, keys: list[str], encoder: EncoderIdentity) -> list[Json]:
    numbers = sorted(draw(st.sets(st.integers(1, 9), max_size=3)))
    active = draw(st.sampled_from(numbers)) if numbers else None
    return [_version(draw, number, keys, encoder, active=number == active) for number in numbers]


def _before(numbers: list[int]) -> list[int | None]:
    before: list[int | None] = [None]
    return [*before, *numbers][: len(numbers)]


def _activation(draw: st.DrawFn, number: int, previous: int | None) -> Json:
    return {
        "version_no": number,
        "previous_version_no": previous,
        "activated_at": "2026-01-01T00:00:00Z",
        "cause": draw(st.sampled_from(["train", "retrain", "activate", "promote", "import"])),
        "by": draw(st.none() | _TEXT),
    }


def _version(draw: st.DrawFn, number: int, keys: list[str], encoder: EncoderIdentity, *, active: bool) -> Json:
    snapshot = Snapshot(
        encoder, "balanced_cosine", draw(st.integers(1, 3)), tuple(_axis(draw, key, encoder) for key in keys)
    )
    drawn = draw(st.lists(st.tuples(st.integers(0, 2**64 - 1), _UNIT, st.booleans(), st.just(False)), max_size=9))
    record = np.sort(np.array(drawn, version_samples.RECORD))
    moments = st.datetimes(datetime(1971, 1, 1), datetime(2026, 1, 1), timezones=st.just(UTC))
    return {
        "version_no": number,
        "triggered_by": draw(st.sampled_from(["train", "retune", "retrain_buffered", "backfill"])),
        "param_hash": param_hash(snapshot),
        "sample_count": int((~record["held_out"]).sum()),
        "created_at": draw(moments).isoformat().replace("+00:00", "Z"),
        "metrics": draw(st.fixed_dictionaries({}, optional={"auroc": st.none() | _UNIT, "note": _TEXT})),
        "samples": pack(record) if draw(st.booleans()) else None,
        "tags": [f"tag-{number}"] if draw(st.booleans()) else [],
        "active": active,
        "snapshot": snapshot.to_json(),
    }


def _axis(draw: st.DrawFn, key: str, encoder: EncoderIdentity) -> TraitAxis:
    rising = st.lists(st.integers(0, 100), min_size=3, max_size=3).map(sorted)
    quartiles = st.none() | rising.map(lambda numbers: Quartiles(*numbers))
    return TraitAxis(
        key=key,
        name=draw(_TEXT),
        positive_label=draw(_TEXT),
        negative_label=draw(_TEXT),
        aggregation="mean",
        vector=_vector(draw, encoder),
        offset=float(np.float32(draw(_UNIT))),
        positive=draw(quartiles),
        negative=draw(quartiles),
        breaks=Breaks(*draw(rising)),
        certainty=Certainty(limit="few_samples"),
    )


def _vector(draw: st.DrawFn, encoder: EncoderIdentity) -> Any:
    rng = np.random.default_rng(draw(st.integers(0, 9)))
    return rng.normal(size=encoder.dimension).astype(np.float32)


@given(st.data())
@settings(
    max_examples=sized(15, 40),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_whatever_was_exported_comes_in_and_goes_out_the_same(context: Context, data: st.DataObject) -> None:
    encoder = EncoderIdentity(context.encoder.id, context.encoder.dimension, context.encoder.digest)
    bundle, handle = data.draw(_bundles(encoder)), new_handle()
    model = bundles.import_(context, AUTHOR, bundle, handle)
    copied = content_of(export_of(context, AUTHOR, handle))
    own = [copied["activations"].pop()["cause"]] if bundle.versions else []
    assert own == ["import"][: len(bundle.versions)]
    assert copied == content_of(bundle)
    held = [version.version_no for version in bundle.versions if version.held_up_to is not None]
    assert model.held_version_no == (held[0] if held else None)
    active = [version.version_no for version in bundle.versions if version.active]
    assert (model.state, model.version_no) == (("ready", *active) if active else ("draft", None))
    result = samples.list_samples(context, AUTHOR, handle).items
    assert [sample.provenance for sample in result] == [sample.provenance for sample in bundle.samples or []]
