"""`traitbench models`, `export`, `import`, `fork` and `promote`: models, as files, and their next versions."""

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import click

from traitbench.cli.options import (
    STDIN,
    FileOptions,
    InputFile,
    Refused,
    answers,
    combined,
    confirm,
    connected,
    content_of,
    fields_of,
    given,
    reads_file,
    tell_problems,
    text_of,
    writes_file,
    yes,
)
from traitbench.cli.output import Listing, Output, say_fields, say_text, version_name
from traitbench.cli.read import ColumnOptions, labelled, reads_columns
from traitbench.client import Traitbench
from traitbench.contract.bundles import Bundle
from traitbench.contract.models import (
    ForkedFrom,
    LastOperation,
    Model,
    ModelCreate,
    ModelUpdate,
    State,
    VersionRetentionPolicy,
)
from traitbench.contract.page import LARGEST_PAGE
from traitbench.display.text import count
from traitbench.tables.file_model import FileModel, create, fill, missing_side, model_of, names_wrong, with_tests

_PURGE = """\
Zero data retention for {handle} deletes all samples, everything derived from their texts, and pending feedback, and
cancels an active run. This cannot be undone: switching it off later brings nothing back. Versions stay and continue to
score. From then on, feedback is refused, there is no automatic retraining, and new samples are deleted after the
training that used them."""
_ARCHIVE = """\
{handle} will be archived. It stays readable, but it no longer scores or changes. You can restore it for 30 days. Its
handle stays taken."""


@click.group()
def models() -> None:
    """List, show and manage models."""


@models.command("list")
@click.option("--namespace", help="Only models of this namespace, which the key owns.")
@click.option("--public", is_flag=True, help="Only models of the public catalog.")
@click.option("--state", type=click.Choice(get_args(State)), help="Only models in this state.")
@answers
def list_models(client: Traitbench, namespace: str | None, public: bool, state: str | None) -> Listing[Model]:
    """List models: those of your namespaces, then the public ones."""
    if public and namespace is not None:
        raise click.UsageError("Give --namespace or --public, not both.")
    return Listing(
        client.models.list(namespace=namespace, public=public, state=state),
        "model",
        ("HANDLE", "STATE", "VERSION", "TRAITS", "DESCRIPTION"),
        lambda each: (each.handle, each.state, version_name(each), ", ".join(each.traits), each.description),
    )


@models.command("show")
@click.argument("handle")
@answers
def show_model(client: Traitbench, handle: str) -> Output:
    """Show a model."""
    model = client.models.get(handle)
    return Output(model, lambda: _show(model, _forks(client, handle)))


# The options that `create` and `update` share.
_fields = combined(
    click.option("--description", help="What the model is for."),
    click.option("--max-depth", type=click.IntRange(1, 3), help="1 whole text, 2 paragraphs, 3 sentences."),
    click.option("--scoring-method", help="Only balanced_cosine is available."),
    click.option("--terms", "additional_terms", help="Terms of use, for the model card."),
    click.option(
        *("--readme", "readme_markdown"),
        type=InputFile(),
        callback=lambda _context, _option, file: file and text_of(file),
        help="A Markdown file for the model card; - for stdin.",
    ),
)


@models.command("create")
@fields_of(ModelCreate, without=("kind",))
@click.argument("handle")
@_fields
@click.option(
    "--zero-data-retention", is_flag=True, help="Delete samples after each training, and store no scored texts."
)
@click.option("--from", "file", type=InputFile(), help="A labelled file to make traits and samples of; - for stdin.")
@click.option("--no-tests", is_flag=True, help="With --from: set no samples aside for testing.")
@reads_file()
@reads_columns
@answers
def create_model(
    client: Traitbench,
    handle: str,
    file: str | None,
    no_tests: bool,
    of_file: FileOptions,
    of_columns: ColumnOptions,
    **fields: Any,
) -> Output:
    """Create a draft model; with --from, with the traits, samples and test samples that a labelled file makes.

    `traitbench read` says before what a file makes.
    """
    if file is None:
        model = client.models.create(handle, **given(**fields))
        return Output(model, f"{handle} is a draft. Add traits and samples, then train it.")
    plan = _planned(handle, file, of_file, of_columns, tests=not no_tests)
    create(client, plan, **given(**fields))
    fill(client, plan)
    traits = f"{count(len(plan.traits), 'trait')} and {count(len(plan.samples), 'sample')}"
    tests = sum(each.held_out for each in plan.samples)
    said = f"{handle} is a draft with {traits}, {tests:,} of them for testing. {plan.said}"
    return Output(client.models.get(handle), f"{said} Train it: traitbench train {handle}")


def _planned(handle: str, file: str, of_file: FileOptions, of_columns: ColumnOptions, *, tests: bool) -> FileModel:
    """Return the model that a file makes, as the page From a file does; say on stderr what each column is."""
    # Imported here: choosing test samples is heavy, and other commands do not.
    from traitbench.local import held_out

    source = of_file.open(file)
    reading = of_columns.read(source, of_file)
    if reading.column is not None and of_file.clean:
        reading = of_columns.read(source.with_clean([reading.column], of_file.clean), of_file)
    for line in (*reading.said, *reading.notes):
        click.echo(f"{file}: {line}", err=True)
    traits = labelled(reading).traits
    read = reading.samples(traits)
    samples = (
        with_tests(reading, read.samples, lambda some: frozenset(held_out.aside(some).ids)) if tests else read.samples
    )
    tell_problems([(each.row, f"{each.column} {each.reason}".strip()) for each in read.problems])
    if why := next(filter(None, names_wrong(traits)), "") or missing_side(traits, samples):
        raise Refused(why)
    return model_of(reading, traits, read, samples, handle=handle, source="stdin" if file == STDIN else Path(file).name)


@models.command("update")
@fields_of(ModelUpdate)
@click.argument("handle")
@_fields
@click.option("--keep-unnamed", type=click.IntRange(0), help="The number of untagged versions that pruning keeps.")
@click.option(
    "--keep-first-of-month/--drop-first-of-month",
    default=None,
    help="Whether pruning keeps the first version of each month.",
)
@click.option("--default-pruning", is_flag=True, help="Restore the default: 100 untagged and the first of each month.")
@click.option(
    "--zero-data-retention/--data-retention", default=None, help="Store no texts; existing samples are deleted at once."
)
@click.option(
    "--hold-if-worse/--always-activate",
    default=None,
    help="Whether a retrained version that is worse waits for a decision instead of serving.",
)
@click.option(
    "--language-model/--no-language-model",
    "language_model_allowed",
    default=None,
    help="Whether synthesis may send texts to the language model of the service, although nothing is retained here.",
)
@click.option("--main-trait", help="The key or name of the trait that is shown first; '' for none.")
@click.option(
    "--demo-text", "demo_texts", multiple=True, help="A text to show the model with. Repeat it; the list is replaced."
)
@click.option("--no-demo-texts", is_flag=True, help="Empty the list of demo texts.")
@yes
@answers
def update_model(
    client: Traitbench,
    handle: str,
    default_pruning: bool,
    demo_texts: tuple[str, ...],
    no_demo_texts: bool,
    yes: bool,
    **fields: Any,
) -> Output:
    """Change the given fields of a model."""
    changes = given(**fields)
    pruning = {name: changes.pop(name) for name in VersionRetentionPolicy.model_fields if name in changes}
    if pruning and default_pruning:
        raise click.UsageError("Give --default-pruning or the other pruning options, not both.")
    if demo_texts and no_demo_texts:
        raise click.UsageError("Give --demo-text or --no-demo-texts, not both.")
    if "main_trait" in changes:
        changes["main_trait"] = changes["main_trait"] or None
    if demo_texts or no_demo_texts:
        changes["demo_texts"] = [*demo_texts]
    if pruning or default_pruning:
        changes["version_retention_policy"] = _policy(client, handle, pruning) if pruning else None
    if not changes:
        raise click.UsageError("Give at least one field to change.")
    forks = _forks(client, handle) if changes.get("zero_data_retention") else []
    if changes.get("zero_data_retention") and not client.models.get(handle).zero_data_retention:
        archived = [each.handle for each in forks if each.state == "archived" and not each.zero_data_retention]
        also = f"\nIts archived forks lose their samples too: {', '.join(archived)}." if archived else ""
        confirm(_PURGE.format(handle=handle) + also, yes=yes)
    model = client.models.update(handle, **changes)
    for each in forks:
        if each.state != "archived" and not each.zero_data_retention:
            command = f"traitbench models update {each.handle} --zero-data-retention"
            click.echo(f"Its fork {each.handle} keeps its samples. To delete them too: {command}", err=True)
    return Output(model, f"Updated {handle}.")


@models.command("delete")
@click.argument("handle")
@yes
@answers
def delete_model(client: Traitbench, handle: str, yes: bool) -> Output:
    """Archive a model. `models restore` brings it back within 30 days."""
    confirm(_ARCHIVE.format(handle=handle), yes=yes)
    return Output(client.models.delete(handle), f"Archived {handle}.")


@models.command("restore")
@click.argument("handle")
@answers
def restore_model(client: Traitbench, handle: str) -> Output:
    """Restore a model that was archived in the last 30 days."""
    model = client.models.restore(handle)
    return Output(model, f"{handle} is restored. Its state is {model.state}.")


@models.command("card")
@click.argument("handle")
def show_card(handle: str) -> None:
    """Print the model card as Markdown."""
    with connected() as client:
        say_text(client.models.card(handle))


def _policy(client: Traitbench, handle: str, changes: dict[str, Any]) -> VersionRetentionPolicy:
    """Return the policy in force with these changes."""
    policy = client.models.get(handle).version_retention_policy or VersionRetentionPolicy()
    return policy.model_copy(update=changes)


def _forks(client: Traitbench, handle: str) -> list[Model]:
    return list(client.models.list(forked_from=handle, limit=LARGEST_PAGE))


def _show(model: Model, forks: Sequence[Model]) -> None:
    policy = model.version_retention_policy
    say_fields(
        (
            ("handle", model.handle),
            ("state", _state(model)),
            ("version", " ".join((version_name(model), *model.version_tags))),
            ("traits", ", ".join(model.traits) or "-"),
            ("main trait", model.main_trait),
            ("description", model.description or "-"),
            ("demo texts", len(model.demo_texts) or None),
            ("scoring", f"{model.scoring_method}, depth {model.max_depth}"),
            ("zero data retention", "on" if model.zero_data_retention else "off"),
            ("hold if worse", "on" if model.hold_if_worse else "off"),
            ("on hold", None if model.held_version_no is None else f"v{model.held_version_no}"),
            ("pruning", _pruning(policy) if policy else f"default: {_pruning(VersionRetentionPolicy())}"),
            ("last operation", _operation(model.last_operation)),
            ("forked from", _origin(model.forked_from) if model.forked_from else None),
            ("forks", ", ".join(f"{each.handle} ({each.state})" for each in forks) or None),
        )
    )


def _state(model: Model) -> str:
    return model.state if model.archived_at is None else f"{model.state} since {model.archived_at:%Y-%m-%d}"


def _origin(lineage: ForkedFrom) -> str:
    return lineage.handle if lineage.version_no is None else f"{lineage.handle} v{lineage.version_no}"


def _pruning(policy: VersionRetentionPolicy) -> str:
    first = " and the first of each month" if policy.keep_first_of_month else ""
    return f"keeps {policy.keep_unnamed} untagged{first}"


def _operation(operation: LastOperation | None) -> str:
    if operation is None:
        return "-"
    why = f": {operation.error.message}" if operation.error else ""
    return f"{operation.kind} {operation.status}, started {operation.started_at:%Y-%m-%d %H:%M} UTC{why}"


@click.command()
@click.argument("handle")
@writes_file("The file to write. Default: stdout.")
def export(handle: str, output: str | None) -> None:
    """Export a whole model as one file."""
    with connected() as client:
        bundle = client.models.export(handle)
    document = bundle.model_dump_json(exclude_unset=True)
    if output in (None, STDIN):
        click.echo(document)
        return
    _write(Path(output or ""), f"{document}\n")
    samples = "no samples" if bundle.samples is None else count(len(bundle.samples), "sample")
    contents = (count(len(bundle.traits), "trait"), samples, count(len(bundle.versions), "version"))
    click.echo(f"{output}: {', '.join(contents)}", err=True)


@click.command("import")
@click.argument("file", type=InputFile())
@click.option("--handle", help="The handle of the imported model. Default: the one in the file.")
@answers
def import_(client: Traitbench, file: str, handle: str | None) -> Output:
    """Import a model that was exported.

    A FILE that was changed, or whose parts contradict each other, is refused.
    """
    try:
        bundle = Bundle.model_validate_json(content_of(file))
    except ValueError as error:
        raise Refused(
            f"{file} is not a model exported from Traitbench, or the file is damaged. Export it again."
        ) from error
    model = client.models.import_(bundle, handle=handle)
    return Output(model, f"{model.handle} is {model.state}: {version_name(model)}")


def _write(path: Path, text: str) -> None:
    """Write atomically: an existing file stays until the new one is complete."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise Refused(f"{path} cannot be written: {error.strerror}.") from error


@click.command()
@click.argument("handle")
@click.argument("new_handle", metavar="NEW")
@answers
def fork(client: Traitbench, handle: str, new_handle: str) -> Output:
    """Make the draft NEW with the traits, samples and settings of a model.

    Change and train it without touching the model, then `traitbench promote` it.
    """
    model = client.models.fork(handle, new_handle)
    lineage = model.forked_from
    origin = handle if lineage is None or lineage.version_no is None else f"v{lineage.version_no} of {handle}"
    return Output(model, f"{model.handle} is a draft forked from {origin}. Change it, then train it.")


@click.command()
@click.argument("handle")
@click.option("--from", "from_", metavar="FORK", required=True, help="The fork whose active version is promoted.")
@click.option("--force", is_flag=True, help="Promote even if the model has changed since the fork was made.")
@click.option("--keep", is_flag=True, help="Keep the fork instead of archiving it.")
@answers
def promote(client: Traitbench, handle: str, from_: str, force: bool, keep: bool) -> Output:
    """Make the active version of a fork the next version of a model.

    The fork's traits and samples become the model's. Feedback that the model got since the fork was made is kept and
    waits for the next retrain. Earlier versions stay.
    """
    version = client.models.promote(handle, from_=from_, force=force, keep=keep)
    lineage = version.metrics.promoted_from
    rest = "" if keep else f" {from_} is archived."
    if lineage is not None and lineage.feedback_carried:
        rest += f" Waiting for the next retrain: {count(lineage.feedback_carried, 'sample')} of feedback."
    if lineage is not None and lineage.feedback_dropped:
        dropped = count(lineage.feedback_dropped, "sample")
        rest += f" Dropped, because the trait is gone: {dropped} of feedback."
    return Output(version, f"v{version.version_no} of {handle} now serves scores.{rest}")
