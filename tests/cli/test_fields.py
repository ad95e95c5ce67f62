"""A new field of a request becomes an option of its commands."""

import json
from typing import Literal

import click
import pytest
from click.testing import CliRunner
from pydantic import Field

from traitbench.cli.options import fields_of
from traitbench.contract.traits import TraitUpdate


class WiderUpdate(TraitUpdate):
    """A trait's fields of a later release."""

    volume: Literal["loud", "quiet"] | None = Field(default=None, description="How loud.")
    weight_of_it: int | None = None
    is_shown: bool | None = None
    colours: list[str] | None = None


@click.command()
@fields_of(WiderUpdate, without=("flip", "suggestion"))
@click.option("--label", "name")
def command(**fields: object) -> None:
    """A command with an option for the name."""
    click.echo(json.dumps({name: value for name, value in fields.items() if value is not None}))


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        ("--volume loud --weight-of-it 3 --no-is-shown", {"volume": "loud", "weight_of_it": 3, "is_shown": False}),
        ("--label x --description y --is-shown", {"name": "x", "description": "y", "is_shown": True}),
        ("", {}),
    ],
)
def test_a_field_is_an_option(arguments: str, given: dict[str, object]) -> None:
    done = CliRunner().invoke(command, arguments)
    assert done.exit_code == 0
    assert json.loads(done.stdout) == given


def test_the_description_of_a_field_is_the_help_of_its_option() -> None:
    assert "--volume [loud|quiet] How loud." in " ".join(CliRunner().invoke(command, "--help").stdout.split())


@pytest.mark.parametrize("arguments", ["--volume soft", "--name x", "--flip", "--colours red"])
def test_what_is_set_by_another_option_or_is_a_list_is_no_option(arguments: str) -> None:
    assert CliRunner().invoke(command, arguments).exit_code == 2
