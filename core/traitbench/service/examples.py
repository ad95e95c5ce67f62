"""The examples of the OpenAPI document: requests and answers of a real service, from `examples.json`.

`python -m tests.contract.examples` writes the file anew, and a test sends every request of it.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

# Recorded, because examples that are written by hand go stale.
FILE = Path(__file__).with_name("examples.json")

Step = dict[str, Any]


@cache
def _steps() -> tuple[Step, ...]:
    return tuple(json.loads(FILE.read_text(encoding="utf-8"))) if FILE.is_file() else ()


def add_examples(name: str, operation: dict[str, Any]) -> None:
    """Add the examples to an operation of the document, the first that suits each place."""
    for step in (each for each in _steps() if each["operation"] == name):
        for parameter in operation.get("parameters", ()):
            if parameter["name"] in step["parameters"]:
                parameter.setdefault("example", step["parameters"][parameter["name"]])
        if "body" in step:
            media_type = "text/plain" if isinstance(step["body"], str) else "application/json"
            operation["requestBody"]["content"][media_type].setdefault("example", step["body"])
        content = operation["responses"][str(step["status"])]["content"]
        content[step["media_type"]].setdefault("example", step["answer"])
