"""Snippets that call a model from several languages, ready to copy and run.

A snippet never contains the key. It reads the key from the environment.
"""

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

KEY = "TRAITBENCH_API_KEY"


@dataclass(frozen=True)
class Snippet:
    """A piece of code, its language and its requirements."""

    code: str
    language: str
    needs: str


def snippets(base_url: str, handle: str, text: str) -> Mapping[str, Snippet]:
    """Return the snippets by name; `handle` may be pinned to a version."""
    return {
        "curl": Snippet(_curl(base_url, handle, text), "bash", "only curl"),
        "Python": Snippet(_python(base_url, handle, text), "python", "Python with `traitbench` installed"),
        "Python, nothing installed": Snippet(_bare_python(base_url, handle, text), "python", "any Python 3"),
        "Command line": Snippet(_command(base_url, handle, text), "bash", "`traitbench` installed"),
    }


def _curl(base_url: str, handle: str, text: str) -> str:
    body = shlex.quote(json.dumps({"content": text}, ensure_ascii=False))
    return (
        f"curl {shlex.quote(f'{base_url}/v1/models/{handle}/score')} \\\n"
        f'  -H "Authorization: Bearer ${KEY}" \\\n'
        '  -H "Content-Type: application/json" \\\n'
        f"  -d {body}"
    )


def _python(base_url: str, handle: str, text: str) -> str:
    return f"""import os

from traitbench.client import Traitbench

with Traitbench({_quoted(base_url)}, os.environ["{KEY}"]) as client:
    card = client.scores.score({_quoted(handle)}, {_quoted(text)})

print(card.composite, card.confidence)
for key, trait in card.detail.items():
    print(key, trait.score, trait.label or trait.confidence_reason)"""


def _bare_python(base_url: str, handle: str, text: str) -> str:
    return f"""import json
import os
import urllib.request

request = urllib.request.Request(
    {_quoted(f"{base_url}/v1/models/{handle}/score")},
    data=json.dumps({{"content": {_quoted(text)}}}).encode(),
    headers={{
        "Authorization": f"Bearer {{os.environ['{KEY}']}}",
        "Content-Type": "application/json",
    }},
)
with urllib.request.urlopen(request) as answer:
    card = json.load(answer)

print(card["composite"], card["confidence"], card["scores"])"""


def _command(base_url: str, handle: str, text: str) -> str:
    return f"TRAITBENCH_API_URL={shlex.quote(base_url)} traitbench score {shlex.quote(handle)} {shlex.quote(text)}"


def _quoted(text: str) -> str:
    """Return the text as a Python literal."""
    return json.dumps(text, ensure_ascii=False)
