"""The operations of the API as commands. Each calls the service through the client and prints the answer.
`agreement`, `audit`, `encoder check`, and the comparison of exported files, need no service.

People get tables and sentences. With `--json`, programs get one JSON value, or one per line for a list.
"""

import click

from traitbench.cli.agents import mcp, skill
from traitbench.cli.agreement import agreement
from traitbench.cli.audits import audit
from traitbench.cli.bundles import export, import_
from traitbench.cli.comparisons import compare_versions, gate
from traitbench.cli.completion import completion
from traitbench.cli.doctor import doctor
from traitbench.cli.encoders import encoder
from traitbench.cli.extracts import extract
from traitbench.cli.forks import fork, promote
from traitbench.cli.models import models
from traitbench.cli.runs import retrain, train
from traitbench.cli.samples import samples
from traitbench.cli.scores import compare, score
from traitbench.cli.traits import traits
from traitbench.cli.versions import activations, versions

VERBS: tuple[click.Command, ...] = (
    *(models, traits, samples, train, retrain, versions, activations),
    *(fork, promote),
    *(score, compare, compare_versions, gate, extract, export, import_),
    *(encoder, agreement, audit),
    *(mcp, skill, doctor, completion),
)
