"""Suggestions: the intrinsic traits that nobody has touched yet. The next discovery replaces them."""

from sqlalchemy import Connection

from traitbench.store import models, traits
from traitbench.store.traits import Discovered


def untouched(connection: Connection, model_id: int) -> list[Discovered]:
    """The suggestions of a model, in the order in which they were added.

    A trait is touched once a person has changed it, has labelled a sample for it or has made it the main trait.
    """
    main = models.presentation(connection, model_id).main_trait
    with_samples = traits.with_samples(connection, model_id)
    return [
        trait
        for trait in traits.discovered(connection, model_id)
        if not is_changed(trait) and trait.id not in with_samples and trait.key != main
    ]


def is_changed(trait: Discovered) -> bool:
    """Whether a person has changed an intrinsic trait; true if that cannot be known."""
    return trait.words != trait.given or trait.aggregation != "mean"
