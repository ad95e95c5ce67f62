"""`traitbench traits`: list, add, update, delete, discover."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, get_args

import click

from traitbench.cli.options import Refused, as_json, confirm, connected, waits, yes
from traitbench.cli.output import say, say_lines, say_table, say_unreadable
from traitbench.cli.runs import follow
from traitbench.client.pages import ListedRows
from traitbench.contract.models import Effort
from traitbench.contract.traits import MOST_UNLABELLED, Aggregation, Trait, TraitInput
from traitbench.errors import DuplicateTrait

Command = TypeVar("Command", bound=Callable[..., Any])


@click.group()
def traits() -> None:
    """Manage the traits of a model."""


@traits.command("list")
@click.argument("handle")
@as_json
def list_traits(handle: str, as_json: bool) -> None:
    """List the traits."""
    with connected() as client:
        listing = client.traits.list(handle)
    if as_json:
        say_lines(listing)
        say_unreadable(listing.unreadable, "trait")
    else:
        _say(listing)


def _fields(command: Command) -> Command:
    """Add the options that `add` and `update` share."""
    for option in reversed((
        click.option("--description", help="What the trait measures."),
        click.option("--positive", "positive_label", help="The label of the positive pole."),
        click.option("--negative", "negative_label", help="The label of the negative pole."),
        click.option("--aggregation", type=click.Choice(get_args(Aggregation)), help="How to combine scores of parts."),
    )):  # fmt: skip
        command = option(command)
    return command


@traits.command("add")
@click.argument("handle")
@click.argument("name")
@click.option("--key", help="The key of the trait. Default: made from NAME, which must not give another trait's key.")
@_fields
@as_json
def add_trait(handle: str, name: str, as_json: bool, **fields: Any) -> None:
    """Add a trait, or change the one with the same name or, if --key is given, the same key."""
    given = {field: value for field, value in fields.items() if value is not None}
    with connected() as client:
        # Not validated here, because the service reports what is wrong.
        sent = TraitInput.model_construct(_fields_set={"name", *given}, name=name, **given)
        try:
            [trait] = client.traits.add(handle, [sent])
        except DuplicateTrait as error:
            raise _with_free_key(error) from error
    say(trait, f"{handle} has the trait {trait.key}: {trait.negative_label} … {trait.positive_label}", as_json=as_json)


@traits.command("update")
@click.argument("handle")
@click.argument("key")
@click.option("--name", help="The new name. The key does not change.")
@click.option("--flip", is_flag=True, default=None, help="Exchange the poles of a discovered trait.")
@click.option(
    "--keep/--suggestion",
    default=None,
    help="Keep a discovered trait when discovery runs again, or make it a suggestion that the next run replaces.",
)
@_fields
@as_json
def update_trait(handle: str, key: str, as_json: bool, **fields: Any) -> None:
    """Change the given fields of a trait."""
    keep = fields.pop("keep")
    fields["suggestion"] = None if keep is None else not keep
    if all(value is None for value in fields.values()):
        raise click.UsageError("Give at least one field to change.")
    with connected() as client:
        trait = client.traits.update(handle, key, **fields)
    say(trait, f"{handle} has the trait {trait.key}: {trait.negative_label} … {trait.positive_label}", as_json=as_json)


@traits.command("delete")
@click.argument("handle")
@click.argument("key")
@yes
@as_json
def delete_trait(handle: str, key: str, yes: bool, as_json: bool) -> None:
    """Delete a trait and its samples."""
    with connected() as client:
        count = client.traits.get(handle, key).sample_count
        if count:
            confirm(f"This deletes the samples of {key} too: {count}.", yes=yes)
        deleted = client.traits.delete(handle, key)
    say(deleted, f"Deleted the trait {key} of {handle}.", as_json=as_json)


@traits.command("discover")
@click.argument("handle")
@click.option("--effort", type=click.Choice(get_args(Effort)), help="How many candidates to consider.")
@click.option(
    "--texts",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help=f"A file with texts without labels, one per line, to analyse too; at most {MOST_UNLABELLED:,}.",
)
@waits
@as_json
def discover_traits(handle: str, effort: Effort | None, texts: Path | None, wait: bool, as_json: bool) -> None:
    """Look for traits in the samples of a draft."""
    lines = _lines(texts) if texts else []
    with connected() as client:
        started = client.traits.discover(handle, effort=effort, texts=lines)
        if follow(client, handle, started, wait=wait, as_json=as_json) and not as_json:
            _say(client.traits.list(handle))


def _lines(file: Path) -> list[str]:
    """Return the lines of a file that are not blank."""
    try:
        lines = file.read_text("utf-8").splitlines()
    except UnicodeDecodeError:
        raise Refused(f"{file} is not UTF-8 text. Save it as UTF-8, one text per line.") from None
    return [line.strip() for line in lines if line.strip()]


def _with_free_key(error: DuplicateTrait) -> Exception:
    """Return the error with the option that avoids it, if there is one."""
    free = next((each.get("free_key") for each in error.details.get("errors", ())), None)
    return Refused(f"{error}\nTo add it beside the other trait, use: --key {free}") if free else error


def _say(listing: ListedRows[Trait]) -> None:
    heads = ("KEY", "NAME", "NEGATIVE", "POSITIVE", "SAMPLES", "+", "-", "KIND", "DISCRIMINATION", "AGGREGATION")
    say_table(
        heads,
        [
            (
                *(each.key, each.name, each.negative_label, each.positive_label),
                *(each.sample_count, each.positive_samples, each.negative_samples, each.kind),
                "-" if each.discrimination is None else f"{each.discrimination:.3f}",
                each.aggregation,
            )
            for each in listing
        ],
    )
    say_unreadable(listing.unreadable, "trait")
