"""A model's card: what a person should know before using the model, as Markdown (core/docs/contract.md, section 4).

The author's readme is Markdown and comes last, unchanged. All other text that people entered is escaped, so that it can
neither break out of its table nor look like a part of the card.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args

from traitbench.contract import operations
from traitbench.contract.metrics import HeldOutFigures, Languages, Sureness, TraitMetrics
from traitbench.contract.models import Model
from traitbench.contract.rounding import in_decimals
from traitbench.contract.scores import Confidence
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.display import held_out
from traitbench.display.languages import languages_line
from traitbench.display.words import PROMISE, REASONS
from traitbench.operations import access
from traitbench.operations.access import Caller
from traitbench.operations.context import Context
from traitbench.store import models, traits, versions

_MARKS = re.compile(r"([\\`*_\[\]<>|~$&])")
_BLOCK_MARK = re.compile(r"^(#|\+|-|=|:)")
_NUMBERED = re.compile(r"^(\d+)([.)])")
# Markdown makes links of addresses despite escapes. A zero-width character prevents that.
_BARE_ADDRESS = re.compile(r"(?<=[a-z]:)(?=//)|(?<=www)(?=\.)|(?<=[\w.+-]@)(?=[\w-])", re.IGNORECASE)
_JOINER = "\u2060"
_ADDRESS = re.compile(r"https?://[^\s<>\\]+")
_NONE = "–"
_TRAIT_COLUMNS = ("Trait", "Key", "Positive pole", "Negative pole", "Kind", "Parts combined by", "Description")
_FIGURE_COLUMNS = ("Trait", "AUROC", "95 % interval", "Brier", "Calibration error", "Samples", "Measured on")
_TEST_COLUMNS = ("Trait", "AUROC", "95 % interval", "Brier", "Wrong side", "Must-pass failed", "Measured on")
_CONFIDENCE_COLUMNS = ("Trait", "High", "High, right", "Moderate", "Moderate, right", "Low", "Low, right")
_SOURCE_FIELDS = ("name", "license", "citation", "url")


def card(context: Context, caller: Caller, handle: str) -> str:
    """The card of a model, as Markdown."""
    with access.to_read(context, caller, operations.MODELS_CARD, handle) as (connection, row):
        model, shown = models.read(connection, row.id), traits.every(connection, row.id).items()
        active = row.active_version_id
        version = None if active is None else versions.read_if_readable(connection, active)
    return "\n\n".join(_sections(model, shown, version)) + "\n"


def _sections(model: Model, shown: Sequence[Trait], version: Version | None) -> Iterator[str]:
    yield f"# {_inline(model.handle)}"
    if model.description.strip():
        yield _block(model.description)
    yield _state(model, version)
    yield "## Traits"
    yield _traits(shown)
    yield "## Metrics"
    yield _unmeasured(model) if version is None else _metrics(version, shown)
    if model.upstream_sources:
        yield "## Sources"
        yield "\n".join(map(_source, model.upstream_sources))
    if model.additional_terms and model.additional_terms.strip():
        yield "## Additional terms"
        # Escaped like all text that people entered, so Markdown in the terms appears as typed. Only the readme may be
        # Markdown, because nothing follows it.
        yield _block(model.additional_terms)
    if model.readme_markdown and model.readme_markdown.strip():
        yield "---"
        yield model.readme_markdown.strip("\n")


def _unmeasured(model: Model) -> str:
    if model.version_no is None:
        return "The model has no version yet, so nothing was measured."
    return f"The metrics of v{model.version_no} cannot be read. Restore the model from a backup."


def _state(model: Model, version: Version | None) -> str:
    """The state and the active version, as a list."""
    lines = [f"- **State:** {model.state}"]
    if version is not None:
        tags = f", tagged {', '.join(map(_inline, version.tags))}" if version.tags else ""
        lines += [
            f"- **Version:** v{version.version_no}{tags}, created {version.created_at:%Y-%m-%d}, "
            f"trained with {version.sample_count:,} samples",
            f"- **Parameters:** `{version.param_hash}`",
            *_languages(version.metrics.languages),
        ]
    lines += [f"- **Scoring method:** {_inline(model.scoring_method)}, depth {model.max_depth}"]
    if model.zero_data_retention:
        lines += ["- **Zero data retention:** samples are deleted after training, scored texts are never stored"]
    return "\n".join(lines)


def _languages(languages: Languages | None) -> Iterator[str]:
    if languages is not None and (said := languages_line(languages.texts, languages.unclear)):
        yield f"- **Languages of the samples:** {_inline(said)}"


def _traits(shown: Sequence[Trait]) -> str:
    if not shown:
        return "The model has no traits yet."
    return _table(
        _TRAIT_COLUMNS,
        [
            (
                *(trait.name, trait.key, trait.positive_label, trait.negative_label),
                *(trait.kind, trait.aggregation, trait.description or _NONE),
            )
            for trait in shown
        ],
    )


def _metrics(version: Version, shown: Sequence[Trait]) -> str:
    """The metrics, each with the samples that it was measured on."""
    names = {trait.key: trait.name for trait in shown}
    tests = list(_tests(version, names))
    rows = [_figures(names.get(key, key), figures) for key, figures in version.metrics.traits.items()]
    mean = _figure(version.metrics.auroc)
    lines = [] if mean == _NONE else [f"Mean AUROC of the traits that could be measured: {mean}."]
    if tests:
        lines = [*tests, "### Out of fold", *lines]
    if not rows:
        return "\n\n".join([*lines, "The version has no metrics."])
    return "\n\n".join([*lines, _table(_FIGURE_COLUMNS, rows), *_confidence(version, names)])


def _tests(version: Version, names: Mapping[str, str]) -> Iterator[str]:
    """The figures on test samples, which come first; nothing if there are none."""
    measured = held_out.by_trait(version.metrics)
    if not measured:
        return
    yield "### On test samples"
    said = [
        sentence for sentence in (held_out.headline(version.metrics), held_out.must_pass(version.metrics)) if sentence
    ]
    yield " ".join(["No version learns from test samples.", *(f"{each[0].upper()}{each[1:]}." for each in said)])
    yield _table(_TEST_COLUMNS, [_test_row(names.get(key, key), each) for key, each in measured.items()])


def _test_row(name: str, test: HeldOutFigures) -> tuple[str, ...]:
    span = " – ".join(map(_figure, test.auroc_interval)) if test.auroc_interval else _NONE
    area, brier, error = map(_figure, (test.auroc, test.brier, test.error))
    failed = f"{test.must_pass_failed:,} of {test.must_pass:,}" if test.must_pass else _NONE
    return name, area, span, brier, error, failed, test.measured_on or _NONE


def _confidence(version: Version, names: Mapping[str, str]) -> Iterator[str]:
    """How many held-out samples have each confidence, how many of these are right, and traits that are never sure."""
    traits = version.metrics.traits
    if known := {key: figures.confidence for key, figures in traits.items() if figures.confidence}:
        yield f"Held-out samples by confidence, and how many of these score on their own pole's side. {PROMISE}"
        yield _table(_CONFIDENCE_COLUMNS, [(names.get(key, key), *_counts(levels)) for key, levels in known.items()])
    never = {key: figures.confidence_reason for key, figures in traits.items() if figures.confidence_reason}
    if never:
        yield "\n".join(
            f"- **{_inline(names.get(key, key))}** has low confidence for every text. {REASONS[reason].trait}"
            for key, reason in never.items()
        )


def _counts(levels: Mapping[Confidence, Sureness]) -> Iterator[str]:
    for level in get_args(Confidence):
        each = levels.get(level)
        yield from (_NONE, _NONE) if each is None else (f"{each.samples:,}", f"{each.right:,}")


def _figures(name: str, figures: TraitMetrics) -> tuple[str, ...]:
    span = " – ".join(map(_figure, figures.auroc_interval)) if figures.auroc_interval else _NONE
    counts = ", ".join(f"{count:,} {side}" for side, count in figures.counts.items() if count)
    area, brier, error = map(_figure, (figures.auroc, figures.brier, figures.calibration_error))
    return name, area, span, brier, error, counts or _NONE, figures.measured_on or _NONE


def _figure(value: float | None) -> str:
    return _NONE if value is None else in_decimals(value, 3)


def _source(source: Mapping[str, Any]) -> str:
    """One bullet: the conventional fields in their order, then the others by name."""
    order = [name for name in _SOURCE_FIELDS if name in source] + sorted(set(source) - set(_SOURCE_FIELDS))
    parts = [_source_field(name, source[name]) for name in order if source[name] not in (None, "")]
    return "- " + ("; ".join(parts) or _NONE)


def _source_field(name: str, value: Any) -> str:
    address = isinstance(value, str) and _ADDRESS.fullmatch(value)
    shown = f"<{value}>" if address else _inline(str(value))
    return f"**{shown}**" if name == "name" else f"{_inline(name)}: {shown}"


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *([_inline(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _inline(text: str) -> str:
    """A text on one line, with Markdown escaped."""
    return _MARKS.sub(r"\\\1", _BARE_ADDRESS.sub(_JOINER, " ".join(text.split())))


def _block(text: str) -> str:
    """A text with its line breaks and Markdown escaped, so that no line starts a heading, list or quote."""
    return "\n".join(_line(line) for line in text.strip().splitlines())


def _line(line: str) -> str:
    return _NUMBERED.sub(r"\1\\\2", _BLOCK_MARK.sub(r"\\\1", _inline(line)))
