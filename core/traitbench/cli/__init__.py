"""The operations of the API as commands. Each calls the service through the client and prints the answer.
`agreement`, `audit`, `encoder check`, and the comparison of exported files, need no service.

People get tables and sentences. With `--json`, programs get one JSON value, or one per line for a list.
"""

import click

from traitbench.cli.agents import completion, mcp, skill
from traitbench.cli.audits import agreement, audit
from traitbench.cli.comparisons import compare_versions, gate
from traitbench.cli.doctor import doctor
from traitbench.cli.encoders import encoder
from traitbench.cli.models import export, fork, import_, models, promote
from traitbench.cli.runs import retrain, train
from traitbench.cli.samples import samples
from traitbench.cli.scores import compare, extract, score
from traitbench.cli.traits import traits
from traitbench.cli.versions import activations, versions

VERBS: tuple[click.Command, ...] = (
    *(models, traits, samples, train, retrain, versions, activations),
    *(fork, promote),
    *(score, compare, compare_versions, gate, extract, export, import_),
    *(encoder, agreement, audit),
    *(mcp, skill, doctor, completion),
)
