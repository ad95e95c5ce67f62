"""The service seen from outside: typed, synchronous, one attribute a resource.

    client = Traitbench("http://127.0.0.1:8501", api_key="...")
    client.models.create("local.tone")
    client.scores.score("local.tone", "Well done, thank you.")

Answers are the types of `traitbench.contract`, failures the classes of `traitbench.errors`.
"""

from traitbench.client.client import Traitbench
from traitbench.client.pages import Pages

__all__ = ["Pages", "Traitbench"]
