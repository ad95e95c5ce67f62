"""`traitbench versions`: list, show, samples, tag, untag, activate. `traitbench activations`."""

from functools import cache

import click

from traitbench.cli.options import answers
from traitbench.cli.output import Listing, Output, say_fields, say_table
from traitbench.client import Traitbench
from traitbench.contract.metrics import HeldOutFigures, Metrics, TraitMetrics
from traitbench.contract.page import LARGEST_PAGE
from traitbench.contract.rounding import in_decimals
from traitbench.contract.versions import Activation, Version, VersionSample
from traitbench.display import held_out
from traitbench.display.words import REASONS
from traitbench.names import parse_version


@click.group()
def versions() -> None:
    """Manage the trained versions of a model."""


@versions.command("list")
@click.argument("handle")
@answers
def list_versions(client: Traitbench, handle: str) -> Listing[Version]:
    """List versions, newest first."""
    active = cache(lambda: client.models.get(handle).version_no)  # JSON does without it
    return Listing(
        client.versions.list(handle, limit=LARGEST_PAGE),
        "version",
        ("VERSION", "", "TAGS", "BY", "SAMPLES", "TEST AUROC", "AUROC", "MADE"),
        lambda each: (
            f"v{each.version_no}",
            "active" if each.version_no == active() else "",
            ",".join(each.tags),
            each.triggered_by,
            each.sample_count,
            _on_tests(each.metrics),
            _figure(each.metrics.auroc),
            f"{each.created_at:%Y-%m-%d %H:%M}",
        ),
    )


@versions.command("show")
@click.argument("handle")
@click.argument("version", default="active")
@answers
def show_version(client: Traitbench, handle: str, version: str) -> Output:
    """Show a VERSION: vN, a tag, or active (default). --json includes its snapshot."""
    detail = client.versions.get(handle, version)
    return Output(detail, lambda: _say(detail))


@versions.command("samples")
@click.argument("handle")
@click.argument("version", default="active")
@answers
def list_samples(client: Traitbench, handle: str, version: str) -> Listing[VersionSample]:
    """List the samples of a VERSION with their positions when they were held out: 0 to 1, and on which side."""
    return Listing(
        client.versions.samples(handle, version),
        "sample",
        ("SAMPLE", "TRAIT", "POSITION", "LABEL", "MEASURED"),
        lambda each: (
            each.sample_id,
            each.trait,
            None if each.position is None else in_decimals(each.position, 3),
            {True: "right", False: "wrong", None: None}[each.right],
            "test sample" if each.held_out else "not seen",
        ),
    )


@versions.command("tag")
@click.argument("handle")
@click.argument("name")
@click.option("--version", help="The version to tag, such as v3. Default: the active one.")
@click.option("--note", help="A note for the tag, at most 500 characters. Without one, an earlier note is removed.")
@answers
def tag_version(client: Traitbench, handle: str, name: str, version: str | None, note: str | None) -> Output:
    """Tag a version with NAME. A tag that exists moves to it."""
    tagged = client.versions.tag(handle, name, version=version, note=note)
    return Output(tagged, f"Tagged v{tagged.version_no} of {handle} as {tagged.tag}.")


@versions.command("untag")
@click.argument("handle")
@click.argument("name")
@answers
def untag_version(client: Traitbench, handle: str, name: str) -> Output:
    """Remove the tag NAME. The version stays."""
    untagged = client.versions.untag(handle, name)
    return Output(untagged, f"Removed the tag {untagged.tag} from {handle}.")


@versions.command("activate")
@click.argument("handle")
@click.argument("version")
@answers
def activate_version(client: Traitbench, handle: str, version: str) -> Output:
    """Make a VERSION (vN or a tag) serve scores."""
    activated = client.versions.activate(handle, **{"tag" if parse_version(version) is None else "version": version})
    return Output(activated, f"v{activated.version_no} of {handle} now serves scores.")


@click.command()
@click.argument("handle")
@answers
def activations(client: Traitbench, handle: str) -> Listing[Activation]:
    """List which version of a model served when, newest first."""
    return Listing(
        client.versions.activations(handle, limit=LARGEST_PAGE),
        "activation",
        ("SINCE (UTC)", "VERSION", "BEFORE", "CAUSE", "BY"),
        lambda each: (
            f"{each.activated_at:%Y-%m-%d %H:%M:%S}",
            f"v{each.version_no}",
            None if each.previous_version_no is None else f"v{each.previous_version_no}",
            each.cause,
            each.by,
        ),
    )


def _say(version: Version) -> None:
    say_fields(
        (
            ("version", " ".join((f"v{version.version_no}", *version.tags))),
            *((f"note of {tag}", note) for tag, note in version.tag_notes.items()),
            ("made", f"{version.created_at:%Y-%m-%d %H:%M} UTC by {version.triggered_by}"),
            ("samples", version.sample_count),
            ("encoder", encoder.id if (encoder := version.metrics.encoder) and encoder.id else "-"),
            ("hash", version.param_hash),
            ("on hold", version.metrics.held.because if version.metrics.held else None),
        )
    )
    _say_shortcuts(version)
    _say_tests(version.metrics)
    if version.metrics.traits:
        click.echo()
        say_table(
            ("TRAIT", "AUROC", "95 %", "BRIER", "CALIBRATION", "MEASURED ON"),
            [
                (key, *_area(each), *map(_figure, (each.brier, each.calibration_error)), each.measured_on or "")
                for key, each in version.metrics.traits.items()
            ],
        )
        _say_confidence(version)


def _say_tests(metrics: Metrics) -> None:
    """Print the figures on test samples, if there are any."""
    tests = held_out.by_trait(metrics)
    if not tests:
        return
    said = [sentence for sentence in (held_out.headline(metrics), held_out.must_pass(metrics)) if sentence]
    click.echo(f"\nOn test samples: {'; '.join(said) or 'not measured'}")
    say_table(
        ("TRAIT", "AUROC", "95 %", "BRIER", "WRONG SIDE", "MEASURED ON"),
        [
            (key, *_area(each), *map(_figure, (each.brier, each.error)), each.measured_on or "")
            for key, each in tests.items()
        ],
    )
    click.echo("\nOut of fold:")


def _on_tests(metrics: Metrics) -> str:
    """`0.921 (24)`: the mean AUROC and the number of test samples; a dash without test samples."""
    mean, tests = held_out.mean_auroc(metrics), held_out.by_trait(metrics).values()
    return "-" if mean is None else f"{_figure(mean)} ({sum(each.samples for each in tests):,})"


def _say_shortcuts(version: Version) -> None:
    """Say on stderr, before any figure, what alone tells the poles of a trait apart."""
    for key, each in version.metrics.traits.items():
        if each.shortcut is not None:
            click.echo(f"{key}: {each.shortcut.says} Check on the page Samples names it.", err=True)


def _say_confidence(version: Version) -> None:
    """Say on stderr which traits are never sure."""
    for key, each in version.metrics.traits.items():
        if each.confidence_reason:
            click.echo(f"{key}: low confidence for every text. {REASONS[each.confidence_reason].trait}", err=True)


def _area(figures: TraitMetrics | HeldOutFigures) -> tuple[str, str]:
    span = " - ".join(map(_figure, figures.auroc_interval)) if figures.auroc_interval else "-"
    return _figure(figures.auroc), span


def _figure(value: float | None) -> str:
    return "-" if value is None else in_decimals(value, 3)
