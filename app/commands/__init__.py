"""The API's verbs on the command line: each asks the service through the client and says what came back.

For people tables and sentences; with `--json` one JSON value for programs, of a list one a line.
"""

import click

from traitbench.app.commands.bundles import export, import_
from traitbench.app.commands.extracts import extract
from traitbench.app.commands.models import models
from traitbench.app.commands.runs import train
from traitbench.app.commands.samples import samples
from traitbench.app.commands.scores import compare, score
from traitbench.app.commands.traits import traits
from traitbench.app.commands.versions import versions

VERBS: tuple[click.Command, ...] = (
    *(models, traits, samples, train, versions),
    *(score, compare, extract, export, import_),
)
