"""The operations of the API as commands. Each calls the service through the client and prints the answer.
`agreement`, `audit`, `encoder check`, and the comparison of exported files, need no service.

People get tables and sentences. With `--json`, programs get one JSON value, or one per line for a list.
"""

from collections.abc import Mapping

VERBS: Mapping[str, str] = {
    "activations": "traitbench.cli.versions:activations",
    "agreement": "traitbench.cli.audits:agreement",
    "attributes": "traitbench.cli.attributes:attributes",
    "audit": "traitbench.cli.audits:audit",
    "compare": "traitbench.cli.scores:compare",
    "compare-versions": "traitbench.cli.comparisons:compare_versions",
    "completion": "traitbench.cli.agents:completion",
    "doctor": "traitbench.cli.doctor:doctor",
    "encoder": "traitbench.cli.encoders:encoder",
    "export": "traitbench.cli.models:export",
    "extract": "traitbench.cli.scores:extract",
    "fork": "traitbench.cli.models:fork",
    "gate": "traitbench.cli.comparisons:gate",
    "import": "traitbench.cli.models:import_",
    "mcp": "traitbench.cli.agents:mcp",
    "models": "traitbench.cli.models:models",
    "promote": "traitbench.cli.models:promote",
    "proposed": "traitbench.cli.proposed:proposed",
    "read": "traitbench.cli.read:read",
    "retrain": "traitbench.cli.runs:retrain",
    "samples": "traitbench.cli.samples:samples",
    "score": "traitbench.cli.scores:score",
    "skill": "traitbench.cli.agents:skill",
    "texts": "traitbench.cli.texts:texts",
    "thresholds": "traitbench.cli.thresholds:thresholds",
    "train": "traitbench.cli.runs:train",
    "traits": "traitbench.cli.traits:traits",
    "versions": "traitbench.cli.versions:versions",
}
"""Where each command is. Only the one that is called is imported, because together they take most of a second."""
