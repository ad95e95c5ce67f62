"""Modes: parts of a full vector at lower cost."""

from pathlib import Path

import numpy as np
import pytest

from tests.encoders.folders import onnx_folder
from tests.real_encoder import KEPT
from traitbench.encoders import FULL, UnknownMode
from traitbench.encoders.registry import NAMES, load_encoder
from traitbench.encoders.style import generic_texts

TEXTS = ["Good morning!", "a", "", "   ", "\u200b", "😀", *generic_texts()[:40], " ".join(generic_texts()[:30])]


@pytest.mark.parametrize("name", ["multilingual", "minilm-full", "minilm", "folder"])
def test_a_mode_gives_columns_of_the_full_vector_at_length_one(name: str, tmp_path: Path) -> None:
    encoder = load_encoder(str(onnx_folder(tmp_path)) if name == "folder" else name, cache=KEPT)
    full = encoder.encode(TEXTS)
    assert encoder.modes
    for mode, columns in encoder.modes.items():
        part = full[:, columns].astype(np.float64)
        lengths = np.linalg.norm(part, axis=1, keepdims=True)
        result = encoder.encode(TEXTS, mode=mode)
        assert result.dtype == np.float32
        np.testing.assert_allclose(result, part / np.where(lengths, lengths, 1), atol=2e-7)


def test_the_default_encoder_has_a_mode_without_its_last_layers_and_one_without_a_transformer() -> None:
    encoder = load_encoder(None, cache=KEPT)
    assert dict(encoder.modes) == {"layer6": slice(0, 384), "static": slice(768, 1219)}
    assert encoder.dimension == 1219
    assert [encoder.encode(["ok"], mode=mode).shape[1] for mode in (FULL, "layer6", "static")] == [1219, 384, 451]


def test_the_earlier_default_has_the_same_kinds_of_modes() -> None:
    encoder = load_encoder("minilm-full", cache=KEPT)
    assert dict(encoder.modes) == {"layer4": slice(0, 384), "static": slice(768, 1091)}
    assert [encoder.encode(["ok"], mode=mode).shape[1] for mode in (FULL, "layer4", "static")] == [1091, 384, 323]


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_mode_lists_the_known_ones(name: str) -> None:
    encoder = load_encoder(name, cache=KEPT)
    with pytest.raises(UnknownMode, match=r"Unknown mode 'fast'\. This encoder has: full") as caught:
        encoder.encode(["ok"], mode="fast")
    assert caught.value.known == tuple(encoder.modes)
    assert isinstance(caught.value, KeyError)
