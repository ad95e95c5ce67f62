"""Scores without the service: the same code on the same snapshot gives the same card."""

import pytest

from tests.conftest import COLD, WARM, Trained, make_draft, train
from traitbench.client import Traitbench
from traitbench.contract.metrics import TraitMetrics
from traitbench.contract.samples import SampleInput
from traitbench.contract.versions import Version
from traitbench.local import preview
from traitbench.scoring.snapshot import param_hash

TEXTS = (
    "Thank you so much, it was lovely.",
    "Your request is denied.",
    "…",
    "Ünïcödé and 日本語 and 🙂",
    "A long letter. " * 200,
    "First paragraph, warm and kind.\n\nSecond one: cold as stone.",
)


pytestmark = pytest.mark.usefixtures("here")


@pytest.fixture
def version(trained: Trained) -> Version:
    return trained.client.versions.get(trained.handle, "v1")


def test_preview_and_service_give_the_same_card_for_the_same_version(trained: Trained, version: Version) -> None:
    for text, here in zip(TEXTS, preview.version_of(version).score(TEXTS), strict=True):
        there = trained.client.scores.score(f"{trained.handle}@v1", text)
        assert here.model_dump(exclude={"metadata"}) == there.model_dump(exclude={"metadata"})
        assert here.metadata.version_id == there.metadata.version_id


def test_a_text_gives_the_same_card_alone_and_among_others(version: Version) -> None:
    assert [preview.version_of(version).score([text])[0] for text in TEXTS] == preview.version_of(version).score(TEXTS)


def test_a_rehearsal_finds_what_a_training_then_finds(client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.rehearsed"
    make_draft(client, handle)
    model, traits = client.models.get(handle), client.traits.list(handle)
    rehearsal = preview.rehearse(model, traits, list(client.samples.list(handle)))
    train(client, handle, effort=None)
    assert client.versions.get(handle).param_hash == param_hash(rehearsal.snapshot)


def test_a_rehearsal_with_the_settings_of_a_version_and_its_samples_scores_as_the_version(trained: Trained) -> None:
    version, samples = trained.client.versions.get(trained.handle), trained.client.samples.list(trained.handle)
    model, traits = trained.client.models.get(trained.handle), trained.client.traits.list(trained.handle)
    metrics = version.metrics.model_dump()
    again = preview.rehearse(model, traits, list(samples), effort=metrics["effort"], fixed=metrics["traits"])
    assert again.param_hash == version.param_hash


def test_a_rehearsal_groups_variations_with_their_seeds_as_a_training_does(client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.varied"
    make_draft(client, handle)
    client.samples.synthesize(handle, synth_type="diversify", effort="low")
    client.models.wait(handle)
    samples = list(client.samples.list(handle))
    ids, seeds = {sample.id for sample in samples}, {sample.seed_sample_id for sample in samples} - {None}
    assert seeds
    assert seeds <= ids
    client.samples.delete(handle, min(seed for seed in seeds if seed is not None))
    samples = list(client.samples.list(handle))
    rehearsal = preview.rehearse(client.models.get(handle), client.traits.list(handle), samples)
    train(client, handle, effort=None)
    assert client.versions.get(handle).param_hash == param_hash(rehearsal.snapshot)


def test_a_trait_without_samples_at_a_pole_is_left_out_of_a_rehearsal(trained: Trained) -> None:
    client = trained.client
    (warmth,) = client.traits.list(trained.handle)
    bare = warmth.model_copy(update={"key": "bare", "name": "Bare", "positive_samples": 0})
    samples = list(client.samples.list(trained.handle))
    rehearsal = preview.rehearse(client.models.get(trained.handle), [warmth, bare], samples)
    assert [trait.key for trait in rehearsal.snapshot.traits] == ["warmth"]


def test_without_any_trait_that_has_samples_there_is_no_rehearsal(trained: Trained) -> None:
    with pytest.raises(preview.PreviewUnavailable, match="at least one sample at each pole"):
        preview.rehearse(trained.client.models.get(trained.handle), [], [])


def test_without_a_snapshot_there_is_no_preview(version: Version) -> None:
    with pytest.raises(preview.PreviewUnavailable, match="not read snapshots"):
        preview.version_of(version.model_copy(update={"snapshot": None}))


def test_a_version_of_another_encoder_has_no_preview_here(version: Version) -> None:
    assert version.snapshot is not None
    foreign = version.snapshot | {"encoder": version.snapshot["encoder"] | {"digest": "0" * 64}}
    with pytest.raises(preview.PreviewUnavailable, match="encoder"):
        preview.version_of(version.model_copy(update={"snapshot": foreign, "param_hash": "sha256:foreign"}))


def test_a_rehearsal_names_the_shortcut_of_a_source_that_a_training_names(client: Traitbench, namespace: str) -> None:
    handle = f"{namespace}.sourced"
    make_draft(client, handle)
    samples = [
        SampleInput(trait="warmth", text=f"{text} Indeed.", quality=quality, source_url=f"https://{site}.example/{at}")
        for site, texts, quality in (("warm", WARM, 1.0), ("cold", COLD, 0.0))
        for at, text in enumerate(texts)
    ]
    client.samples.add(handle, samples)
    rehearsal = preview.rehearse(
        client.models.get(handle), client.traits.list(handle), list(client.samples.list(handle))
    )
    train(client, handle, effort=None)
    shortcut = client.versions.get(handle).metrics.traits["warmth"].shortcut
    assert shortcut is not None
    assert TraitMetrics.model_validate(rehearsal.metrics["traits"]["warmth"]).shortcut == shortcut
