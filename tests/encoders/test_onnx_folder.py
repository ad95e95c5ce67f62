"""A transformer in a folder: its vectors, what the digest covers, and what is refused."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, external_data_helper

from tests.encoders.folders import MEAN, WIDTH, graph, hidden, load, note, onnx_folder, own_part, unit
from traitbench.encoders import FULL, EncoderUnavailable
from traitbench.encoders.registry import load_encoder

TEXTS = ["thank you dear friend", "send the form", "thank you", "", "good morning " * 60, "😀 zebra"]


@pytest.mark.parametrize(
    ("pooling", "pick"),
    [
        (MEAN, lambda tokens: tokens.mean(axis=0)),
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, lambda tokens: tokens[0]),
        ({"pooling_mode_lasttoken": True}, lambda tokens: tokens[-1]),
        ({"pooling_mode": "cls"}, lambda tokens: tokens[0]),
    ],
)
def test_tokens_are_pooled_as_the_folder_says(tmp_path: Path, pooling: dict[str, Any], pick: Any) -> None:
    encoder = load(onnx_folder(tmp_path, pooling=pooling))
    expected = unit(pick(hidden(["thank", "you", "friend"])))
    np.testing.assert_allclose(own_part(encoder, " Thank you friend"), expected, atol=1e-6)


def test_a_sentence_vector_is_used_whatever_follows_the_transformer(tmp_path: Path) -> None:
    model = graph(output="sentence_embedding")
    encoder = load(onnx_folder(tmp_path, model=model, pooling={"pooling_mode_max_tokens": True}, modules=["Dense"]))
    expected = unit(hidden(["send", "the", "form"]).mean(axis=0))
    np.testing.assert_allclose(own_part(encoder, "send the form"), expected, atol=1e-6)


@pytest.mark.parametrize("name", ["model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_optimized.onnx"])
def test_the_model_is_found_where_libraries_put_it(tmp_path: Path, name: str) -> None:
    encoder = load(onnx_folder(tmp_path / "here", name=name))
    np.testing.assert_array_equal(encoder.encode(TEXTS), load(onnx_folder(tmp_path / "there")).encode(TEXTS))


def test_other_files_may_be_beside_the_model(tmp_path: Path) -> None:
    path = onnx_folder(tmp_path, name="onnx/model.onnx")
    for name in ("tokenizer.json", "config.json"):
        (path / name).rename(path / "onnx" / name)
    assert load(path).encode(["thank you"]).any()


@pytest.mark.parametrize("inputs", [["input_ids"], ["attention_mask", "input_ids"]])
@pytest.mark.parametrize("kind", [TensorProto.INT64, TensorProto.INT32])
def test_a_graph_gets_the_inputs_it_declares(tmp_path: Path, inputs: list[str], kind: int) -> None:
    encoder = load(onnx_folder(tmp_path, model=graph(inputs=inputs, kind=kind)))
    expected = unit(hidden(["thank", "you"]).mean(axis=0))
    np.testing.assert_allclose(own_part(encoder, "thank you"), expected, atol=1e-6)


def test_static_part_and_style_are_added_and_are_a_mode(tmp_path: Path) -> None:
    encoder = load(onnx_folder(tmp_path))
    assert encoder.dimension == WIDTH + 256 + 67
    full, part = (
        encoder.encode(["thank you, dear friend!"])[0],
        encoder.encode(["thank you, dear friend!"], mode="static"),
    )
    np.testing.assert_allclose(part[0], unit(full[encoder.modes["static"]]), atol=1e-6)
    assert encoder.words()[:3] == ["thank", "you", "dear"]


def test_without_the_static_table_only_the_style_is_added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    joined = load(onnx_folder(tmp_path / "joined"))
    monkeypatch.setitem(sys.modules, "wordllama", None)
    alone = load_encoder(str(onnx_folder(tmp_path / "alone")), cache=tmp_path)
    assert alone.dimension == WIDTH + 67
    assert dict(alone.modes) == {}
    assert alone.digest != joined.digest


def test_a_long_text_is_encoded_in_windows_and_its_end_counts(tmp_path: Path) -> None:
    encoder = load(onnx_folder(tmp_path, config={"max_position_embeddings": 12}))
    words = ["thank", "you"] * 10
    windows = [words[:10], words[10:]]
    expected = unit(np.sum([hidden(window).mean(axis=0) for window in windows], axis=0))
    np.testing.assert_allclose(own_part(encoder, " ".join(words)), expected, atol=1e-6)
    assert encoder.count_tokens(" ".join(words)) == 20


def test_tokens_are_counted_in_every_mode(tmp_path: Path) -> None:
    encoder = load(onnx_folder(tmp_path, config={"max_position_embeddings": 12}))
    for mode in (FULL, *encoder.modes):
        vectors, tokens = encoder.counted(TEXTS, mode=mode)
        np.testing.assert_array_equal(vectors, encoder.encode(TEXTS, mode=mode))
        assert tokens == [encoder.count_tokens(text) for text in TEXTS]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("tokenizer_config.json", {"model_max_length": 12}),
        ("sentence_bert_config.json", {"max_seq_length": 12}),
        ("config.json", {"model_type": "xlm-roberta", "max_position_embeddings": 14}),
    ],
)
def test_the_smallest_limit_applies(tmp_path: Path, name: str, content: dict[str, Any]) -> None:
    short, long = onnx_folder(tmp_path / "short"), onnx_folder(tmp_path / "long")
    note(short, name, content)
    text = " ".join(["thank", "you"] * 10)
    assert not np.allclose(own_part(load(short), text), own_part(load(long), text), atol=1e-4)
    first = onnx_folder(tmp_path / "first", config={"max_position_embeddings": 12})
    np.testing.assert_allclose(own_part(load(short), text), own_part(load(first), text), atol=1e-6)


def test_the_prompt_of_a_model_is_added_before_a_text(tmp_path: Path) -> None:
    path = onnx_folder(tmp_path)
    note(path, "config_sentence_transformers.json", {"prompts": {"query": "dear "}, "default_prompt_name": "query"})
    expected = unit(hidden(["dear", "friend"]).mean(axis=0))
    np.testing.assert_allclose(own_part(load(path), "friend"), expected, atol=1e-6)
    assert not load(path).encode([" "]).any()


def test_external_weights_are_found_and_hashed(tmp_path: Path) -> None:
    paths = [onnx_folder(tmp_path / "whole"), onnx_folder(tmp_path / "one"), onnx_folder(tmp_path / "two")]
    for path, seed in zip(paths[1:], (1, 7), strict=True):
        model = graph(seed=seed)
        external_data_helper.convert_model_to_external_data(model, location="model.onnx_data", size_threshold=100)
        onnx.save_model(model, path / "model.onnx")
        assert (path / "model.onnx_data").is_file()
    whole, one, two = map(load, paths)
    np.testing.assert_array_equal(whole.encode(TEXTS), one.encode(TEXTS))
    assert one.digest != two.digest
    (paths[1] / "model.onnx_data").unlink()
    with pytest.raises(EncoderUnavailable, match=r"model\.onnx_data of model\.onnx are not in the same folder"):
        load_encoder(f"{paths[1]}/", cache=tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        lambda path: (path / "model.onnx").write_bytes(graph(seed=7).SerializeToString()),
        lambda path: note(path, "1_Pooling/config.json", {"pooling_mode_cls_token": True}),
        lambda path: note(path, "config.json", {"model_type": "bert", "max_position_embeddings": 32}),
        lambda path: (path / "tokenizer.json").write_text((path / "tokenizer.json").read_text() + "\n"),
    ],
)
def test_the_digest_covers_all_files_that_decide(tmp_path: Path, change: Any) -> None:
    one, same, other = (onnx_folder(tmp_path / name) for name in ("one", "same", "other"))
    change(other)
    assert (load(one).id, load(one).digest) == (load(same).id, load(same).digest)
    assert load(other).digest != load(one).digest
    assert load(other).id != load(one).id


@pytest.mark.parametrize(
    ("made", "says"),
    [
        ({"model": graph(inputs=["input_ids", "pixel_values"])}, r"needs .*pixel_values.*feature extraction"),
        (
            {"model": graph(output="logits", cast=TensorProto.INT64)},
            r"gives logits tensor\(int64\), but no vectors of real numbers",
        ),
        ({"model": graph(scale=float("nan"))}, r"not finite\. Export the model again"),
        ({"model": graph(positions=3)}, r"fails on a first text.*with a free batch size"),
        (
            {"model": graph(rows=20)},
            r"tokenizer .* has 24 tokens, but the graph knows only the first 20.*another model",
        ),
        ({"model": graph(positions=40)}, r"fails on a text of 64 tokens.*Set length in .*traitbench\.json"),
        ({"pooling": {"pooling_mode_attention": True}}, r"1_Pooling/config\.json .* names a pooling that is not known"),
        (
            {"pooling": {"pooling_mode": ["cls", "median"]}},
            r"names a pooling that is not known here\. Known are mean, cls",
        ),
        ({"model": graph(output="logits")}, r"gives logits .*, but no vectors"),
        ({"modules": ["Transformer", "Pooling", "Dense"]}, r"module Dense after its transformer"),
    ],
)
def test_an_unusable_graph_is_refused_with_cause_and_remedy(tmp_path: Path, made: dict[str, Any], says: str) -> None:
    with pytest.raises(EncoderUnavailable, match=says):
        load(onnx_folder(tmp_path, **made))


def test_a_single_output_of_another_name_is_used(tmp_path: Path) -> None:
    encoder = load(onnx_folder(tmp_path, model=graph(output="pooler")))
    np.testing.assert_allclose(own_part(encoder, "thank you"), unit(hidden(["thank", "you"]).mean(axis=0)), atol=1e-6)
