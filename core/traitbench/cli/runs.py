"""`traitbench train` and `traitbench retrain`, and how commands follow the run that they started."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, get_args

import click

from traitbench.cli.options import Refused, answers, waits
from traitbench.cli.output import Meter, Output, version_name
from traitbench.client import Traitbench
from traitbench.contract.models import Model, RunStarted, TrainEffort

_A_DAY = 24 * 3600.0


@dataclass(frozen=True)
class Run:
    """A run that was started: printed as it is, or with `wait` followed to its end.

    At the end, programs get the JSON of the model, people what `people` prints; then `check` may raise `Refused`. The
    notes of the run go to stderr.
    """

    client: Traitbench
    handle: str
    started: RunStarted
    wait: bool
    people: Callable[[Model], None]
    check: Callable[[Model], None] | None = None

    def say(self, *, as_json: bool) -> None:
        """Print it; raise `Refused` if the run failed."""
        run_id = self.started.run_id
        if not self.wait or run_id is None:
            Output(self.started, f"{self.handle} is {self.started.state}; {run_id or 'nothing to do'}").say(
                as_json=as_json
            )
            return
        with Meter() as meter:
            model = self.client.models.wait(self.handle, on_progress=meter.show, timeout=_A_DAY)
        operation = model.last_operation
        if operation is not None and operation.run_id == run_id:
            if operation.status == "failed":
                why = operation.error.message if operation.error else "the run failed"
                raise Refused(f"{self.handle} is {model.state}: {why}")
            for note in (operation.progress.notes if operation.progress else None) or ():
                click.echo(note, err=True)
        Output(model, lambda: self.people(model)).say(as_json=as_json)
        if self.check is not None:
            self.check(model)


@click.command()
@click.argument("handle")
@click.option("--effort", type=click.Choice(get_args(TrainEffort)), help="How many settings to try. Default: high.")
@click.option(
    *("--reoptimize", "reoptimize_params"), is_flag=True, help="Search for new parameters even if the model is ready."
)
@click.option("--no-labels", is_flag=True, help="Do not use the names, labels and descriptions of traits.")
@click.option(
    "--encoder",
    metavar="NAME",
    help="Train with this encoder: multilingual, minilm-full, minilm, static or ngrams. Later trainings keep it.",
)
@waits
@answers
def train(client: Traitbench, handle: str, no_labels: bool, wait: bool, **options: Any) -> Run:
    """Train a model."""
    started = client.models.train(handle, use_labels=not no_labels, **options)
    return Run(client, handle, started, wait, _say_version)


@click.command()
@click.argument("handle")
@waits
@answers
def retrain(client: Traitbench, handle: str, wait: bool) -> Run:
    """Train a version with the feedback that waits, now."""
    return Run(client, handle, client.models.retrain(handle), wait, _say_retrained)


def _say_version(model: Model) -> None:
    click.echo(f"{model.handle} is {model.state}: {version_name(model)}")


def _say_retrained(model: Model) -> None:
    _say_version(model)
    if model.held_version_no is not None:
        click.echo(
            f"v{model.held_version_no} is worse than {version_name(model)}, so it is on hold. Activate one of them to"
            " decide.",
            err=True,
        )
