"""A transformer in a folder as other libraries write it: its vectors, compared with numpy's, and what is refused.

Every folder has a real graph, run by onnxruntime. `hidden` in `folders` computes the vectors of its tokens.
"""

import shutil
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, external_data_helper

from tests.encoders.folders import MEAN, WIDTH, graph, hidden, load, note, onnx_folder, same, settings, tokenizer, unit
from traitbench.encoders import EncoderUnavailable
from traitbench.encoders.folder_settings import ChoiceOpen
from traitbench.encoders.registry import load_encoder
from traitbench.encoders.runtime import InferenceSession, SessionOptions, TimedRuns

TEXT, WORDS = "Thank you friend", ("thank", "you", "friend")
TEXTS = ["thank you dear friend", "send the form", "thank you", "", "good morning " * 60, "😀 zebra"]
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


# ---- files and pooling -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_optimized.onnx"])
@pytest.mark.parametrize("beside", [False, True])
def test_the_model_is_found_where_libraries_put_it(tmp_path: Path, name: str, beside: bool) -> None:
    path = onnx_folder(tmp_path, name=name)
    if beside:
        for other in ("tokenizer.json", "config.json"):
            (path / other).rename((path / name).parent / other)
    same(path, POOLED["mean"], TEXT)


@pytest.mark.parametrize("mode", POOLED)
def test_tokens_are_pooled_as_the_folder_or_the_setting_says(tmp_path: Path, mode: str) -> None:
    flags = {flag: name == mode for name, flag in FLAGS.items()}
    poolings: dict[str, dict[str, Any]] = {
        "flags": {"word_embedding_dimension": WIDTH, **flags},
        "named": {"embedding_dimension": WIDTH, "pooling_mode": mode},
    }
    for name, pooling in poolings.items():
        same(onnx_folder(tmp_path / name, pooling=pooling), POOLED[mode], TEXT)
    ours = OURS.get(mode, mode)
    same(settings(bare(tmp_path / "set"), pooling=ours), POOLED[mode], TEXT)
    same(settings(onnx_folder(tmp_path / "overridden"), pooling=ours), POOLED[mode], TEXT)


def test_several_poolings_are_joined_in_the_order_of_the_library(tmp_path: Path) -> None:
    flags = {FLAGS["lasttoken"]: True, FLAGS["mean_sqrt_len_tokens"]: True, FLAGS["cls"]: True}
    modes = ("cls", "mean_sqrt_len_tokens", "lasttoken")
    same(onnx_folder(tmp_path / "flags", pooling=flags), np.concatenate([POOLED[mode] for mode in modes]), TEXT)
    given = {"pooling_mode": ["max", "cls"]}
    same(onnx_folder(tmp_path / "named", pooling=given), np.concatenate([POOLED["max"], POOLED["cls"]]), TEXT)


def test_a_note_without_a_pooling_means_the_mean(tmp_path: Path) -> None:
    same(onnx_folder(tmp_path, pooling=dict.fromkeys(FLAGS.values(), False)), POOLED["mean"], TEXT)


def test_modules_may_lie_in_folders_of_other_names(tmp_path: Path) -> None:
    path = onnx_folder(tmp_path, name="0_Transformer/model.onnx", pooling=None, modules=None)
    for name in ("tokenizer.json", "config.json"):
        (path / name).rename(path / "0_Transformer" / name)
    note(path, "2_Pool/config.json", {"pooling_mode": "max"})
    places = {"Transformer": "0_Transformer", "Pooling": "2_Pool"}
    note(path, "modules.json", [{"type": f"st.models.{kind}", "path": place} for kind, place in places.items()])
    same(path, POOLED["max"], TEXT)


@pytest.mark.parametrize(
    "how",
    [
        {"model": graph(output="sentence_embedding"), "pooling": None, "modules": None},
        {"model": graph(output="sentence_embedding"), "pooling": {"pooling_mode": "max"}, "modules": ["Dense"]},
        {"model": graph(output="sentence_embedding", also=True), "pooling": None, "modules": None},
    ],
    ids=["alone", "whatever follows it", "besides those of the tokens"],
)
def test_a_vector_that_the_graph_has_pooled_is_used(tmp_path: Path, how: dict[str, Any]) -> None:
    same(onnx_folder(tmp_path, **how), POOLED["mean"], TEXT)


def test_a_pooling_is_set_only_where_the_graph_gives_the_vectors_of_tokens(tmp_path: Path) -> None:
    both, pooled = (graph(output="sentence_embedding", also=also) for also in (True, False))
    same(settings(bare(tmp_path / "both", model=both), pooling="max"), POOLED["max"], TEXT)
    with pytest.raises(EncoderUnavailable, match=r"traitbench\.json sets pooling, but .* already pooled"):
        load(settings(bare(tmp_path / "pooled", model=pooled), pooling="cls"))


def bare(path: Path, *, name: str = "model.onnx", **how: Any) -> Path:
    """The files of optimum and fastembed: nothing about pooling."""
    onnx_folder(path, name=name, pooling=None, modules=None, **how)
    note(path, "tokenizer_config.json", {"model_max_length": 64, "do_lower_case": True})
    note(path, "special_tokens_map.json", {"cls_token": "[CLS]"})
    note(path, "ort_config.json", {"optimum_version": "2.0.0"})
    return path


def test_a_folder_without_a_pooling_is_refused_until_it_is_set(tmp_path: Path) -> None:
    path = bare(tmp_path / "bare", name="onnx/model.onnx")
    with pytest.raises(ChoiceOpen, match=r"leaves a choice open\. No 1_Pooling/config\.json") as caught:
        load(path)
    error = caught.value
    assert f"Write your choice into {path / 'traitbench.json'}, for example: " in str(error)
    assert "Options: mean, cls, max, last, mean_sqrt_len, weighted_mean." in str(error)
    assert (error.file, error.example) == (path / "traitbench.json", {"pooling": "cls"})
    with pytest.raises(ChoiceOpen, match="No 1_Pooling"):
        load(onnx_folder(tmp_path / "listed", pooling=None, modules=["Transformer"]))


def test_all_open_choices_are_named_at_once(tmp_path: Path) -> None:
    path = settings(bare(tmp_path), length=32)
    note(path, "config_sentence_transformers.json", {"prompts": {"query": "dear "}})
    with pytest.raises(ChoiceOpen, match="leaves choices open") as caught:
        load(path)
    assert caught.value.example == {"length": 32, "pooling": "cls", "prompt": "query"}
    same(settings(path, **caught.value.example), hidden(("dear", *WORDS))[0], TEXT)


# ---- prompts ---------------------------------------------------------------------------------------------------------

PROMPTS = {"prompts": {"query": "dear friend ", "passage": ""}, "default_prompt_name": "query"}


def with_prompts(path: Path, content: Mapping[str, Any] = PROMPTS, **how: Any) -> Path:
    note(onnx_folder(path, **how), "config_sentence_transformers.json", content)
    return path


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({}, ("dear", "friend")),
        ({"prompt": "query"}, ("dear", "friend")),
        ({"prompt": "passage"}, ()),
        ({"prompt": ""}, ()),
        ({"prompt": "how kind: "}, ("how", "kind", "[UNK]")),
    ],
)
def test_a_prompt_is_the_default_or_set_by_name_or_by_text(
    tmp_path: Path, asked: dict[str, str], words: tuple[str, ...]
) -> None:
    path = settings(with_prompts(tmp_path), **asked)
    same(path, hidden((*words, "send", "form")).mean(axis=0), "send form")
    assert not load(path).encode([" "]).any()


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
    path = with_prompts(tmp_path, pooling={"pooling_mode": mode, "include_prompt": False})
    same(path, pick(hidden(("dear", "friend", "send", "form"))), "send form")


def test_a_prompt_that_is_not_pooled_comes_before_every_window(tmp_path: Path) -> None:
    limit = {"max_position_embeddings": 8}  # two special tokens, two of the prompt, four of the text
    path = with_prompts(tmp_path, pooling={"pooling_mode": "mean", "include_prompt": False}, config=limit)
    parts = [hidden(("dear", "friend", *part))[3:].mean(axis=0) for part in (["send", "form"] * 2, ["help", "you"] * 2)]
    same(path, np.sum(parts, axis=0), "send form send form help you help you")


def test_prompts_without_a_default_are_an_open_choice_unless_all_are_empty(tmp_path: Path) -> None:
    path = with_prompts(tmp_path / "open", {**PROMPTS, "default_prompt_name": None})
    with pytest.raises(ChoiceOpen, match=r"has prompts, but no default\. Options: query, \"\" \(none\)") as caught:
        load(path)
    assert caught.value.example == {"prompt": "query"}
    same(settings(path, **caught.value.example), hidden(("dear", "friend", *WORDS)).mean(axis=0), TEXT)
    empty = {"prompts": {"query": "", "document": ""}, "default_prompt_name": None}
    same(with_prompts(tmp_path / "empty", empty), POOLED["mean"], TEXT)


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
    how: dict[str, Any] = {"model": graph(output="sentence_embedding"), "pooling": {**MEAN, "include_prompt": False}}
    with pytest.raises(EncoderUnavailable, match="leaves the prompt out of the pooling, but the graph pools it in"):
        load(with_prompts(tmp_path, **how))


# ---- tokens and lengths ----------------------------------------------------------------------------------------------


def test_texts_are_lowercased_if_the_folder_says_so(tmp_path: Path) -> None:
    path = onnx_folder(tmp_path)
    tokenizer(cased=True).save(str(path / "tokenizer.json"))
    same(path, hidden(("[UNK]", "you", "[UNK]")).mean(axis=0), "THANK you Friend")
    note(path, "sentence_bert_config.json", {"do_lower_case": True, "max_seq_length": 32})
    shutil.copytree(path, tmp_path / "lower")  # a folder is read once
    same(tmp_path / "lower", POOLED["mean"], "THANK you Friend")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("config.json", {"max_position_embeddings": 12}),
        ("config.json", {"model_type": "xlm-roberta", "max_position_embeddings": 14}),
        ("tokenizer_config.json", {"model_max_length": 12}),
        ("sentence_bert_config.json", {"max_seq_length": 12}),
        ("traitbench.json", {"length": 12}),
    ],
)
def test_a_text_longer_than_the_smallest_limit_is_encoded_in_windows(
    tmp_path: Path, name: str, content: dict[str, Any]
) -> None:
    path = onnx_folder(tmp_path)
    note(path, name, content)
    words = ["thank", "you", "send"] * 6 + ["form", "help"]
    windows = [hidden(words[:10]).mean(axis=0), hidden(words[10:]).mean(axis=0)]
    same(path, np.sum(windows, axis=0), " ".join(words))
    assert load(path).count_tokens(" ".join(words)) == 20


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


def test_a_length_beyond_what_the_model_takes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EncoderUnavailable, match=r"length to 65, but at most 64 tokens .* max_position_embeddings"):
        load(settings(onnx_folder(tmp_path), length=65))


# ---- several graphs and outputs --------------------------------------------------------------------------------------


def with_graphs(path: Path, *names: str) -> Path:
    """A folder with graphs that can be told apart: each has another table of words."""
    for seed, name in enumerate(names, 10):
        onnx_folder(path, model=graph(seed=seed), name=name)
    return path


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (("a.onnx", "onnx/b.onnx"), "It has no model.onnx among 2 graphs"),
        (("model.onnx", "onnx/model.onnx"), "It has 2 model.onnx among 2 graphs"),
        (("onnx/model_O2.onnx", "onnx/model_qint8_arm64.onnx"), "It has no model.onnx among 2 graphs"),
    ],
)
def test_several_graphs_are_an_open_choice_until_one_is_set(tmp_path: Path, names: Sequence[str], says: str) -> None:
    path = with_graphs(tmp_path / "open", *names)
    with pytest.raises(ChoiceOpen, match=says) as caught:
        load(path)
    assert [choice.options for choice in caught.value.choices] == [list(names)]
    for seed, name in enumerate(names, 10):
        chosen = settings(Path(shutil.copytree(path, tmp_path / str(seed))), graph=name)
        same(chosen, hidden(WORDS, seed=seed).mean(axis=0), TEXT)


def test_model_onnx_goes_before_its_variants(tmp_path: Path) -> None:
    path = with_graphs(tmp_path, "onnx/model.onnx", "onnx/model_O2.onnx", "onnx/model_int8.onnx")
    same(path, hidden(WORDS, seed=10).mean(axis=0), TEXT)


def test_an_output_of_another_name_is_an_open_choice_until_it_is_set(tmp_path: Path) -> None:
    for name in ("pooler", "features"):
        path = onnx_folder(tmp_path / name, model=graph(output=name))
        with pytest.raises(ChoiceOpen, match=r"No output of model\.onnx has a usual name") as caught:
            load(path)
        assert caught.value.example == {"output": name}
        same(settings(path, **caught.value.example), POOLED["mean"], TEXT)


def test_a_quantized_graph_is_close_to_its_float_model(tmp_path: Path) -> None:
    from onnxruntime.quantization import QuantType, quantize_dynamic

    path = onnx_folder(tmp_path, name="model_quantized.onnx")
    file = path / "model_quantized.onnx"
    quantize_dynamic(file, file, weight_type=QuantType.QInt8, op_types_to_quantize=["MatMul"])
    vector = unit(load(path).encode([TEXT])[0][:WIDTH].astype(np.float64))
    assert 0.99 < vector @ unit(POOLED["mean"]) < 1 - 1e-9


# ---- inputs, outputs and weights -------------------------------------------------------------------------------------

PAST = ("past_key_values.0.key", "past_key_values.0.value")


@pytest.mark.parametrize("inputs", [["input_ids"], ["attention_mask", "input_ids"]])
@pytest.mark.parametrize("kind", [TensorProto.INT64, TensorProto.INT32])
def test_a_graph_gets_the_inputs_it_declares(tmp_path: Path, inputs: list[str], kind: int) -> None:
    same(onnx_folder(tmp_path, model=graph(inputs=inputs, kind=kind)), POOLED["mean"], TEXT)


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
    same(path, hidden((*WORDS, "[SEP]"), marks=False)[-1], TEXT)


def test_positions_start_where_the_model_starts(tmp_path: Path) -> None:
    model = graph(inputs=["input_ids", "position_ids"])
    path = onnx_folder(tmp_path, model=model, config={"model_type": "xlm-roberta"})
    same(path, hidden(WORDS, first=2).mean(axis=0), TEXT)


def test_a_past_of_unknown_shape_is_refused(tmp_path: Path) -> None:
    model = graph(inputs=["input_ids", *PAST])
    for given in model.graph.input[1:]:
        given.type.tensor_type.shape.dim[1].dim_param = "heads"
    with pytest.raises(EncoderUnavailable, match="an empty past of known shape, can be given"):
        load(onnx_folder(tmp_path, model=model))


def test_float16_outputs_are_read(tmp_path: Path) -> None:
    same(onnx_folder(tmp_path, model=graph(cast=TensorProto.FLOAT16)), POOLED["mean"], TEXT, within=2e-3)


def with_external_weights(path: Path, *, seed: int = 1, location: str = "model.onnx_data") -> Path:
    """A folder whose graph has its weights in another file."""
    model, file = graph(seed=seed), onnx_folder(path) / "model.onnx"
    external_data_helper.convert_model_to_external_data(model, location="model.onnx_data", size_threshold=100)
    onnx.save_model(model, file)
    content = onnx.load_model(file, load_external_data=False)
    for tensor in content.graph.initializer:
        for entry in tensor.external_data:
            entry.value = location if entry.key == "location" else entry.value
    file.write_bytes(content.SerializeToString())
    return path


def test_weights_in_another_file_are_read_hashed_and_missed(tmp_path: Path) -> None:
    one, other = (with_external_weights(tmp_path / str(seed), seed=seed) for seed in (1, 7))
    same(one, POOLED["mean"], TEXT)
    assert load(one).digest != load(other).digest
    (one / "model.onnx_data").unlink()
    with pytest.raises(EncoderUnavailable, match=r"model\.onnx_data of model\.onnx are not in the same folder"):
        load_encoder(f"{one}/", cache=tmp_path)


@pytest.mark.parametrize("kind", ["a branch", "an attribute", "a function", "the sparse weights"])
def test_weights_outside_that_the_digest_would_not_know_are_refused(tmp_path: Path, kind: str) -> None:
    model, file = graph(), onnx_folder(tmp_path) / "model.onnx"
    outside = TensorProto(name="outside", data_type=TensorProto.FLOAT, dims=[1], data_location=TensorProto.EXTERNAL)
    outside.external_data.add(key="location", value="elsewhere.bin")
    constant = onnx.helper.make_node("Constant", [], ["outside"], value=outside)
    branch = onnx.helper.make_graph([constant], "branch", [], [])
    match kind:
        case "a branch":
            model.graph.node.append(onnx.helper.make_node("If", ["condition"], [], then_branch=branch))
        case "an attribute":
            model.graph.node.append(constant)
        case "a function":
            model.functions.append(onnx.helper.make_function("ours", "f", [], ["outside"], [constant], []))
        case "the sparse weights":
            model.graph.sparse_initializer.add(values=outside)
    file.write_bytes(model.SerializeToString())
    with pytest.raises(EncoderUnavailable, match=r"model\.onnx has weights in other files for parts of the graph"):
        load_encoder(f"{tmp_path}/", cache=tmp_path)


def test_a_graph_without_end_is_stopped() -> None:
    truth = partial(onnx.helper.make_tensor_value_info, elem_type=TensorProto.BOOL, shape=[])
    same_again = [onnx.helper.make_node("Identity", [name], [f"{name} after"]) for name in ("on", "value")]
    count = onnx.helper.make_tensor_value_info("n", TensorProto.INT64, [])
    body = onnx.helper.make_graph(
        same_again, "body", [count, truth("on"), truth("value")], [truth("on after"), truth("value after")]
    )
    loop = onnx.helper.make_node("Loop", ["", "on", "on"], ["end"], body=body)
    endless = onnx.helper.make_graph([loop], "endless", [truth("on")], [truth("end")])
    content = onnx.helper.make_model(endless, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    options = SessionOptions()
    options.log_severity_level = 4
    runs = TimedRuns(InferenceSession(content.SerializeToString(), options), seconds=0.2)
    with pytest.raises(Exception, match="terminate"):
        runs.run(["end"], {"on": np.array(True)})
    assert runs.run(["end"], {"on": np.array(False)}) == [np.array(False)]


@pytest.mark.parametrize("location", ["model.onnx_data", "./model.onnx_data"])
def test_weights_in_another_file_are_read_from_a_download_cache(tmp_path: Path, location: str) -> None:
    path = with_external_weights(tmp_path / "snapshots" / "abc", location=location)
    blobs = tmp_path / "blobs"
    blobs.mkdir()
    for file in [file for file in path.rglob("*") if file.is_file()]:
        target = blobs / "-".join(file.relative_to(path).parts)
        file.rename(target)
        file.symlink_to(target)
    same(path, POOLED["mean"], TEXT)
    with pytest.raises(EncoderUnavailable, match=r"It is a download cache: use .*snapshots/abc"):
        load(tmp_path)


# ---- what is added, what the digest covers, what is refused ----------------------------------------------------------


def test_static_part_and_style_are_added_and_are_a_mode(tmp_path: Path) -> None:
    encoder = load(onnx_folder(tmp_path))
    assert encoder.dimension == WIDTH + 256 + 67
    full = encoder.encode([TEXT])[0]
    np.testing.assert_allclose(encoder.encode([TEXT], mode="static")[0], unit(full[encoder.modes["static"]]), atol=1e-6)
    assert encoder.words()[:3] == ["thank", "you", "dear"]


def test_without_the_static_table_only_the_style_is_added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    joined = load(onnx_folder(tmp_path / "joined"))
    monkeypatch.setitem(sys.modules, "wordllama", None)
    alone = load_encoder(str(onnx_folder(tmp_path / "alone")), cache=tmp_path)
    assert alone.dimension == WIDTH + 67
    assert dict(alone.modes) == {}
    assert alone.digest != joined.digest


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
            {"model": graph(rows=20), "config": {"vocab_size": 20}},
            r"tokenizer .* has 24 tokens, but vocab_size in config\.json is 20.*another model",
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
