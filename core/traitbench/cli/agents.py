"""`traitbench mcp`, `skill` and `completion`: what an agent or a shell needs to work with a service."""

import asyncio
from importlib.resources import files

import click
from click.shell_completion import get_completion_class

from traitbench import logs
from traitbench.cli.options import address_and_key
from traitbench.settings import read_settings


@click.command()
@click.option("--text", "as_text", is_flag=True, help="Answer as text, for agents whose program reads only that.")
def mcp(as_text: bool) -> None:
    """Serve tools to an agent over stdin and stdout (Model Context Protocol).

    The tools list models, score and explain texts, compare, and propose samples. They change nothing. A running service
    has the same tools at /mcp, for agents that send an API key; /mcp?text=true answers as text.
    """
    # Imported here: the protocol's package is slow to import.
    from traitbench.agents.server import serve_stdio

    settings = read_settings()
    base_url, key = address_and_key(settings)
    logs.configure(level=settings.log_level, form=settings.log_form)
    asyncio.run(serve_stdio(base_url, key, as_text=as_text))


@click.command()
@click.option("--path", "as_path", is_flag=True, help="Print the file's place instead of its text.")
def skill(as_path: bool) -> None:
    """Print the instructions for agents that use this command line."""
    file = files("traitbench.agents").joinpath("SKILL.md")
    click.echo(str(file) if as_path else file.read_text(encoding="utf-8"), nl=as_path)


SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script that completes commands and options in SHELL.

    For bash and zsh, add the line of the example to ~/.bashrc or ~/.zshrc. For fish, save the script in
    ~/.config/fish/completions.
    """
    made = get_completion_class(shell)
    assert made is not None
    script = made(context.find_root().command, {}, "traitbench", "_TRAITBENCH_COMPLETE")
    # Not `source()`, which starts bash to ask for its version.
    click.echo(script.source_template % script.source_vars())
