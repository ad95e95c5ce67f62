"""`traitbench completion`: the script that teaches a shell to complete commands and options."""

import click
from click.shell_completion import get_completion_class

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
