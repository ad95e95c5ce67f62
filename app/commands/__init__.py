"""The operations of the API as commands. Each calls the service through the client and prints the answer.
`agreement`, `audit`, `encoder check`, and the comparison of exported files, need no service.

People get tables and sentences. With `--json`, programs get one JSON value, or one per line for a list.
"""

import click

from traitbench.app.commands.agents import mcp, skill
from traitbench.app.commands.agreement import agreement
from traitbench.app.commands.audit import audit
from traitbench.app.commands.bundles import export, import_
from traitbench.app.commands.comparisons import compare_versions, gate
from traitbench.app.commands.completion import completion
from traitbench.app.commands.doctor import doctor
from traitbench.app.commands.encoder import encoder
from traitbench.app.commands.extracts import extract
from traitbench.app.commands.forks import fork, promote
from traitbench.app.commands.models import models
from traitbench.app.commands.runs import retrain, train
from traitbench.app.commands.samples import samples
from traitbench.app.commands.scores import compare, score
from traitbench.app.commands.traits import traits
from traitbench.app.commands.versions import activations, versions

VERBS: tuple[click.Command, ...] = (
    *(models, traits, samples, train, retrain, versions, activations),
    *(fork, promote),
    *(score, compare, compare_versions, gate, extract, export, import_),
    *(encoder, agreement, audit),
    *(mcp, skill, doctor, completion),
)
