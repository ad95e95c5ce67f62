"""`traitbench train` and `traitbench retrain`, and how commands follow the run that they started."""

from typing import get_args

import click

from traitbench.cli.options import Refused, as_json, connected, waits
from traitbench.cli.output import Meter, say, say_json, version_name
from traitbench.client import Traitbench
from traitbench.contract.models import Model, RunStarted, TrainEffort

_A_DAY = 24 * 3600.0


@click.command()
@click.argument("handle")
@click.option("--effort", type=click.Choice(get_args(TrainEffort)), help="How many settings to try. Default: high.")
@click.option("--reoptimize", is_flag=True, help="Search for new parameters even if the model is ready.")
@click.option("--no-labels", is_flag=True, help="Do not use the names, labels and descriptions of traits.")
@click.option(
    "--encoder",
    metavar="NAME",
    help="Train with this encoder: multilingual, minilm-full, minilm, static or ngrams. Later trainings keep it.",
)
@waits
@as_json
def train(
    handle: str,
    effort: TrainEffort | None,
    reoptimize: bool,
    no_labels: bool,
    encoder: str | None,
    wait: bool,
    as_json: bool,
) -> None:
    """Train a model."""
    with connected() as client:
        started = client.models.train(
            handle, effort=effort, reoptimize_params=reoptimize, use_labels=not no_labels, encoder=encoder
        )
        if (model := follow(client, handle, started, wait=wait, as_json=as_json)) and not as_json:
            click.echo(f"{handle} is {model.state}: {version_name(model)}")


@click.command()
@click.argument("handle")
@waits
@as_json
def retrain(handle: str, wait: bool, as_json: bool) -> None:
    """Train a version with the feedback that waits, now."""
    with connected() as client:
        started = client.models.retrain(handle)
        model = follow(client, handle, started, wait=wait, as_json=as_json)
    if model is None or as_json:
        return
    click.echo(f"{handle} is {model.state}: {version_name(model)}")
    if model.held_version_no is not None:
        click.echo(
            f"v{model.held_version_no} is worse than {version_name(model)}, so it is on hold. Activate one of them to"
            " decide.",
            err=True,
        )


def follow(client: Traitbench, handle: str, started: RunStarted, *, wait: bool, as_json: bool) -> Model | None:
    """Print what was started. With `wait`, return the model at its end; raise `Refused` if the run failed.

    The notes of the run go to stderr.
    """
    if not wait or started.run_id is None:
        say(started, f"{handle} is {started.state}; {started.run_id or 'nothing to do'}", as_json=as_json)
        return None
    with Meter() as meter:
        model = client.models.wait(handle, on_progress=meter.show, timeout=_A_DAY)
    operation = model.last_operation
    if operation is not None and operation.run_id == started.run_id:
        if operation.status == "failed":
            raise Refused(
                f"{handle} is {model.state}: {operation.error.message if operation.error else 'the run failed'}"
            )
        for note in (operation.progress.notes if operation.progress else None) or ():
            click.echo(note, err=True)
    if as_json:
        say_json(model)
    return model
