"""`traitbench export` and `import`: a whole model as one file with a checksum."""

import os
import tempfile
from pathlib import Path

import click

from traitbench.cli.options import STDIN, InputFile, Refused, as_json, connected, content_of
from traitbench.cli.output import say, version_name
from traitbench.contract.bundles import Bundle
from traitbench.display.text import count


@click.command()
@click.argument("handle")
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, allow_dash=True), help="The file to write. Default: stdout."
)
def export(handle: str, output: str | None) -> None:
    """Export a whole model as one file."""
    with connected() as client:
        bundle = client.models.export(handle)
    document = bundle.model_dump_json(exclude_unset=True)
    if output in (None, STDIN):
        click.echo(document)
        return
    _write(Path(output or ""), f"{document}\n")
    samples = "no samples" if bundle.samples is None else count(len(bundle.samples), "sample")
    held = (count(len(bundle.traits), "trait"), samples, count(len(bundle.versions), "version"))
    click.echo(f"{output}: {', '.join(held)}", err=True)


@click.command("import")
@click.argument("file", type=InputFile())
@click.option("--handle", help="The handle of the imported model. Default: the one in the file.")
@as_json
def import_(file: str, handle: str | None, as_json: bool) -> None:
    """Import a model that was exported.

    A FILE that was changed, or whose parts contradict each other, is refused.
    """
    try:
        bundle = Bundle.model_validate_json(content_of(file))
    except ValueError as error:
        raise Refused(
            f"{file} is not a model exported from Traitbench, or the file is damaged. Export it again."
        ) from error
    with connected() as client:
        model = client.models.import_(bundle, handle=handle)
    say(model, f"{model.handle} is {model.state}: {version_name(model)}", as_json=as_json)


def _write(path: Path, text: str) -> None:
    """Write atomically: an existing file stays until the new one is complete."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise Refused(f"{path} cannot be written: {error.strerror}.") from error
