"""Folders as other libraries write them, each compared with vectors computed by numpy.

Every folder has a real graph, run by onnxruntime. `hidden` in `folders` computes the vectors of its tokens.
"""

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, external_data_helper
from tokenizers import Tokenizer

from tests.encoders.folders import (
    MEAN,
    VOCABULARY,
    WIDTH,
    graph,
    hidden,
    load,
    note,
    onnx_folder,
    own_part,
    table,
    table_folder,
    tokenizer,
    unit,
)
from tests.real_encoder import KEPT
from traitbench.encoders import EncoderUnavailable, graph_choice
from traitbench.encoders.folder_settings import ChoiceOpen
from traitbench.encoders.full import WEIGHTS
from traitbench.encoders.minilm import MiniLM
from traitbench.encoders.registry import load_encoder
from traitbench.encoders.style import StyleBlock

TEXT, WORDS = "Thank you friend", ("thank", "you", "friend")
TOKENS = hidden(WORDS)
PLACES = np.arange(1, len(TOKENS) + 1)[:, np.newaxis]
POOLED: Mapping[str, NDArray[Any]] = {
    "cls": TOKENS[0],
    "max": TOKENS.max(axis=0),
    "mean": TOKENS.mean(axis=0),
    "mean_sqrt_len_tokens": TOKENS.sum(axis=0) / np.sqrt(len(TOKENS)),
    "weightedmean": (PLACES * TOKENS).sum(axis=0) / PLACES.sum(),
    "lasttoken": TOKENS[-1],
}
OURS = {"mean_sqrt_len_tokens": "mean_sqrt_len", "weightedmean": "weighted_mean", "lasttoken": "last"}
FLAGS = {
    mode: f"pooling_mode_{mode if mode.endswith('token') else mode.removesuffix('_tokens') + '_tokens'}"
    for mode in POOLED
} | {"cls": "pooling_mode_cls_token"}


def same(path: Path, expected: NDArray[Any], text: str = TEXT) -> None:
    """The folder's own part of the vector of a text is `expected`, at length one."""
    vector = load(path).encode([text])[0].astype(np.float64)[: len(expected)]
    np.testing.assert_allclose(unit(vector), unit(expected), atol=1e-6)


def settings(path: Path, **given: Any) -> Path:
    note(path, "traitbench.json", given)
    return path


# ---- sentence-transformers -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", POOLED)
def test_every_pooling_of_sentence_transformers(tmp_path: Path, mode: str) -> None:
    flags = {flag: name == mode for name, flag in FLAGS.items()}
    same(onnx_folder(tmp_path / "flags", pooling={"word_embedding_dimension": WIDTH, **flags}), POOLED[mode])
    same(onnx_folder(tmp_path / "named", pooling={"embedding_dimension": WIDTH, "pooling_mode": mode}), POOLED[mode])


def test_several_poolings_are_joined_in_the_order_of_the_library(tmp_path: Path) -> None:
    flags = {FLAGS["lasttoken"]: True, FLAGS["mean_sqrt_len_tokens"]: True, FLAGS["cls"]: True}
    modes = ("cls", "mean_sqrt_len_tokens", "lasttoken")
    same(onnx_folder(tmp_path / "flags", pooling=flags), np.concatenate([POOLED[mode] for mode in modes]))
    given = {"pooling_mode": ["max", "cls"]}
    same(onnx_folder(tmp_path / "named", pooling=given), np.concatenate([POOLED["max"], POOLED["cls"]]))


def test_a_note_without_a_pooling_means_the_mean(tmp_path: Path) -> None:
    same(onnx_folder(tmp_path, pooling=dict.fromkeys(FLAGS.values(), False)), POOLED["mean"])


def test_modules_may_lie_in_folders_of_other_names(tmp_path: Path) -> None:
    path = onnx_folder(tmp_path, name="0_Transformer/model.onnx", pooling=None, modules=None)
    for name in ("tokenizer.json", "config.json"):
        (path / name).rename(path / "0_Transformer" / name)
    note(path, "2_Pool/config.json", {"pooling_mode": "max"})
    places = {"Transformer": "0_Transformer", "Pooling": "2_Pool"}
    note(path, "modules.json", [{"type": f"st.models.{kind}", "path": place} for kind, place in places.items()])
    same(path, POOLED["max"])


PROMPTS = {"prompts": {"query": "dear friend ", "passage": ""}, "default_prompt_name": "query"}


def with_prompts(path: Path, content: Mapping[str, Any], **how: Any) -> Path:
    note(onnx_folder(path, **how), "config_sentence_transformers.json", content)
    return path


@pytest.mark.parametrize(
    ("mode", "pick"),
    [
        ("mean", lambda tokens: tokens[3:].mean(axis=0)),
        ("max", lambda tokens: tokens[3:].max(axis=0)),
        ("cls", lambda tokens: tokens[3]),
        ("lasttoken", lambda tokens: tokens[-1]),
        ("weightedmean", lambda tokens: np.average(tokens[3:], axis=0, weights=range(4, len(tokens) + 1))),
    ],
)
def test_a_prompt_may_be_left_out_of_the_pooling(tmp_path: Path, mode: str, pick: Any) -> None:
    tokens = hidden(("dear", "friend", "send", "form"))
    path = with_prompts(tmp_path, PROMPTS, pooling={"pooling_mode": mode, "include_prompt": False})
    same(path, pick(tokens), "send form")


def test_a_prompt_that_is_not_pooled_comes_before_every_window(tmp_path: Path) -> None:
    limit = {"max_position_embeddings": 8}  # two special tokens, two of the prompt, four of the text
    path = with_prompts(tmp_path, PROMPTS, pooling={"pooling_mode": "mean", "include_prompt": False}, config=limit)
    parts = [hidden(("dear", "friend", *part))[3:].mean(axis=0) for part in (["send", "form"] * 2, ["help", "you"] * 2)]
    same(path, np.sum(parts, axis=0), "send form send form help you help you")


@pytest.mark.parametrize(
    ("asked", "words"),
    [("query", ("dear", "friend")), ("passage", ()), ("", ()), ("how kind: ", ("how", "kind", "[UNK]"))],
)
def test_a_prompt_is_set_by_name_or_by_text(tmp_path: Path, asked: str, words: tuple[str, ...]) -> None:
    path = settings(with_prompts(tmp_path, PROMPTS), prompt=asked)
    same(path, hidden((*words, "send", "form")).mean(axis=0), "send form")


def test_prompts_without_a_default_are_an_open_choice(tmp_path: Path) -> None:
    path = with_prompts(tmp_path, {**PROMPTS, "default_prompt_name": None})
    with pytest.raises(ChoiceOpen, match=r"has prompts, but no default\. Options: query, \"\" \(none\)") as caught:
        load(path)
    assert caught.value.example == {"prompt": "query"}
    note(path, "traitbench.json", caught.value.example)
    same(path, hidden(("dear", "friend", *WORDS)).mean(axis=0))


def test_empty_prompts_leave_no_choice_open(tmp_path: Path) -> None:
    same(
        with_prompts(tmp_path, {"prompts": {"query": "", "document": ""}, "default_prompt_name": None}), POOLED["mean"]
    )


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ({"prompts": {"query": "q "}, "default_prompt_name": "passage"}, r"default prompt 'passage', but has no such"),
        ({"prompts": {"query": "q "}, "default_prompt_name": ["query"]}, r"default prompt .*, but has no such"),
        ({"prompts": {"query": "\ud800"}}, r"has prompts that are not texts by name"),
        ({"prompts": ["query"]}, r"has prompts that are not texts by name"),
        ({"prompts": {"query": 1}}, r"has prompts that are not texts by name"),
        ({"prompts": {"q": "you " * 70}, "default_prompt_name": "q"}, r"prompt .* has 70 tokens, which leaves no room"),
    ],
)
def test_unusable_prompts_are_refused(tmp_path: Path, content: dict[str, Any], says: str) -> None:
    with pytest.raises(EncoderUnavailable, match=says):
        load(with_prompts(tmp_path, content, pooling={**MEAN, "include_prompt": False}))


def test_a_prompt_that_the_graph_would_pool_is_refused(tmp_path: Path) -> None:
    how = {"model": graph(output="sentence_embedding"), "pooling": {**MEAN, "include_prompt": False}}
    with pytest.raises(EncoderUnavailable, match="leaves the prompt out of the pooling, but the graph pools it in"):
        load(with_prompts(tmp_path, PROMPTS, **how))


def test_texts_are_lowercased_if_the_folder_says_so(tmp_path: Path) -> None:
    path = onnx_folder(tmp_path)
    tokenizer(cased=True).save(str(path / "tokenizer.json"))
    same(path, hidden(("[UNK]", "you", "[UNK]")).mean(axis=0), "THANK you Friend")
    note(path, "sentence_bert_config.json", {"do_lower_case": True, "max_seq_length": 32})
    shutil.copytree(path, tmp_path / "lower")  # a folder is read once
    same(tmp_path / "lower", POOLED["mean"], "THANK you Friend")


# ---- optimum and fastembed -------------------------------------------------------------------------------------------


def bare(path: Path, *, name: str = "model.onnx", **how: Any) -> Path:
    """The files of optimum and fastembed: nothing about pooling."""
    onnx_folder(path, name=name, pooling=None, modules=None, **how)
    note(path, "tokenizer_config.json", {"model_max_length": 64, "do_lower_case": True})
    note(path, "special_tokens_map.json", {"cls_token": "[CLS]"})
    note(path, "ort_config.json", {"optimum_version": "2.0.0"})
    return path


@pytest.mark.parametrize("name", ["model.onnx", "model_optimized.onnx", "onnx/model.onnx"])
def test_a_folder_without_a_pooling_is_refused_until_it_is_set(tmp_path: Path, name: str) -> None:
    path = bare(tmp_path / "bare", name=name)
    with pytest.raises(ChoiceOpen, match=r"leaves a choice open\. No 1_Pooling/config\.json") as caught:
        load(path)
    error = caught.value
    assert f"Write your choice into {path / 'traitbench.json'}, for example: " in str(error)
    assert "Options: mean, cls, max, last, mean_sqrt_len, weighted_mean." in str(error)
    assert (error.file, error.example) == (path / "traitbench.json", {"pooling": "cls"})
    for mode, expected in POOLED.items():
        same(settings(bare(tmp_path / mode, name=name), pooling=OURS.get(mode, mode)), expected)


def test_all_open_choices_are_named_at_once(tmp_path: Path) -> None:
    path = settings(bare(tmp_path), length=32)
    note(path, "config_sentence_transformers.json", {"prompts": {"query": "dear "}})
    with pytest.raises(ChoiceOpen, match="leaves choices open") as caught:
        load(path)
    assert caught.value.example == {"length": 32, "pooling": "cls", "prompt": "query"}
    note(path, "traitbench.json", caught.value.example)
    same(path, hidden(("dear", *WORDS))[0])


def test_a_modules_list_without_pooling_leaves_it_open(tmp_path: Path) -> None:
    with pytest.raises(ChoiceOpen, match="No 1_Pooling"):
        load(onnx_folder(tmp_path, pooling=None, modules=["Transformer"]))


def test_a_graph_that_pools_by_itself_needs_no_setting(tmp_path: Path) -> None:
    path = bare(tmp_path / "one", model=graph(output="sentence_embedding"))
    same(path, POOLED["mean"])
    with pytest.raises(EncoderUnavailable, match=r"traitbench\.json sets pooling, but .* already pooled"):
        load(settings(bare(tmp_path / "two", model=graph(output="sentence_embedding")), pooling="cls"))


def test_the_vectors_of_tokens_are_used_if_a_pooling_is_set(tmp_path: Path) -> None:
    both = graph(output="sentence_embedding", also=True)
    same(bare(tmp_path / "default", model=both), POOLED["mean"])
    same(settings(bare(tmp_path / "set", model=both), pooling="max"), POOLED["max"])


def test_a_setting_overrides_the_note(tmp_path: Path) -> None:
    same(settings(onnx_folder(tmp_path), pooling="last"), POOLED["lasttoken"])


# ---- variants --------------------------------------------------------------------------------------------------------

HUB = ("O1", "O2", "O3", "O4", "qint8_arm64", "qint8_avx512", "qint8_avx512_vnni", "quint8_avx2")
SEED = {name: 10 + i for i, name in enumerate((*HUB, "quantized", "fp16", "q4"))}


def with_variants(path: Path, names: Sequence[str], *, model: bool = False, pooling: Any = MEAN) -> Path:
    """A folder with variants that can be told apart: each has another table of words."""
    for name in names:
        onnx_folder(path, model=graph(seed=SEED[name]), name=f"onnx/model_{name}.onnx", pooling=pooling)
    if model:
        onnx_folder(path, name="onnx/model.onnx", pooling=pooling)
    return path


def mean_of(name: str) -> NDArray[Any]:
    mean: NDArray[Any] = hidden(WORDS, seed=SEED[name]).mean(axis=0)
    return mean


def test_the_int8_graph_for_this_processor_is_used(tmp_path: Path) -> None:
    [mine] = [
        name
        for name, features in {
            "qint8_arm64": graph_choice.processor() == "ARM64",
            "qint8_avx512_vnni": graph_choice.processor().endswith("VNNI"),
            "qint8_avx512": graph_choice.processor().endswith("AVX-512"),
            "quint8_avx2": graph_choice.processor() == "x86-64",
        }.items()
        if features
    ]
    same(with_variants(tmp_path / "several", HUB), mean_of(mine))
    same(settings(with_variants(tmp_path / "asked", HUB, model=True), graph="int8"), mean_of(mine))


def test_transformers_js_repositories(tmp_path: Path) -> None:
    pooled_by_name = {"pooling": "cls"}
    path = with_variants(tmp_path / "both", ["quantized", "fp16", "q4"], model=True, pooling=None)
    note(path, "quantize_config.json", {"q8": {"per_channel": True, "reduce_range": True}})
    with pytest.raises(ChoiceOpen, match="No 1_Pooling"):
        load(path)
    same(settings(path, **pooled_by_name), TOKENS[0])
    for asked in ("int8", "onnx/model_quantized.onnx"):
        name = asked.replace("/", "-")
        other = Path(shutil.copytree(path, tmp_path / name))
        same(settings(other, **pooled_by_name, graph=asked), hidden(WORDS, seed=SEED["quantized"])[0])
    alone = with_variants(tmp_path / "alone", ["quantized"], pooling=None)
    same(settings(alone, **pooled_by_name), hidden(WORDS, seed=SEED["quantized"])[0])


def test_a_quantized_graph_is_close_to_its_float_model(tmp_path: Path) -> None:
    from onnxruntime.quantization import QuantType, quantize_dynamic

    path = with_variants(tmp_path, ["quantized"])
    file = path / "onnx" / "model_quantized.onnx"
    quantize_dynamic(file, file, weight_type=QuantType.QInt8, op_types_to_quantize=["MatMul"])
    vector = own_part(load(path), TEXT)
    assert 0.99 < vector @ unit(mean_of("quantized")) < 1 - 1e-9


def test_float16_outputs_are_read(tmp_path: Path) -> None:
    path = onnx_folder(tmp_path, model=graph(cast=TensorProto.FLOAT16))
    np.testing.assert_allclose(own_part(load(path), TEXT), unit(POOLED["mean"]), atol=2e-3)


# ---- inputs and weights ----------------------------------------------------------------------------------------------

PAST = ("past_key_values.0.key", "past_key_values.0.value")


@pytest.mark.parametrize(
    "inputs",
    [
        ["input_ids", "attention_mask"],
        ["input_ids", "attention_mask", "position_ids"],
        ["input_ids", "attention_mask", *PAST],
        ["input_ids", "position_ids", "use_cache_branch", *PAST],
    ],
)
def test_a_decoder_gets_positions_and_an_empty_past(tmp_path: Path, inputs: list[str]) -> None:
    path = onnx_folder(tmp_path, model=graph(inputs=inputs), pooling={"pooling_mode_lasttoken": True})
    tokenizer(template="$A [SEP]").save(str(path / "tokenizer.json"))
    same(path, hidden((*WORDS, "[SEP]"), marks=False)[-1])


def test_positions_start_where_the_model_starts(tmp_path: Path) -> None:
    model = graph(inputs=["input_ids", "position_ids"])
    path = onnx_folder(tmp_path, model=model, config={"model_type": "xlm-roberta"})
    same(path, hidden(WORDS, first=2).mean(axis=0))


def test_a_past_of_unknown_shape_is_refused(tmp_path: Path) -> None:
    model = graph(inputs=["input_ids", *PAST])
    for given in model.graph.input[1:]:
        given.type.tensor_type.shape.dim[1].dim_param = "heads"
    with pytest.raises(EncoderUnavailable, match="an empty past of known shape, can be given"):
        load(onnx_folder(tmp_path, model=model))


@pytest.mark.parametrize("location", ["model.onnx_data", "./model.onnx_data"])
def test_weights_in_other_files_are_read_from_a_download_cache(tmp_path: Path, location: str) -> None:
    path = onnx_folder(tmp_path / "snapshots" / "abc", name="onnx/model.onnx")
    model = graph()
    external_data_helper.convert_model_to_external_data(model, location="model.onnx_data", size_threshold=100)
    onnx.save_model(model, path / "onnx" / "model.onnx")
    content = onnx.load_model(path / "onnx" / "model.onnx", load_external_data=False)
    for tensor in content.graph.initializer:
        for entry in tensor.external_data:
            entry.value = location if entry.key == "location" else entry.value
    (path / "onnx" / "model.onnx").write_bytes(content.SerializeToString())
    blobs = tmp_path / "blobs"
    blobs.mkdir()
    for file in [file for file in path.rglob("*") if file.is_file()]:
        target = blobs / "-".join(file.relative_to(path).parts)
        file.rename(target)
        file.symlink_to(target)
    same(path, POOLED["mean"])
    with pytest.raises(EncoderUnavailable, match=r"It is a download cache: use .*snapshots/abc"):
        load(tmp_path)


# ---- tokens, dimensions, lengths -------------------------------------------------------------------------------------


def extended(path: Path) -> Path:
    """The folder with a tokenizer that has two tokens more than the model."""
    made = Tokenizer.from_file(str(path / "tokenizer.json"))
    made.add_tokens(["zebra", "yak"])
    made.save(str(path / "tokenizer.json"))
    return path


@pytest.mark.parametrize(
    ("made", "expected"),
    [(onnx_folder, POOLED["mean"]), (table_folder, table()[[VOCABULARY[word] for word in WORDS]].mean(axis=0))],
)
def test_added_tokens_beyond_the_table_are_ignored(
    tmp_path: Path, made: Callable[[Path], Path], expected: NDArray[Any]
) -> None:
    path = extended(made(tmp_path))
    same(path, expected, "thank zebra you friend yak")
    encoder = load(path)
    assert encoder.count_tokens("thank zebra you") == 2
    assert not encoder.encode(["zebra"])[0][:WIDTH].any()


def test_a_matryoshka_model_may_be_cut(tmp_path: Path) -> None:
    path = settings(onnx_folder(tmp_path / "graph"), dimension=5)
    same(path, POOLED["mean"][:5])
    assert load(path).dimension == 5 + 256 + 67
    tokens = [VOCABULARY[word] for word in WORDS]
    same(settings(table_folder(tmp_path / "table"), dimension=5), table()[tokens].mean(axis=0)[:5])
    for made in (onnx_folder, table_folder):
        with pytest.raises(EncoderUnavailable, match=r"traitbench\.json sets dimension to 13, but .* Use at most 12"):
            load(settings(made(tmp_path / f"wide-{made.__name__}"), dimension=13))


def long_model(path: Path, **config: Any) -> Path:
    return onnx_folder(path, model=graph(positions=2_048), config={"max_position_embeddings": 2_048, **config})


def test_a_long_context_is_used_whole(tmp_path: Path) -> None:
    words = [*["thank", "you", "dear", "friend"] * 350, "send"]
    whole = hidden(words, positions=2_048).mean(axis=0)
    same(long_model(tmp_path / "stated"), whole, " ".join(words))
    other = long_model(tmp_path / "positions", max_position_embeddings=None, n_positions=2_048)
    same(other, whole, " ".join(words))


@pytest.mark.parametrize(("heads", "length"), [(64, 1_024), (1_024, 512)])
def test_memory_bounds_the_length(tmp_path: Path, heads: int, length: int) -> None:
    words = ["thank", "you", "dear", "friend"] * 300
    count = -(-len(words) // (length - 2))
    parts = [words[i * len(words) // count : (i + 1) * len(words) // count] for i in range(count)]
    means = [len(part) * hidden(part, positions=2_048).mean(axis=0) for part in parts]
    same(long_model(tmp_path, num_attention_heads=heads), np.sum(means, axis=0), " ".join(words))


def test_the_length_may_be_set_within_what_the_model_takes(tmp_path: Path) -> None:
    words = ["thank", "you", "send"] * 4
    parts = [hidden(words[i : i + 6]).mean(axis=0) for i in (0, 6)]
    same(settings(onnx_folder(tmp_path / "short"), length=8), np.sum(parts, axis=0), " ".join(words))
    with pytest.raises(EncoderUnavailable, match=r"length to 65, but at most 64 tokens .* max_position_embeddings"):
        load(settings(onnx_folder(tmp_path / "long"), length=65))


# ---- static tables ---------------------------------------------------------------------------------------------------


def of_sentence_transformers(path: Path, **more: str) -> Path:
    table_folder(path / "0_StaticEmbedding", **{"embedding.weight": table()})
    (path / "0_StaticEmbedding" / "config.json").unlink()
    modules = {"StaticEmbedding": "0_StaticEmbedding", **more}
    note(path, "modules.json", [{"type": f"st.models.{kind}", "path": place} for kind, place in modules.items()])
    return path


def test_sentence_transformers_counts_unknown_words_and_model2vec_does_not(tmp_path: Path) -> None:
    known, unknown = [VOCABULARY["thank"], VOCABULARY["you"]], VOCABULARY["[UNK]"]
    path = of_sentence_transformers(tmp_path / "st", Normalize="1_Normalize")
    same(path, table()[[*known, unknown]].mean(axis=0), "thank you zebra")
    same(table_folder(tmp_path / "m2v"), table()[known].mean(axis=0), "thank you zebra")


def test_a_static_table_is_read_with_the_tokenizer_beside_it(tmp_path: Path) -> None:
    path = of_sentence_transformers(tmp_path)
    (path / "tokenizer.json").write_text("{}")
    same(path, table()[[VOCABULARY[word] for word in WORDS]].mean(axis=0))


def test_modules_after_a_static_table_are_refused(tmp_path: Path) -> None:
    with pytest.raises(EncoderUnavailable, match="has a module Dense besides the static table"):
        load(of_sentence_transformers(tmp_path, Dense="1_Dense"))


def test_a_static_table_with_a_prompt_is_refused(tmp_path: Path) -> None:
    path = table_folder(tmp_path)
    note(path, "config_sentence_transformers.json", PROMPTS)
    with pytest.raises(EncoderUnavailable, match=r'has a prompt, .* Set prompt to "" in'):
        load(path)
    same(settings(path, prompt=""), table()[[VOCABULARY[word] for word in WORDS]].mean(axis=0))


@pytest.mark.parametrize("made", [table_folder, of_sentence_transformers])
def test_a_table_may_replace_the_static_half_of_the_default_encoder(
    tmp_path: Path, made: Callable[[Path], Path]
) -> None:
    encoder = load(settings(made(tmp_path), recipe="full"))
    minilm, full = load_encoder("minilm", cache=KEPT), load_encoder("full", cache=KEPT)
    assert isinstance(minilm, MiniLM)
    [early, late], _ = minilm.blocks([TEXT])
    static = unit(table()[[VOCABULARY[word] for word in WORDS]].mean(axis=0))
    blocks = [early[0], late[0], static, StyleBlock().rows([TEXT])[0]]
    weighted = [weight * block for weight, block in zip(WEIGHTS, blocks, strict=True)]
    np.testing.assert_allclose(encoder.encode([TEXT])[0], unit(np.concatenate(weighted)), atol=1e-6)
    assert dict(encoder.modes) == {"layer4": slice(0, 384), "static": slice(768, 768 + WIDTH + 67)}
    assert encoder.digest not in (full.digest, load(made(tmp_path / "alone")).digest)
