"""Examples for each command's `--help`, in an order in which they can be run one after the other.

Tests run them as they are here (`tests/cli/test_examples.py`).
"""

from collections.abc import Mapping, Sequence

import click

EXAMPLES: Mapping[str, Sequence[str]] = {
    "": ("traitbench", "TRAITBENCH_PORT=8600 traitbench", "traitbench models list --help"),
    "serve": ("traitbench serve",),
    "worker": ("TRAITBENCH_DATABASE_URL=postgresql://db.example.org/traitbench traitbench worker",),
    "key create": (
        "traitbench key create --scope authoring --namespace local --name notebook",
        "traitbench key create --scope scoring --namespace local --json",
    ),
    "key list": ("traitbench key list",),
    "key revoke": ("traitbench key revoke key_01ARZ3NDEKTSV4RRFFQ69G5FAV",),
    "read": ("traitbench read rated.csv", "traitbench read rated.csv --read anna=labels --json"),
    "models create": (
        'traitbench models create local.tone --description "How warm a message is."',
        "traitbench models create local.rated --from rated.csv",
    ),
    "models list": ("traitbench models list", "traitbench models list --namespace local --json"),
    "models show": ("traitbench models show local.tone",),
    "models update": ("traitbench models update local.tone --readme readme.md --max-depth 2",),
    "traits add": (
        "traitbench traits add local.tone Warmth --positive warm --negative cold",
        "traitbench traits add local.tone Haste",
    ),
    "traits list": ("traitbench traits list local.tone",),
    "traits update": ('traitbench traits update local.tone warmth --description "Kind words."',),
    "traits delete": ("traitbench traits delete local.tone haste --yes",),
    "samples import": (
        "traitbench samples import local.tone letters.csv",
        "traitbench samples import local.tone rated.csv --text-column text --quality-column anna",
    ),
    "samples add": (
        'traitbench samples add local.tone "Thank you so much!" --trait warmth --quality 1',
        "traitbench samples add local.tone --file letter.txt --trait warmth --quality 0",
    ),
    "samples list": (
        "traitbench samples list local.tone --trait warmth",
        "traitbench samples list local.tone --find thank --pole negative",
        "traitbench samples list local.tone --held-out --json",
    ),
    "samples hold-out": ("traitbench samples hold-out local.tone 17 18 --must-pass",),
    "samples put-back": ("traitbench samples put-back local.tone 17", "traitbench samples put-back local.tone --all"),
    "samples change": (
        "traitbench samples change local.tone 17 --quality 0.75",
        'traitbench samples change local.tone 17 18 --group "conversation 7" --note "Of one conversation."',
    ),
    "samples changes": (
        "traitbench samples changes local.tone",
        "traitbench samples changes local.tone --sample 17 --json",
    ),
    "samples undo": ("traitbench samples undo local.tone 23",),
    "samples delete": ("traitbench samples delete local.tone 17",),
    "samples set-aside": ("traitbench samples set-aside local.tone --share 0.2 --at-least 2",),
    "samples rejected": ("traitbench samples rejected local.tone",),
    "samples synthesize": ("traitbench samples synthesize local.tone --effort low --wait",),
    "traits discover": ("traitbench traits discover local.tone --effort low --wait",),
    "train": ("traitbench train local.tone --effort low --wait",),
    "models card": ("traitbench models card local.tone",),
    "score": (
        'traitbench score local.tone "Thank you for waiting."',
        "traitbench score local.tone --file letter.txt --explain",
        'traitbench score local.tone "See you soon!" --feedback warmth=good',
        "traitbench score local.tone --batch letters.csv --column text -o scored.csv",
    ),
    "compare": ('traitbench compare local.tone "Sign here." "Would you kindly sign here?"',),
    "retrain": ("traitbench retrain local.tone --wait",),
    "versions list": ("traitbench versions list local.tone",),
    "versions show": ("traitbench versions show local.tone", "traitbench versions show local.tone v1 --json"),
    "versions samples": ("traitbench versions samples local.tone v1",),
    "versions tag": ('traitbench versions tag local.tone release-1 --version v1 --note "Approved by the editors."',),
    "versions activate": ("traitbench versions activate local.tone release-1",),
    "attributes set": (
        "traitbench attributes set local COMPASSION local.tone warmth",
        "traitbench attributes set local COMPASSION local.tone@release-1 warmth",
    ),
    "attributes list": ("traitbench attributes list local",),
    "attributes unset": ("traitbench attributes unset local COMPASSION",),
    "proposed list": ("traitbench proposed list local.tone", "traitbench proposed list local.tone --json"),
    "proposed delete": ("traitbench proposed delete local.tone 17", "traitbench proposed delete local.tone --yes"),
    "texts add": ("traitbench texts add local.tone letters.csv --column text",),
    "texts list": ("traitbench texts list local.tone", "traitbench texts list local.tone --json"),
    "texts delete": ("traitbench texts delete local.tone --yes",),
    "versions untag": ("traitbench versions untag local.tone release-1",),
    "activations": ("traitbench activations local.tone",),
    "compare-versions": ("traitbench compare-versions local.tone@v1 local.tone",),
    "gate": ("traitbench gate local.tone@v1 local.tone --max-drop 0.02 --format json -o report.json",),
    "fork": ("traitbench fork local.tone local.tone-next",),
    "promote": ("traitbench promote local.tone --from local.tone-next",),
    "export": ("traitbench export local.tone -o tone.json",),
    "import": ("traitbench import tone.json --handle local.copy",),
    "models delete": ("traitbench models delete local.copy --yes",),
    "models restore": ("traitbench models restore local.copy",),
    "extract": ("traitbench extract https://example.org/letter.html",),
    "encoder check": ("traitbench encoder check ./encoder",),
    "encoder compare": ("traitbench encoder compare local.tone --with static",),
    "agreement": ("traitbench agreement rated.csv --text text --labels anna ben",),
    "audit draw": ("traitbench audit draw scored.csv --size 10 -o labels.csv",),
    "audit answer": ("traitbench audit answer scored.csv labels.csv",),
    "thresholds": (
        "traitbench thresholds perspective.csv --attribute COMPASSION=local.tone:warmth",
        "traitbench thresholds perspective.csv --attribute COMPASSION=local.tone:warmth --threshold 0.8 -o new.csv",
    ),
    "mcp": ("traitbench mcp", "claude mcp add traitbench -- traitbench mcp"),
    "skill": ("traitbench skill", "traitbench skill --path"),
    "doctor": ("traitbench doctor", "traitbench doctor --json"),
    "completion": ('eval "$(traitbench completion bash)"', "traitbench completion fish"),
    "backup": ("traitbench backup all.backup",),
    "restore": ("traitbench restore all.backup --replace",),
}


def show_examples(command: click.Command, name: str = "") -> None:
    """Add the examples to the help of a command, by its full name, and of the commands below it."""
    if lines := EXAMPLES.get(name):
        heading = "Examples:" if len(lines) > 1 else "Example:"
        command.epilog = "\n".join(("\b", heading, *(f"  {each}" for each in lines)))
    for word, below in command.commands.items() if isinstance(command, click.Group) else ():
        show_examples(below, f"{name} {word}".strip())
