"""Decide from a folder's files how its graph is read: output, pooling, prompt, length, and the reason for each.

The files are those of sentence-transformers and transformers. What they leave open is asked for, never guessed.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from traitbench.encoders import EncoderUnavailable, folder_settings
from traitbench.encoders.folder import POOLING, Folder
from traitbench.encoders.folder_settings import POOLINGS, ChoiceOpen, FolderSetting, FolderSettings, Pooling, is_text
from traitbench.encoders.runtime import InferenceSession

LONGEST = 8_192
_LONGEST_BEFORE, _DEFAULT, _LEAST = 512, 128, folder_settings.SHORTEST
# A layer's attention has a float of 4 bytes for each head and each pair of tokens.
_ATTENTION_BYTES = 256 * 2**20
_REAL = ("tensor(float)", "tensor(float16)", "tensor(double)")
_OF_SENTENCE = ("sentence_embedding", "sentence_embeddings", "text_embeds", "embeddings", "pooled")
_OF_TOKENS = ("last_hidden_state", "token_embeddings")
_NOT_VECTORS = re.compile(r"logits|scores|present.*|past.*")
_AFTER_TRANSFORMER = {"Transformer", "Pooling", "Normalize"}
SHIFTED = ("roberta", "camembert", "mpnet", "xlm-roberta", "longformer")
"""Types of models whose first position is 2."""

_MODES: Mapping[str, Pooling] = {
    "cls": "cls",
    "max": "max",
    "mean": "mean",
    "mean_sqrt_len_tokens": "mean_sqrt_len",
    "weightedmean": "weighted_mean",
    "lasttoken": "last",
}
"""Our names of the modes of sentence-transformers, in the order in which it joins several."""

_FLAGS: Mapping[str, Pooling] = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len",
    "pooling_mode_weightedmean_tokens": "weighted_mean",
    "pooling_mode_lasttoken": "last",
}
_BEFORE: Mapping[Pooling, Pooling] = {"mean": "mean", "mean_sqrt_len": "mean", "cls": "cls", "last": "last"}


@dataclass(frozen=True)
class Reading:
    """How a graph is read. Without `pooling`, the output is the vector of the text.

    `prompt` comes before each text; its tokens are pooled if `prompt_pooled`. `length` counts special tokens.
    `dimension` is how many of the first numbers are kept. `why` has a reason for each of these.
    """

    output: str
    pooling: tuple[Pooling, ...]
    prompt: str = ""
    prompt_pooled: bool = True
    lowercase: bool = False
    length: int = _DEFAULT
    dimension: int | None = None
    why: Mapping[str, str] = field(default_factory=dict, compare=False)


def read(source: Folder, session: InferenceSession, settings: FolderSettings, *, pooling_note: str) -> Reading:
    """The reading of a graph; raise `ChoiceOpen` with all choices that the files leave open."""
    settings.allow("pooling", "prompt", "graph", "output", "length", "dimension", kind="an ONNX model")
    output, of_sentence, why_output = _output(source, session, settings)
    if of_sentence and settings.pooling:
        raise settings.wrong(f"sets pooling, but the output {output} of the graph is already pooled. Remove pooling.")
    note = _checked(source, pooling_note)
    choices, why = [], {"output": why_output}
    pooling: tuple[Pooling, ...] = ()
    if of_sentence:
        why["pooling"] = f"The graph pools the tokens itself: its output is {output}."
    else:
        _refuse_further_modules(source)
        outcome = _pooling(source, note, settings, pooling_note)
        if isinstance(outcome, FolderSetting):
            choices.append(outcome)
        else:
            pooling, why["pooling"] = outcome
    asked = prompt(source, settings)
    text = ""
    if isinstance(asked, FolderSetting):
        choices.append(asked)
    else:
        text, why["prompt"] = asked
    if choices:
        raise ChoiceOpen(source.path, choices, given=settings.given)
    prompt_pooled = not text or note.get("include_prompt", True)
    if of_sentence and not prompt_pooled:
        raise EncoderUnavailable(
            f"{pooling_note} in {source.path} leaves the prompt out of the pooling, but the graph pools it in. Export"
            " the model so that the graph gives last_hidden_state."
        )
    length, why["length"] = _length(source, settings)
    lowercase = source.note("sentence_bert_config.json").get("do_lower_case") is True
    return Reading(output, pooling, text, prompt_pooled, lowercase, length, settings.dimension, why)


def of_first_recipe(source: Folder, chosen: Reading) -> Reading | None:
    """How the first recipe reads the output that was chosen; None if it does not. A folder that is read so keeps that
    recipe, and with it the digest that its versions name.
    """
    of_sentence = not chosen.pooling
    modes = () if of_sentence else _modes(source.note(POOLING))
    if not of_sentence and set(source.modules()) - _AFTER_TRANSFORMER:
        return None
    if modes is None or len(modes) > 1 or not set(modes) <= set(_BEFORE):
        return None
    if not of_sentence and not modes:
        modes = ("mean",)
    note = source.note("config_sentence_transformers.json")
    prompts, name = note.get("prompts"), note.get("default_prompt_name")
    text = prompts.get(name) if isinstance(prompts, dict) and isinstance(name, str) else None
    limits = [most for most, _ in _limits(source, before=True)]
    return Reading(
        chosen.output,
        tuple(_BEFORE[mode] for mode in modes),
        text if isinstance(text, str) else "",
        length=min([*limits, _LONGEST_BEFORE]) if limits else _DEFAULT,
    )


def pooled(modes: Sequence[Pooling], vectors: NDArray[np.float64], skip: int) -> NDArray[np.float64]:
    """The vector of a text from those of its tokens, (n_tokens, d): one per mode, side by side. The first `skip` tokens
    are left out.
    """
    parts = [_POOL[mode](vectors[skip:], skip) for mode in modes]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _mean(vectors: NDArray[np.float64], _: int) -> NDArray[np.float64]:
    mean: NDArray[np.float64] = np.add.reduce(vectors, axis=0) / len(vectors)
    return mean


def _weighted_mean(vectors: NDArray[np.float64], skip: int) -> NDArray[np.float64]:
    weights = np.arange(skip + 1, skip + 1 + len(vectors), dtype=np.float64)
    mean: NDArray[np.float64] = np.add.reduce(vectors * weights[:, np.newaxis], axis=0) / weights.sum()
    return mean


_POOL: Mapping[Pooling, Any] = {
    "mean": _mean,
    "cls": lambda vectors, _: vectors[0],
    "last": lambda vectors, _: vectors[-1],
    "max": lambda vectors, _: vectors.max(axis=0),
    "mean_sqrt_len": lambda vectors, skip: _mean(vectors, skip) * math.sqrt(len(vectors)),
    "weighted_mean": _weighted_mean,
}


# ---- output and pooling ----------------------------------------------------------------------------------------------


def _output(source: Folder, session: InferenceSession, settings: FolderSettings) -> tuple[str, bool, str]:
    """The output to use, whether it is the vector of the whole text, and why. A pooling asks for vectors of tokens."""
    ranks = {
        each.name: len(each.shape or ())
        for each in session.get_outputs()
        if each.type in _REAL and not _NOT_VECTORS.fullmatch(each.name)
    }
    if not ranks:
        listed = ", ".join(f"{each.name} {each.type}" for each in session.get_outputs())
        raise EncoderUnavailable(
            f"{source.model} gives {listed}, but no vectors of real numbers for tokens or the sentence. Export the"
            " model for feature extraction."
        )
    if settings.output is not None:
        if settings.output not in ranks:
            raise settings.wrong(
                f"sets output to {settings.output[:100]!r}, which is not an output of {source.model.name} with vectors."
                f" Use one of {', '.join(ranks)}."
            )
        return settings.output, ranks[settings.output] == 2, f"{settings.file.name} names it."
    of_sentence = [name for name in _OF_SENTENCE if ranks.get(name) in (0, 2)]
    of_tokens = [name for name in _OF_TOKENS if name in ranks]
    if of_sentence and not (settings.pooling and of_tokens):
        return of_sentence[0], True, "It is the vector of the whole text."
    if of_tokens:
        return of_tokens[0], False, "It has a vector for each token."
    question = f"No output of {source.model.name} has a usual name, such as {_OF_SENTENCE[0]} or {_OF_TOKENS[0]}."
    raise ChoiceOpen(
        source.path, [FolderSetting("output", question, list(ranks), next(iter(ranks)))], given=settings.given
    )


def _refuse_further_modules(source: Folder) -> None:
    unsupported = sorted(set(source.modules()) - _AFTER_TRANSFORMER)
    if unsupported:
        raise EncoderUnavailable(
            f"The model in {source.path} has a module {unsupported[0]} after its transformer, which the graph lacks."
            " Export the whole model, so that the graph gives sentence_embedding."
        )


def _pooling(
    source: Folder, note: Mapping[str, Any], settings: FolderSettings, name: str
) -> tuple[tuple[Pooling, ...], str] | FolderSetting:
    if settings.pooling:
        return _one_direction((settings.pooling,)), f"{settings.file.name} sets {settings.pooling}."
    if name not in source.contents:
        return FolderSetting(
            "pooling",
            f"No {name} says how the vectors of the tokens become the vector of a text. The model's card does.",
            POOLINGS,
            "cls",
        )
    modes = _modes(note)
    if modes is None or note.get("pooling_mode", "") is None:
        raise EncoderUnavailable(
            f"{name} in {source.path} names a pooling that is not known here. Known are {', '.join(POOLINGS)}. Export"
            " the whole model, so that the graph gives sentence_embedding."
        )
    if not modes:
        return ("mean",), f"{name} names no pooling; sentence-transformers then takes the mean."
    return _one_direction(modes), f"{name} says {' and '.join(modes)}."


def _checked(source: Folder, name: str) -> Mapping[str, Any]:
    """The note about pooling. What should be true or false must be: a text such as "false" would count as true."""
    note = source.note(name)
    for key in (*_FLAGS, "include_prompt"):
        if type(note.get(key, True)) is not bool:
            raise EncoderUnavailable(
                f"{name} in {source.path} sets {key} to {json.dumps(note[key])[:60]}. Write true or false."
            )
    return note


def _modes(note: Mapping[str, Any]) -> tuple[Pooling, ...] | None:
    """The modes that a note of sentence-transformers names; None if one is unknown."""
    named = note.get("pooling_mode")
    if named is not None:
        listed = named if isinstance(named, list) else [named]
        known = [_MODES[mode] for mode in listed if isinstance(mode, str) and mode in _MODES]
        return tuple(known) if known and len(known) == len(listed) else None
    on = [name for name, value in note.items() if value is True and name.startswith("pooling_")]
    return tuple(mode for name, mode in _FLAGS.items() if name in on) if set(on) <= set(_FLAGS) else None


def _one_direction(modes: tuple[Pooling, ...]) -> tuple[Pooling, ...]:
    """`mean` instead of `mean_sqrt_len` on its own: it has the same direction, which is all that counts."""
    return ("mean",) if modes == ("mean_sqrt_len",) else modes


# ---- prompt and length -----------------------------------------------------------------------------------------------


def prompt(source: Folder, settings: FolderSettings) -> tuple[str, str] | FolderSetting:
    """The text before every text and the reason, or the choice that the folder leaves open."""
    note = source.note("config_sentence_transformers.json")
    prompts, default = note.get("prompts") or {}, note.get("default_prompt_name")
    if not isinstance(prompts, dict) or not all(is_text(text) for text in prompts.values()):
        raise EncoderUnavailable(
            f"config_sentence_transformers.json in {source.path} has prompts that are not texts by name. Correct them."
        )
    if settings.prompt is not None:
        return _asked_prompt(settings, prompts)
    if default is not None:
        if not isinstance(default, str) or default not in prompts:
            raise EncoderUnavailable(
                f"config_sentence_transformers.json in {source.path} names the default prompt {str(default)[:60]!r},"
                f" but has no such prompt. Correct it, or set prompt in {settings.file}."
            )
        return prompts[default], f'config_sentence_transformers.json makes "{default}" the default.'
    named = [name for name, text in prompts.items() if text]
    if not named:
        return "", "The folder names none."
    return FolderSetting(
        "prompt",
        "config_sentence_transformers.json has prompts, but no default.",
        [*named, '"" (none)'],
        named[0],
    )


def _asked_prompt(settings: FolderSettings, prompts: Mapping[str, str]) -> tuple[str, str]:
    asked = settings.prompt or ""
    if asked in prompts:
        return prompts[asked], f'{settings.file.name} sets the prompt "{asked}".'
    if not asked:
        return "", f"{settings.file.name} sets none."
    if not re.search(r"[\s:]", asked):
        known = f"Prompts here: {', '.join(prompts)}. " if prompts else ""
        raise settings.wrong(
            f"sets prompt to {json.dumps(asked[:60])}, which is not the name of a prompt of this model. {known}The text"
            ' of a prompt contains a space or a colon, as in "query: ".'
        )
    return asked, f"{settings.file.name} sets its text."


def _length(source: Folder, settings: FolderSettings) -> tuple[int, str]:
    """The most tokens of a text, with special tokens, and why."""
    limits = _limits(source, before=False)
    if not limits:
        limits = [(LONGEST if settings.length else _DEFAULT, f"The folder states no limit; {_DEFAULT} is the default.")]
    own, why = min([*limits, *_bounds(source)], key=lambda limit: limit[0])
    if settings.length is None:
        return own, why
    if settings.length > own:
        raise settings.wrong(f"sets length to {settings.length}, but at most {own} tokens are possible. {why}")
    return settings.length, f"{settings.file.name} sets it; at most {own} tokens are possible."


def _bounds(source: Folder) -> list[tuple[int, str]]:
    """Our own bounds: time and memory grow with the square of the length."""
    bounds = [(LONGEST, f"The folder allows more, but {LONGEST:,} tokens are the most that are read at a time.")]
    heads = _whole(source.note("config.json"), "num_attention_heads", "n_head", "num_heads", "n_heads")
    if heads:
        most = max(_LONGEST_BEFORE, math.isqrt(_ATTENTION_BYTES // (4 * heads)))
        bounds.append((most, f"The folder allows more, but with {heads} heads they would take over 256 MiB a layer."))
    return bounds


def _limits(source: Folder, *, before: bool) -> list[tuple[int, str]]:
    """The limits on the tokens of a text that the files state, each with its place."""
    config = source.note("config.json")
    shift = 2 if str(config.get("model_type", "")).startswith(SHIFTED) else 0
    names = ("max_position_embeddings",) if before else ("max_position_embeddings", "n_positions", "max_seq_len")
    stated = [
        *((config.get(name), shift, f"{name} in config.json") for name in names),
        (source.note("tokenizer_config.json").get("model_max_length"), 0, "model_max_length in tokenizer_config.json"),
        (
            source.note("sentence_bert_config.json").get("max_seq_length"),
            0,
            "max_seq_length in sentence_bert_config.json",
        ),
    ]
    return [
        (int(most) - less, f"It is the smallest limit that the folder states: {stated_in}.")
        for most, less, stated_in in stated
        if isinstance(most, int | float) and math.isfinite(most) and most >= _LEAST
    ]


def _whole(note: Mapping[str, Any], *names: str) -> int | None:
    """The first of these entries that is a whole number above zero."""
    return next((value for name in names if type(value := note.get(name)) is int and value > 0), None)
