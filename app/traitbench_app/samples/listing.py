"""The samples of a model with their scores: read as a whole, or left in the service if they are many."""

from collections.abc import Sequence

from traitbench.contract.models import Model
from traitbench.contract.traits import Trait
from traitbench_app.parts.heading import is_open_draft
from traitbench_app.samples.listed import LoadedListing
from traitbench_app.samples.served import ServedListing
from traitbench_app.samples.unseen import ScoresOfSamples, unseen_scores
from traitbench_app.shell import session
from traitbench_app.workspace.samples import MOST_LOADED, all_samples, number_of

_LISTING = "samples.listing"


def listing_of(model: Model, traits: Sequence[Trait]) -> tuple[ScoresOfSamples, LoadedListing | ServedListing]:
    """Return the scores and the listing; a loaded one is made again only if samples or scores have changed.

    A draft of a version is read as a whole, because its copies are matched with their originals.
    """
    if number_of(traits) > MOST_LOADED and not is_open_draft(model):
        scores = unseen_scores(model, ())
        return scores, ServedListing(model.handle, traits, scores.rows.values(), scores.version)
    samples = all_samples(model.handle, traits)
    last = session.get(_LISTING)
    if last is not None and last[0] is samples and last[1] == _about(model) and last[2][0].not_known is None:
        return last[2]  # type: ignore[no-any-return]
    scores = unseen_scores(model, samples)
    unseen = {sample.id: own for sample in samples if (own := scores.of(sample)) is not None}
    made = (scores, LoadedListing(samples, unseen, scores.changed))
    session.store(_LISTING, (samples, _about(model), made))
    return made


def _about(model: Model) -> tuple[object, ...]:
    return model.handle, model.version_no, model.forked_from
