"""The service seen from outside: typed, synchronous, one attribute a resource.

    client = Traitbench("http://127.0.0.1:8501", api_key="...")
    client.models.create("local.tone")
    client.scores.score("local.tone", "Well done, thank you.")

Answers are the types of `core.contract`, failures the classes of `core.errors`.
"""

from core.client.client import Traitbench
from core.client.pages import Pages

__all__ = ["Pages", "Traitbench"]
