"""Score texts on traits that you define with labelled samples.

    import traitbench as tb

    scorer = tb.Scorer("warmth", poles=("cold", "warm")).fit(texts, labels)
    print(scorer.score_texts(["Well done, thank you."]))

    with tb.Client("http://127.0.0.1:8501", api_key="...") as client:
        print(client.scores.score("local.tone", "Well done, thank you.").scores)

The names below are public; every other module and name may change without notice.

- `Scorer` and `ScoreCard` are estimators for scikit-learn that train and score without a service, with the numbers that
  a service gives. `load` reads one from a file, and `score` adds scores to a data frame.
- `read_table` reads a file of texts and labels into a data frame, as the workbench reads it.
- `Client` calls a service; its lists are `Pages`. `Traitbench` is another name for it.
- `AsyncClient` has the same methods for programs on an event loop; its lists are `AsyncPages`.
- `diff` says how scores change from one estimator to another, `share` what share of many texts is on a pole. Both
  answers can be written as a page.
- `overview` says what a scored frame says: the spread of each trait, the texts at both ends, and what has no side.
- `UDF` scores columns of texts inside Spark, Ray, Daft, DuckDB, Polars and other engines that use Arrow.
- `TraitInput`, `SampleInput` and `VersionRetentionPolicy` are what its methods take.
- `Model`, `Trait`, `Sample`, `Version`, `Card`, `Comparison`, `Explanation` and `Bundle` are what they return.
- `TraitbenchError` is the base of every error that a service reports; `errors` has one class for each.
- `charts` draws versions, estimators and answers as plain Plotly figures.
- `corpus` answers what share of many texts is on a pole, from their scores and the labels of a random sample.
- `frames` makes data frames of answers. Answers also have `to_frame()`.
- `notebook` draws answers, and lists of answers, as HTML. Answers also display themselves.

Each name is loaded when it is first used, so that `import traitbench` is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from traitbench import errors
    from traitbench.analysis import corpus
    from traitbench.client import AsyncClient, AsyncPages, Client, Pages, Traitbench
    from traitbench.contract.bundles import Bundle
    from traitbench.contract.explanations import Explanation
    from traitbench.contract.models import Model, VersionRetentionPolicy
    from traitbench.contract.samples import Sample, SampleInput
    from traitbench.contract.scores import Card, Comparison
    from traitbench.contract.traits import Trait, TraitInput
    from traitbench.contract.versions import Version
    from traitbench.display import frames, notebook
    from traitbench.display.charts import plain as charts
    from traitbench.display.overview import overview
    from traitbench.errors import TraitbenchError
    from traitbench.estimators.diff import diff
    from traitbench.estimators.functions import load, score, share
    from traitbench.estimators.score_card import ScoreCard
    from traitbench.estimators.scorer import Scorer
    from traitbench.estimators.udf import UDF
    from traitbench.tables.frame import read_table

__all__ = [
    "UDF",
    "AsyncClient",
    "AsyncPages",
    "Bundle",
    "Card",
    "Client",
    "Comparison",
    "Explanation",
    "Model",
    "Pages",
    "Sample",
    "SampleInput",
    "ScoreCard",
    "Scorer",
    "Trait",
    "TraitInput",
    "Traitbench",
    "TraitbenchError",
    "Version",
    "VersionRetentionPolicy",
    "charts",
    "corpus",
    "diff",
    "errors",
    "frames",
    "load",
    "notebook",
    "overview",
    "read_table",
    "score",
    "share",
]

_MODULE_OF = {
    "AsyncClient": "client",
    "AsyncPages": "client",
    "Bundle": "contract.bundles",
    "Card": "contract.scores",
    "Client": "client",
    "Comparison": "contract.scores",
    "Explanation": "contract.explanations",
    "Model": "contract.models",
    "Pages": "client",
    "Sample": "contract.samples",
    "SampleInput": "contract.samples",
    "ScoreCard": "estimators.score_card",
    "Scorer": "estimators.scorer",
    "Trait": "contract.traits",
    "TraitInput": "contract.traits",
    "Traitbench": "client",
    "TraitbenchError": "errors",
    "UDF": "estimators.udf",
    "Version": "contract.versions",
    "VersionRetentionPolicy": "contract.models",
    "diff": "estimators.diff",
    "load": "estimators.functions",
    "overview": "display.overview",
    "read_table": "tables.frame",
    "score": "estimators.functions",
    "share": "estimators.functions",
}

_MODULES = {
    "charts": "display.charts.plain",
    "corpus": "analysis.corpus",
    "frames": "display.frames",
    "notebook": "display.notebook",
}

# Hidden from the type checker, which would otherwise accept any name.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Load a public name (PEP 562); raise `ModuleNotFoundError` that says what to install if it lacks a package."""
        if name not in __all__:
            raise AttributeError(
                f"module 'traitbench' has no attribute {name!r}", name=name, obj=import_module(__name__)
            )
        try:
            globals()[name] = value = _loaded(name)
        except ModuleNotFoundError as error:
            from traitbench.install import advice

            raise ModuleNotFoundError(advice(error) or str(error), name=error.name) from error
        return value


def _loaded(name: str) -> Any:
    if name not in _MODULE_OF:
        return import_module(f"traitbench.{_MODULES.get(name, name)}")
    if _MODULE_OF[name].startswith("contract."):  # answers get `to_frame` and their HTML from these
        import_module("traitbench.display.frames")
        import_module("traitbench.display.notebook")
    return getattr(import_module(f"traitbench.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    """List the public names only."""
    return __all__
