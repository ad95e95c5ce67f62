"""`traitbench mcp` and `skill`: what an agent needs to work with a service."""

import asyncio
from importlib.resources import files

import click

from traitbench import logs
from traitbench.cli.options import address_and_key
from traitbench.settings import read_settings


@click.command()
def mcp() -> None:
    """Serve tools to an agent over stdin and stdout (Model Context Protocol).

    The tools list models, score and explain texts, compare, and propose samples. They change nothing. A running service
    has the same tools at /mcp, for agents that send an API key.
    """
    # Imported here: the protocol's package is slow to import.
    from traitbench.agents.server import serve_stdio

    settings = read_settings()
    base_url, key = address_and_key(settings)
    logs.configure(level=settings.log_level, form=settings.log_form)
    asyncio.run(serve_stdio(base_url, key))


@click.command()
@click.option("--path", "as_path", is_flag=True, help="Print the file's place instead of its text.")
def skill(as_path: bool) -> None:
    """Print the instructions for agents that use this command line."""
    file = files("traitbench.agents").joinpath("SKILL.md")
    click.echo(str(file) if as_path else file.read_text(encoding="utf-8"), nl=as_path)
