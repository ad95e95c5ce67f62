"""`traitbench traits`: list, add, update, delete, discover."""

from collections.abc import Callable
from typing import Any, TypeVar, get_args

import click

from traitbench.app.commands.asking import as_json, confirm, connected, waits, yes
from traitbench.app.commands.runs import follow
from traitbench.app.commands.showing import say, say_lines, say_table, say_unreadable
from traitbench.client.pages import Listed
from traitbench.contract.models import Effort
from traitbench.contract.traits import Aggregation, Trait, TraitInput

Command = TypeVar("Command", bound=Callable[..., Any])


@click.group()
def traits() -> None:
    """The traits of a model."""


@traits.command("list")
@click.argument("handle")
@as_json
def list_traits(handle: str, as_json: bool) -> None:
    """List the traits."""
    with connected() as client:
        found = client.traits.list(handle)
    if as_json:
        say_lines(found)
        say_unreadable(found.unreadable, "trait")
    else:
        _say(found)


def _fields(command: Command) -> Command:
    """What a trait is given when it is added, and later."""
    for option in reversed((
        click.option("--description", help="What it is about."),
        click.option("--positive", "positive_label", help="What the positive pole is called."),
        click.option("--negative", "negative_label", help="What the negative pole is called."),
        click.option("--aggregation", type=click.Choice(get_args(Aggregation)), help="How parts become one score."),
    )):  # fmt: skip
        command = option(command)
    return command


@traits.command("add")
@click.argument("handle")
@click.argument("name")
@click.option("--key", help="Its name in paths; made from the NAME when left out.")
@_fields
@as_json
def add_trait(handle: str, name: str, as_json: bool, **fields: Any) -> None:
    """Add a trait, or change the one that has its key."""
    given = {field: value for field, value in fields.items() if value is not None}
    with connected() as client:
        # Not checked here: what is wrong with it is the service's to say.
        [trait] = client.traits.add(
            handle, [TraitInput.model_construct(_fields_set={"name", *given}, name=name, **given)]
        )
    say(trait, f"{handle} has the trait {trait.key}: {trait.negative_label} … {trait.positive_label}", as_json=as_json)


@traits.command("update")
@click.argument("handle")
@click.argument("key")
@click.option("--name", help="What it is called; the key stays.")
@_fields
@as_json
def update_trait(handle: str, key: str, as_json: bool, **fields: Any) -> None:
    """Change what is given, and leave the rest."""
    if all(value is None for value in fields.values()):
        raise click.UsageError("Give at least one thing to change.")
    with connected() as client:
        trait = client.traits.update(handle, key, **fields)
    say(trait, f"{handle} has the trait {trait.key}: {trait.negative_label} … {trait.positive_label}", as_json=as_json)


@traits.command("delete")
@click.argument("handle")
@click.argument("key")
@yes
@as_json
def delete_trait(handle: str, key: str, yes: bool, as_json: bool) -> None:
    """Remove a trait and its samples."""
    with connected() as client:
        count = client.traits.get(handle, key).sample_count
        if count:
            confirm(f"The {count} samples of {key} go with it.", yes=yes)
        deleted = client.traits.delete(handle, key)
    say(deleted, f"{handle} has the trait {key} no more.", as_json=as_json)


@traits.command("discover")
@click.argument("handle")
@click.option("--effort", type=click.Choice(get_args(Effort)), help="How many candidates to consider.")
@waits
@as_json
def discover_traits(handle: str, effort: Effort | None, wait: bool, as_json: bool) -> None:
    """Look for traits in the samples of a draft."""
    with connected() as client:
        started = client.traits.discover(handle, effort=effort)
        if follow(client, handle, started, wait=wait, as_json=as_json) and not as_json:
            _say(client.traits.list(handle))


def _say(found: Listed[Trait]) -> None:
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
            for each in found
        ],
    )
    say_unreadable(found.unreadable, "trait")
