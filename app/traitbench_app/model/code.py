"""What a program needs of a model: code that calls it, a notebook that loads it, and the model as one file."""

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.traits import Trait
from traitbench.display.text import count, plain
from traitbench.names import pin, unpin
from traitbench_app.parts.controls import copy_button, download
from traitbench_app.shell.navigation import page_link, service_address
from traitbench_app.shell.service import client

_ACTIVE = "active"
_TEXT = "The text that you want to score."


def model_calls(model: Model) -> str:
    """Draw the code snippets; return the handle that they call, pinned to the version that was chosen."""
    if model.version_no is None:
        st.info("Train the model first. Until then, the service refuses these calls.", icon=":material/info:")
        page_link("train", "Train this model")
    pinned = _pick(model)
    handle = model.handle if pinned == _ACTIVE else pin(model.handle, pinned)
    ways = snippets(service_address(), handle, _TEXT)
    if trait := _first_trait(model):
        ways = {**ways, **judge_snippets(service_address(), handle, trait)}
    for tab, (name, snippet) in zip(st.tabs(list(ways), key="model.ways"), ways.items(), strict=True):
        with tab:
            st.code(snippet.code, language=snippet.language, wrap_lines=True)
            with st.container(horizontal=True, vertical_alignment="center"):
                copy_button(snippet.code, label="Copy code", key=f"model.copy.{name}")
                st.caption(f"Needs {snippet.needs}.")
    st.markdown(
        f"The code reads the API key from the variable `{KEY}`. Give each program its own key with the scope `scoring`."
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        download(
            "Open in a notebook",
            notebook_of(service_address(), handle, _TEXT),
            f"{model.handle}.ipynb",
            key="model.notebook",
            icon=":material/science:",
            help="Downloads a notebook for Jupyter, VS Code or Colab. It scores a text and holds no API key.",
            disabled=model.version_no is None,
        )
        page_link("console", "Issue a key")
        st.link_button("Open the API reference", f"{service_address()}/v1/docs", icon=":material/menu_book:")
    return handle


def _pick(model: Model) -> str:
    """The version to call: `active`, a tag or `vN`."""
    tags, numbers = _names(model)
    versions = [_ACTIVE, *tags, *numbers]
    labels = {_ACTIVE: "The version in use" + (f", now v{model.version_no}" if model.version_no else "")}
    labels |= {tag: f"Tag {plain(tag)}" for tag in tags} | {number: f"Always {number}" for number in numbers}
    return str(
        st.selectbox(
            "Version",
            versions,
            format_func=lambda each: labels.get(each, each),
            key=f"model.call_version.{model.handle}",
            width=320,
            help="The handle alone always calls the version in use. With a version number, the same text always gets "
            "the same score.",
            persist_state="page",
        )
    )


def _first_trait(model: Model) -> Trait | None:
    """The trait that examples ask about: the main one or, without one, the first."""
    traits = client().traits.list(model.handle)
    return next((each for each in traits if each.key == model.main_trait), traits[0] if traits else None)


def _names(model: Model) -> tuple[Sequence[str], Sequence[str]]:
    if model.version_no is None:
        return (), ()
    versions = list(client().versions.list(model.handle, limit=50).items)
    return [tag for each in versions for tag in each.tags], [f"v{each.version_no}" for each in versions]


def export_model(model: Model, *, samples: int) -> None:
    """Draw the download button; the file is created on click."""
    contents = f", traits, versions with their figures and **{count(samples, 'sample')}**"
    inside = contents if samples else ", traits and versions with their figures"
    st.markdown(f"One JSON file with the definition{inside}. You can import it here or on another service.")
    download(
        "Export model",
        lambda: client().models.export(model.handle).model_dump_json(exclude_unset=True),
        f"{model.handle}.json",
        key="model.export",
        help="The file has a checksum. An import refuses a file that was edited.",
    )
    if samples:
        st.caption("The file contains the texts of the samples, so protect it accordingly.")


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


def judge_snippets(base_url: str, handle: str, trait: Trait) -> Mapping[str, Snippet]:
    """Return the snippets for programs that ask a judge over System One; they ask about the poles of a trait."""
    return {
        "System One SDK": Snippet(
            _system_one(base_url, handle, trait), "python", "Python with `typesafe-sdk` installed"
        ),
        "LiteLLM": Snippet(_litellm(base_url, handle), "yaml", "LiteLLM, in its `config.yaml`"),
        "Langfuse": Snippet(_langfuse(base_url, handle, trait), "text", "Langfuse, under Settings, LLM connections"),
    }


def _system_one(base_url: str, handle: str, trait: Trait) -> str:
    options = f"{{{_quoted(trait.negative_label)}: None, {_quoted(trait.positive_label)}: None}}"
    return f"""import os

from typesafe_sdk import Choice, Noul, TypeSafeClient

with TypeSafeClient(api_key=os.environ["{KEY}"], base_url={_quoted(base_url)}) as client:
    answers = client.system_one(
        model={_quoted(handle)},
        state={_quoted(_TEXT)},
        questions={{
            "yes or no": Noul(instructions={_quoted(_question(trait))}),
            "which": Choice(instructions={_quoted(trait.name)}, criteria={options}),
        }},
    )

print(answers.model, answers.nouls["yes or no"].noul, answers.choices["which"].choice)"""


def _litellm(base_url: str, handle: str) -> str:
    return f"""model_list:
  - model_name: {_quoted(handle)}
    litellm_params:
      model: {_quoted(f"typesafe/{handle}")}
      api_base: {_quoted(base_url)}
      api_key: os.environ/{KEY}"""


def _langfuse(base_url: str, handle: str, trait: Trait) -> str:
    return f"""Connection:     TypeSafe (System One)
Upstream:       Custom
Base URL:       {base_url}/v1
API key:        the value of {KEY}
Custom models:  {handle}
Question:       Yes / no, {_question(trait)}"""


def _question(trait: Trait) -> str:
    """Return a question for yes or no. Its trait is named too, because others may have the same poles."""
    return f"{trait.name}: is it {trait.positive_label}?"


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
    # A JSON string is a Python literal too.
    return json.dumps(text, ensure_ascii=False)


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
        _code("tb.frames.frame([score(each) for each in [text]], traits=traits)"),
    ]
    numbered = [{"id": f"cell-{index}", **cell} for index, cell in enumerate(cells)]
    return json.dumps({"cells": numbered, "metadata": _KERNEL, **_FORMAT}, ensure_ascii=False, indent=1)


def _load(base_url: str, handle: str, model: str, version: str) -> str:
    file, chosen = json.dumps(f"{model}.json"), f", version={json.dumps(version)}" if version else ""
    return f"""import os
from getpass import getpass
from pathlib import Path

import traitbench as tb

file = Path({file})
if file.exists():
    loaded = tb.load(file{chosen})
    traits = loaded.traits_

    def score(text):
        return loaded.cards([text])[0]
else:
    client = tb.Traitbench({json.dumps(base_url)}, os.environ.get("{KEY}") or getpass("API key: "))
    traits = client.traits.list({json.dumps(model)})

    def score(text):
        return client.scores.score({json.dumps(handle)}, text)"""


def _prose(source: str) -> dict[str, object]:
    return {"cell_type": "markdown", "metadata": {}, "source": source}


def _code(source: str) -> dict[str, object]:
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": source}
