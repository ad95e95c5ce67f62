"""`traitbench fork` and `promote`: prepare the next version of a model, and make it the model's."""

import click

from traitbench.cli.options import as_json, connected
from traitbench.cli.output import say
from traitbench.display.text import count


@click.command()
@click.argument("handle")
@click.argument("new_handle", metavar="NEW")
@as_json
def fork(handle: str, new_handle: str, as_json: bool) -> None:
    """Make the draft NEW with the traits, samples and settings of a model.

    Change and train it without touching the model, then `traitbench promote` it.
    """
    with connected() as client:
        model = client.models.fork(handle, new_handle)
    lineage = model.forked_from
    origin = handle if lineage is None or lineage.version_no is None else f"v{lineage.version_no} of {handle}"
    say(model, f"{model.handle} is a draft forked from {origin}. Change it, then train it.", as_json=as_json)


@click.command()
@click.argument("handle")
@click.option("--from", "from_", metavar="FORK", required=True, help="The fork whose active version is promoted.")
@click.option("--force", is_flag=True, help="Promote even if the model has changed since the fork was made.")
@click.option("--keep", is_flag=True, help="Keep the fork instead of archiving it.")
@as_json
def promote(handle: str, from_: str, force: bool, keep: bool, as_json: bool) -> None:
    """Make the active version of a fork the next version of a model.

    The fork's traits and samples become the model's. Feedback that the model got since the fork was made is kept and
    waits for the next retrain. Earlier versions stay.
    """
    with connected() as client:
        version = client.models.promote(handle, from_=from_, force=force, keep=keep)
    lineage = version.metrics.promoted_from
    rest = "" if keep else f" {from_} is archived."
    if lineage is not None and lineage.feedback_carried:
        rest += f" Waiting for the next retrain: {count(lineage.feedback_carried, 'sample')} of feedback."
    if lineage is not None and lineage.feedback_dropped:
        dropped = count(lineage.feedback_dropped, "sample")
        rest += f" Dropped, because the trait is gone: {dropped} of feedback."
    say(version, f"v{version.version_no} of {handle} now serves scores.{rest}", as_json=as_json)
