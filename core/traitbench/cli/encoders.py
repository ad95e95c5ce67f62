"""`traitbench encoder`: check a folder with an encoder, which needs no service, and compare encoders on samples."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click

from traitbench.cli.options import Refused, as_json, connected
from traitbench.cli.output import RowProgress, say_fields, say_table
from traitbench.client import Traitbench
from traitbench.contract.models import DEFAULT_EFFORT, Model, TrainEffort
from traitbench.contract.page import LARGEST_SAMPLE_PAGE
from traitbench.contract.versions import Version
from traitbench.settings import read_settings

if TYPE_CHECKING:
    from traitbench.comparison.encoders import EncoderCandidate, EncoderComparison, Inputs
    from traitbench.encoders import Encoder, EncoderUnavailable
    from traitbench.encoders.check import Report, SentencePair


@click.group()
def encoder() -> None:
    """Check encoders in folders, and compare encoders on the samples of a model."""


@encoder.command("check")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@as_json
def check_folder(folder: Path, as_json: bool) -> None:
    """Show how TRAITBENCH_ENCODER=FOLDER would be read, and why.

    Prints the graph, its precision, pooling, prompt, length and speed, and compares ten pairs of sentences. The exit
    code is 1 if the folder is refused or the vectors do not make sense. For a choice that the folder leaves open, the
    command prints what to write into traitbench.json. The service need not run.
    """
    # Imported here: reading models is heavy, and other commands need none of it.
    from traitbench.encoders import EncoderUnavailable
    from traitbench.encoders.check import check

    path = folder.absolute()
    try:
        report = check(path, cache=read_settings().cache)
    except EncoderUnavailable as error:
        if as_json:
            click.echo(json.dumps(_refusal(path, error), indent=2))
        raise
    if as_json:
        click.echo(json.dumps(report.to_json(), indent=2))
    else:
        _say(report)
    if not report.sane:
        raise Refused(
            f"The vectors do not make sense: in {25 - report.in_order} of 25 comparisons, a dissimilar pair of"
            " sentences is as close as a similar one. Check the graph, its tokenizer and its language (English)."
        )


@encoder.command("compare")
@click.argument("handle")
@click.option(
    "--with",
    "others",
    metavar="ENCODER",
    multiple=True,
    required=True,
    help="An installed encoder (multilingual, minilm-full, minilm, static, ngrams) or a folder; can be repeated.",
)
@click.option(
    "--effort",
    type=click.Choice(get_args(TrainEffort)),
    default=DEFAULT_EFFORT,
    help=f"How many settings to try. Default: {DEFAULT_EFFORT}, as in a training.",
)
@as_json
def compare_encoders(handle: str, others: tuple[str, ...], effort: TrainEffort, as_json: bool) -> None:
    """Compare encoders on the samples of a model.

    The encoder that the next training of the model takes is compared with each ENCODER on the
    same samples and folds, out of fold. The samples come from the service; encoding and fitting happen here. No text is
    stored.
    """
    from traitbench.comparison import encoders

    _check(others)
    with connected() as client:
        model = client.models.get(handle)
        version = None if model.version_no is None else client.versions.get(handle, "active")
        loaded = _encoders(others, version)
        given = _samples_of(client, model)
    if version is not None and (note := encoders.other_encoder(version, next(iter(loaded.values())))):
        click.echo(note, err=True)
    candidates = [encoders.timed(name, each, list(given.texts.values())) for name, each in loaded.items()]
    report = _run(candidates, given, effort=effort, handle=handle)
    if as_json:
        click.echo(json.dumps({"handle": handle, **report.to_json()}, indent=2, ensure_ascii=False))
    else:
        _say_comparison(report, handle)
    if not any(trait.figures for trait in report.traits):
        raise Refused("No trait could be compared: each needs at least two distinct samples at both poles.")


def _check(others: Sequence[str]) -> None:
    """Raise a usage error for what is neither an encoder's name nor a folder."""
    from traitbench.encoders.registry import NAMES, built_in

    for given, name in zip(others, _names(others), strict=True):
        if name is None or (not built_in(name) and not Path(name).is_dir()):
            raise click.UsageError(
                f"There is no encoder {given!r}. --with takes {', '.join(NAMES)}, or the path of a folder (./name for"
                " one in the current folder)."
            )


def _names(others: Sequence[str]) -> list[str | None]:
    """Names and absolute paths, as a TRAITBENCH_ENCODER setting is read."""
    return [read_settings({"TRAITBENCH_ENCODER": each}).encoder for each in others]


def _encoders(others: Sequence[str], version: Version | None) -> "dict[str, Encoder]":
    """The current encoder of the model and the others, by name."""
    from traitbench.comparison import encoders
    from traitbench.encoders.registry import built_in, load_encoder

    settings = read_settings()
    names = [built_in(name) or name for name in _names(others)]
    first, encoder = encoders.current(settings.encoder, cache=settings.cache, version=version)
    loaded = {first: encoder} | {name: load_encoder(name, cache=settings.cache) for name in names if name}
    if len({each.digest for each in loaded.values()}) <= len(set(names)):
        raise click.UsageError(f"--with names {first}, the current encoder, or the same encoder twice. Name others.")
    return loaded


def _samples_of(client: Traitbench, model: Model) -> "Inputs":
    from traitbench.comparison import encoders

    traits = client.traits.list(model.handle)
    samples = [] if model.zero_data_retention else list(client.samples.list(model.handle, limit=LARGEST_SAMPLE_PAGE))
    given = encoders.inputs(model, traits, samples)
    if given.left_out:
        click.echo(
            f"Only the newest {encoders.MOST:,} samples are compared; {given.left_out:,} are left out.", err=True
        )
    return given


def _run(candidates: "Sequence[EncoderCandidate]", given: "Inputs", *, effort: str, handle: str) -> "EncoderComparison":
    from traitbench.comparison import encoders

    cache = read_settings().cache
    names = ", ".join(each.name for each in candidates)
    click.echo(f"Comparing {names} on {len(given.texts):,} texts of {handle}.", err=True)
    total = (len(given.texts) + len(given.traits)) * len(candidates)
    progress = RowProgress("Comparing", total)
    try:
        return encoders.compare_encoders(
            candidates,
            given,
            effort=effort,
            cache=cache,
            on_progress=lambda done, _total: progress.at(done),
        )
    finally:
        progress.end(total)


def _say_comparison(report: "EncoderComparison", handle: str) -> None:
    from traitbench.comparison import encoders

    rows = encoders.rows(report)
    if rows:
        say_table(tuple(name.upper() for name in encoders.COLUMNS), rows)
        click.echo()
    for trait in report.traits:
        if trait.why_not:
            click.echo(f"{trait.key}: {trait.why_not}")
    say_table(
        ("ENCODER", "MS A TEXT", "MEGABYTES", "ID"),
        [
            (each.name, f"{each.ms_per_text:.2f}", f"{each.megabytes:.0f}", each.encoder.id)
            for each in report.candidates
        ],
    )
    click.echo(f"\n{encoders.sentence(report)}")
    if report.preferable:
        click.echo(encoders.how_to_switch(handle, report.preferable[0]))


def _say(report: "Report") -> None:
    say_fields(
        (
            ("folder", report.folder),
            ("encoder", f"{report.id}, {report.dimension:,} numbers a text with the blocks that Traitbench adds"),
            *((fact.name, f"{fact.value}. {fact.why}") for fact in report.facts),
            ("speed", f"{report.ms_per_text:.2f} ms a text (median of short texts, one at a time)"),
        )
    )
    click.echo()
    say_table(("COSINE", "EXPECTED", "SENTENCES"), _rows(report.pairs))
    click.echo(f"\n{report.in_order} of 25 comparisons of a similar with a dissimilar pair are in order.")


def _rows(pairs: "Sequence[SentencePair]") -> list[tuple[str, str, str]]:
    return [
        (f"{pair.cosine:.2f}", f"{'' if pair.similar else 'dis'}similar", f"{pair.first} / {pair.second}")
        for pair in pairs
    ]


def _refusal(folder: Path, error: "EncoderUnavailable") -> dict[str, object]:
    from traitbench.encoders.folder_settings import ChoiceOpen

    answer: dict[str, object] = {"folder": str(folder), "usable": False, "sane": None, "error": str(error)}
    if isinstance(error, ChoiceOpen):
        answer["write"] = {"file": str(error.file), "example": error.example}
        answer["choices"] = [
            {"setting": choice.setting, "question": choice.question, "options": list(choice.options)}
            for choice in error.choices
        ]
    return answer
