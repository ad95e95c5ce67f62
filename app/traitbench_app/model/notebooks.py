"""A notebook for Jupyter that loads a model and scores a text, ready to run.

It never contains the key: it reads the key from the environment or asks for it. With the exported model beside it, it
scores without the service.
"""

import json

from traitbench.names import unpin
from traitbench_app.model.snippets import KEY

_FORMAT = {"nbformat": 4, "nbformat_minor": 5}
_KERNEL = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}


def notebook_of(base_url: str, handle: str, text: str) -> str:
    """Return the notebook as JSON; `handle` may be pinned to a version."""
    model, version = unpin(handle)
    cells = [
        _prose(
            f"# {model}\n\n"
            f"With `{model}.json` beside this notebook (Model, What is kept, Export model), it scores here, without "
            f"a service. Otherwise it asks the service, with the API key from `{KEY}`.\n\n"
            "Needs Traitbench with its extra `notebook`."
        ),
        _code(_load(base_url, handle, model, version)),
        _code(f"text = {json.dumps(text, ensure_ascii=False)}\nscore(text)"),
        _prose("Many texts become a table, one row each."),
        _code("pd.DataFrame([score(each).scores for each in [text]], index=[text])"),
    ]
    numbered = [{"id": f"cell-{place}", **cell} for place, cell in enumerate(cells)]
    return json.dumps({"cells": numbered, "metadata": _KERNEL, **_FORMAT}, ensure_ascii=False, indent=1)


def _load(base_url: str, handle: str, model: str, version: str) -> str:
    file, chosen = json.dumps(f"{model}.json"), f", version={json.dumps(version)}" if version else ""
    return f"""import os
from getpass import getpass
from pathlib import Path

import pandas as pd

import traitbench as tb

file = Path({file})
if file.exists():
    loaded = tb.load(file{chosen})

    def score(text):
        return loaded.cards([text])[0]
else:
    client = tb.Traitbench({json.dumps(base_url)}, os.environ.get("{KEY}") or getpass("API key: "))

    def score(text):
        return client.scores.score({json.dumps(handle)}, text)"""


def _prose(source: str) -> dict[str, object]:
    return {"cell_type": "markdown", "metadata": {}, "source": source}


def _code(source: str) -> dict[str, object]:
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": source}
