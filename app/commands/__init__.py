"""The API's verbs on the command line: each asks the service through the client and says what came back.

For people tables and sentences; with `--json` one JSON value for programs, of a list one a line.
"""

import click

from app.commands.bundles import export, import_
from app.commands.extracts import extract
from app.commands.models import models
from app.commands.runs import train
from app.commands.samples import samples
from app.commands.scores import compare, score
from app.commands.traits import traits
from app.commands.versions import versions

VERBS: tuple[click.Command, ...] = (
    *(models, traits, samples, train, versions),
    *(score, compare, extract, export, import_),
)
