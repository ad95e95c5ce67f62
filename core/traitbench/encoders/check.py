"""Check the encoder in a folder: how its files are read and why, how fast it is, and whether its vectors make sense.

Ten pairs of sentences are compared, five similar and five dissimilar. The vectors are those of the folder's own model,
without the blocks that Traitbench adds. The pairs reveal a broken graph or the tokenizer of another model. They rarely
reveal a wrong pooling, which costs quality but keeps unlike sentences apart: all poolings of MiniLM pass. A good model
for another language than English may fail.
"""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from traitbench.encoders import Encoder
from traitbench.encoders.folder import MODEL, Folder
from traitbench.encoders.folder_kinds import Graph, Opened
from traitbench.encoders.onnx_folder import OnnxFolder
from traitbench.encoders.registry import open_folder
from traitbench.encoders.table_folder import Loaded
from traitbench.scoring.inputs import unit

SIMILAR = (
    ("The parcel arrived two days late.", "My package was delivered two days after the promised date."),
    ("Thank you so much for your kind help.", "I am very grateful that you helped me."),
    ("The cat is asleep on the sofa.", "A small cat is sleeping on the couch."),
    ("How do I change my password?", "What are the steps to reset a forgotten password?"),
    ("The company's profit fell sharply last year.", "The firm earned far less money than the year before."),
)
DISSIMILAR = (
    ("The parcel arrived two days late.", "She has played the violin in an orchestra since childhood."),
    ("Thank you so much for your kind help.", "Glaciers carve deep valleys into the mountains."),
    ("The cat is asleep on the sofa.", "The court rejected the appeal on Monday."),
    ("How do I change my password?", "Beat two eggs with a pinch of salt."),
    ("The company's profit fell sharply last year.", "Turn left after the old stone bridge."),
)
ENOUGH = 22
"""Of the 25 ways to take one similar and one dissimilar pair, in how many the first must have the higher cosine."""

_ROUNDS = 3
_INT8 = (
    *(b"MatMulInteger", b"DynamicQuantizeLinear", b"DynamicQuantizeMatMul", b"QLinearMatMul", b"QAttention"),
    b"DequantizeLinear",
)
_INT4 = (b"MatMulNBits", b"MatMulBnb4")


@dataclass(frozen=True)
class Fact:
    """One answer about an encoder, and the reason for it."""

    name: str
    value: str
    why: str


@dataclass(frozen=True)
class SentencePair:
    """Two sentences, whether they are similar, and the cosine of their vectors."""

    first: str
    second: str
    similar: bool
    cosine: float


@dataclass(frozen=True)
class Report:
    """What a check found. `in_order` counts, of the 25 ways to take a similar and a dissimilar pair, those in which the
    first has the higher cosine.
    """

    folder: str
    id: str
    digest: str
    dimension: int
    facts: tuple[Fact, ...]
    ms_per_text: float
    pairs: tuple[SentencePair, ...]
    in_order: int

    @property
    def sane(self) -> bool:
        """Whether the vectors tell similar from dissimilar pairs."""
        return self.in_order >= ENOUGH

    def to_json(self) -> dict[str, Any]:
        """The report as JSON values."""
        return {
            "folder": self.folder,
            "usable": True,
            "sane": self.sane,
            "encoder": {"id": self.id, "digest": self.digest, "dimension": self.dimension},
            **{fact.name: {"value": fact.value, "why": fact.why} for fact in self.facts},
            "ms_per_text": self.ms_per_text,
            "pairs": [vars(pair) for pair in self.pairs],
            "in_order": self.in_order,
        }


def check(folder: Path, *, cache: Path) -> Report:
    """Check the encoder in a folder; raise `EncoderUnavailable` if it is refused, `ChoiceOpen` if a choice is open."""
    opened = open_folder(folder, cache=cache)
    if isinstance(opened.encoder, OnnxFolder):
        opened.encoder.transformer.fill(opened.encoder.transformer.reading.length)
    pairs = _compared(_own_vectors(opened))
    return Report(
        str(folder),
        opened.encoder.id,
        opened.encoder.digest,
        opened.encoder.dimension,
        tuple(_facts(opened)),
        round(_milliseconds(opened.encoder), 3),
        tuple(pairs),
        _in_order(pairs),
    )


def _compared(encode: Callable[[Sequence[str]], NDArray[np.float64]]) -> list[SentencePair]:
    pairs = [(*pair, True) for pair in SIMILAR] + [(*pair, False) for pair in DISSIMILAR]
    firsts, seconds = encode([first for first, _, _ in pairs]), encode([second for _, second, _ in pairs])
    cosines = np.sum(firsts * seconds, axis=1)
    return [SentencePair(*pair, round(float(cosine), 4)) for pair, cosine in zip(pairs, cosines, strict=True)]


def _in_order(pairs: Sequence[SentencePair]) -> int:
    similar, dissimilar = ([pair.cosine for pair in pairs if pair.similar is kind] for kind in (True, False))
    return sum(high > low for high in similar for low in dissimilar)


def _own_vectors(opened: Opened) -> Callable[[Sequence[str]], NDArray[np.float64]]:
    """The unit vectors of the folder's own model."""
    if isinstance(opened.encoder, OnnxFolder):
        transformer = opened.encoder.transformer
        return lambda texts: transformer.vectors(texts)[0]
    assert isinstance(opened.model, Loaded)
    table = opened.model.static.table
    return lambda texts: unit(table.means(texts))


def _milliseconds(encoder: Encoder) -> float:
    """The median time of one short text, on its own."""
    texts = [text for pair in (*SIMILAR, *DISSIMILAR) for text in pair]
    taken = []
    for text in texts * _ROUNDS:
        start = perf_counter()
        encoder.encode([text])
        taken.append(perf_counter() - start)
    return 1_000 * statistics.median(taken)


# ---- facts -----------------------------------------------------------------------------------------------------------


def _facts(opened: Opened) -> list[Fact]:
    special = _of_graph(opened) if isinstance(opened.model, Graph) else _of_table(opened, opened.model)
    return [*special, _normalisation(opened.source)]


def _of_graph(opened: Opened) -> list[Fact]:
    assert isinstance(opened.model, Graph)
    assert isinstance(opened.encoder, OnnxFolder)
    transformer = opened.encoder.transformer
    reading = transformer.reading
    numbers = "first numbers" if reading.dimension else "numbers"
    facts = [
        Fact("graph", str(opened.model.file.relative_to(opened.source.path)), opened.model.why),
        _precision(opened.source),
        Fact("output", reading.output, reading.why["output"]),
        Fact("pooling", " and ".join(reading.pooling) or "in the graph", reading.why["pooling"]),
        Fact("prompt", repr(reading.prompt) if reading.prompt else "none", reading.why["prompt"]),
        Fact("length", f"{reading.length} tokens", f"{reading.why['length']} Longer texts are read in parts."),
        Fact("dimension", f"{transformer.width} {numbers}", _why_dimension(opened)),
    ]
    if reading.prompt and not reading.prompt_pooled:
        facts.append(Fact("prompt_pooled", "no", "The pooling leaves out the tokens of the prompt (include_prompt)."))
    if reading.lowercase:
        facts.append(Fact("lowercase", "yes", "do_lower_case in sentence_bert_config.json."))
    if transformer.outside:
        some = f"{len(transformer.outside)} added tokens"
        facts.append(Fact("ignored", some, "The tokenizer has them, but the graph has no vectors for them."))
    return facts


def _of_table(opened: Opened, loaded: Loaded) -> list[Fact]:
    table = loaded.static.table
    full = opened.settings.recipe == "full"
    unknown = f"{loaded.unknown} is ignored, as in model2vec." if loaded.unknown else "Every token counts."
    facts = [
        Fact("table", str(opened.source.model.relative_to(opened.source.path)), "A static table: no transformer."),
        Fact("precision", loaded.kind, "The type of the table's numbers."),
        Fact("pooling", "mean", f"A static table gives the mean of its tokens. {unknown}"),
        Fact("prompt", "none", "Static tables are read without a prompt."),
        Fact("length", "unlimited", "A static table reads texts of any length."),
        Fact("dimension", f"{table.width} numbers", _why_dimension(opened)),
        Fact("recipe", *(_FULL if full else _STATIC)),
    ]
    if loaded.outside:
        some = f"{loaded.outside} added tokens"
        facts.append(Fact("ignored", some, "The tokenizer has them, but the table has no rows for them."))
    return facts


_FULL = ("full", "The table replaces WordLlama's beside MiniLM.")
_STATIC = ("static", 'The table is used on its own. Set recipe to "full" to use it beside MiniLM.')


def _why_dimension(opened: Opened) -> str:
    if opened.settings.dimension:
        return f"{opened.settings.file.name} cuts the vectors (Matryoshka)."
    trained = opened.source.note("config.json").get("matryoshka_dimensions")
    known = [str(each) for each in trained if type(each) is int] if isinstance(trained, list) else []
    return f"All of them. The model may be cut to {', '.join(known)}: set dimension." if known else "All of them."


def _normalisation(source: Folder) -> Fact:
    asked = "Normalize" in source.modules() or source.note("config.json").get("normalize") is True
    why = "The folder asks for it." if asked else "The folder does not ask for it, but only directions are compared."
    return Fact("normalisation", "length one", why)


def _precision(source: Folder) -> Fact:
    """The type of most weights of a graph, from the names of its operators or else from its tensors."""
    content = source.contents[MODEL]
    for names, bits in ((_INT4, 4), (_INT8, 8)):
        if any(name in content for name in names):
            return Fact("precision", f"int{bits}", f"The graph computes with weights of {bits} bits.")
    return Fact("precision", _type_of_weights(content), "It is the type of most weights.")


def _type_of_weights(content: bytes) -> str:
    try:
        import onnx
    except ModuleNotFoundError:
        return "float"
    names: Mapping[int, str] = {1: "float32", 10: "float16", 11: "float64", 16: "bfloat16"}
    counts = dict.fromkeys(names.values(), 0)
    for tensor in onnx.load_model_from_string(content).graph.initializer:
        if tensor.data_type in names:
            counts[names[tensor.data_type]] += int(np.prod(tensor.dims, dtype=np.int64))
    return max(counts, key=lambda name: counts[name])
