"""`traitbench attributes`: list, set, unset."""

import click

from traitbench.cli.options import answers
from traitbench.cli.output import Listing, Output
from traitbench.client import Traitbench
from traitbench.contract.attributes import Attribute
from traitbench.contract.page import LARGEST_PAGE


@click.group()
def attributes() -> None:
    """Say which traits the attributes of Perspective's wire mean, such as TOXICITY."""


@attributes.command("list")
@click.argument("namespace")
@answers
def list_attributes(client: Traitbench, namespace: str) -> Listing[Attribute]:
    """List the aliases of a namespace.

    Without an alias, TOXICITY means the trait with the key toxicity.
    """
    return Listing(
        client.attributes.list(namespace, limit=LARGEST_PAGE),
        "alias",
        ("ATTRIBUTE", "TRAIT", "MODEL", "SET (UTC)", "BY"),
        lambda each: (each.name, each.trait, each.handle, f"{each.set_at:%Y-%m-%d %H:%M}", each.by),
    )


@attributes.command("set")
@click.argument("namespace")
@click.argument("name")
@click.argument("handle")
@click.argument("trait")
@answers
def set_attribute(client: Traitbench, namespace: str, name: str, handle: str, trait: str) -> Output:
    """Let the attribute NAME mean a TRAIT of the model HANDLE, which may be pinned (`@v3`, `@tag`).

    It holds for the keys of the namespace. An alias that exists is replaced.
    """
    alias = client.attributes.put(namespace, name, handle, trait)
    return Output(alias, f"In {namespace}, {alias.name} now means {alias.trait} of {alias.handle}.")


@attributes.command("unset")
@click.argument("namespace")
@click.argument("name")
@answers
def unset_attribute(client: Traitbench, namespace: str, name: str) -> Output:
    """Remove the alias of the attribute NAME, and say how to set it again."""
    alias = client.attributes.delete(namespace, name)
    undo = f"traitbench attributes set {namespace} {alias.name} {alias.handle} {alias.trait}"
    return Output(alias, f"Removed the alias of {alias.name} in {namespace}. To set it again: {undo}")
