"""`traitbench traits`: list, add, update, delete, discover."""

from typing import Any, get_args

import click

from traitbench.analysis.condition import says_nothing
from traitbench.cli.options import (
    FileOptions,
    InputFile,
    Refused,
    answers,
    combined,
    confirm,
    fields_of,
    given,
    reads_file,
    text_of,
    waits,
    yes,
)
from traitbench.cli.output import Listing, Output
from traitbench.cli.runs import Run
from traitbench.client import Traitbench
from traitbench.contract.models import Effort
from traitbench.contract.traits import MOST_UNLABELLED, Aggregation, Trait, TraitInput, TraitUpdate
from traitbench.display.text import count
from traitbench.errors import DuplicateTrait

_TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet", ".pq", ".xlsx")


@click.group()
def traits() -> None:
    """Manage the traits of a model."""


@traits.command("list")
@click.argument("handle")
@answers
def list_traits(client: Traitbench, handle: str) -> Listing[Trait]:
    """List the traits."""
    return _listing(client, handle)


# The options that `add` and `update` share.
_fields = combined(
    click.option("--description", help="What the trait measures."),
    click.option("--positive", "positive_label", help="The label of the positive pole."),
    click.option("--negative", "negative_label", help="The label of the negative pole."),
    click.option("--aggregation", type=click.Choice(get_args(Aggregation)), help="How to combine scores of parts."),
)


@traits.command("add")
@fields_of(TraitInput)
@click.argument("handle")
@click.argument("name")
@click.option("--key", help="The key of the trait. Default: made from NAME, which must not give another trait's key.")
@_fields
@answers
def add_trait(client: Traitbench, handle: str, **fields: Any) -> Output:
    """Add a trait, or change the one with the same name or, if --key is given, the same key."""
    # Not validated here, because the service reports what is wrong.
    sent = TraitInput.model_construct(_fields_set={*given(**fields)}, **given(**fields))
    try:
        [trait] = client.traits.add(handle, [sent])
    except DuplicateTrait as error:
        raise _with_free_key(error) from error
    return _changed(handle, trait)


@traits.command("update")
@fields_of(TraitUpdate)
@click.argument("handle")
@click.argument("key")
@click.option("--name", help="The new name. The key does not change.")
@click.option("--index", type=int, help="Where to move it among the traits of the model: 0 is the first.")
@click.option("--flip", is_flag=True, default=None, help="Exchange the poles of a discovered trait.")
@click.option(
    *("--keep/--suggestion", "suggestion"),
    default=None,
    callback=lambda _context, _option, keep: None if keep is None else not keep,
    help="Keep a discovered trait when discovery runs again, or make it a suggestion that the next run replaces.",
)
@_fields
@answers
def update_trait(client: Traitbench, handle: str, key: str, **fields: Any) -> Output:
    """Change the given fields of a trait."""
    if all(value is None for value in fields.values()):
        raise click.UsageError("Give at least one field to change.")
    return _changed(handle, client.traits.update(handle, key, **fields))


@traits.command("delete")
@click.argument("handle")
@click.argument("key")
@yes
@answers
def delete_trait(client: Traitbench, handle: str, key: str, yes: bool) -> Output:
    """Delete a trait and its samples."""
    samples = client.traits.get(handle, key).sample_count
    if samples:
        confirm(f"This deletes the samples of {key} too: {samples}.", yes=yes)
    return Output(client.traits.delete(handle, key), f"Deleted the trait {key} of {handle}.")


@traits.command("discover")
@click.argument("handle")
@click.option("--effort", type=click.Choice(get_args(Effort)), help="How many candidates to consider.")
@click.option(
    "--texts",
    type=InputFile(),
    help=f"A table of texts without labels, or a file with one per line, to analyse too; at most {MOST_UNLABELLED:,}.",
)
@click.option("--with-nothing", "whole", is_flag=True, help="Keep texts that say nothing, such as n/a.")
@reads_file()
@waits
@answers
def discover_traits(
    client: Traitbench,
    handle: str,
    effort: Effort | None,
    texts: str | None,
    whole: bool,
    of_file: FileOptions,
    wait: bool,
) -> Run:
    """Look for traits in the samples of a draft."""
    unlabelled = _unlabelled(texts, of_file, whole=whole) if texts else []
    started = client.traits.discover(handle, effort=effort, texts=unlabelled)
    return Run(client, handle, started, wait, lambda _: _listing(client, handle).say(as_json=False))


def _unlabelled(file: str, of_file: FileOptions, *, whole: bool) -> list[str]:
    """Return the texts of a table or of a list, without those that say nothing unless `whole`."""
    if file.lower().endswith(_TABLES):
        source, column = of_file.texts(file, of_file.open(file))
        texts = [text.strip() for text in source.texts(column) if text.strip()]
    else:
        texts = [line.strip() for line in text_of(file).splitlines() if line.strip()]
    some = texts if whole else [text for text in texts if not says_nothing(text)]
    if left := len(texts) - len(some):
        click.echo(f"{count(left, 'text')} left out, because they say nothing. To keep them: --with-nothing.", err=True)
    return some


def _with_free_key(error: DuplicateTrait) -> Exception:
    """Return the error with the option that avoids it, if there is one."""
    free = next((each.get("free_key") for each in error.details.get("errors", ())), None)
    return Refused(f"{error}\nTo add it beside the other trait, use: --key {free}") if free else error


def _changed(handle: str, trait: Trait) -> Output:
    return Output(trait, f"{handle} has the trait {trait.key}: {trait.negative_label} … {trait.positive_label}")


def _listing(client: Traitbench, handle: str) -> Listing[Trait]:
    heads = ("KEY", "NAME", "NEGATIVE", "POSITIVE", "SAMPLES", "+", "-", "KIND", "DISCRIMINATION", "AGGREGATION")
    return Listing(
        client.traits.list(handle),
        "trait",
        heads,
        lambda each: (
            *(each.key, each.name, each.negative_label, each.positive_label),
            *(each.sample_count, each.positive_samples, each.negative_samples, each.kind),
            None if each.discrimination is None else f"{each.discrimination:.3f}",
            each.aggregation,
        ),
    )
