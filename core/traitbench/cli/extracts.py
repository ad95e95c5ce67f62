"""`traitbench extract`: the readable text of a web page."""

import click

from traitbench.cli.options import as_json, connected
from traitbench.cli.output import say_json, say_text


@click.command()
@click.argument("url")
@as_json
def extract(url: str, as_json: bool) -> None:
    """Print the readable text of the page at a URL.

    The service fetches it, and only from public addresses.
    """
    with connected() as client:
        extracted = client.extract(url)
    if as_json:
        say_json(extracted)
    else:
        say_text(extracted.content)
