"""A typed, synchronous client for the service, with one attribute per resource.

    client = Traitbench("http://127.0.0.1:8501", api_key="...")
    client.models.create("local.tone")
    client.scores.score("local.tone", "Well done, thank you.")

Methods return the types of `traitbench.contract` and raise the errors of `traitbench.errors`.
"""

from traitbench.client.client import Traitbench
from traitbench.client.pages import Pages

__all__ = ["Pages", "Traitbench"]
