"""What a person does with suggested traits: keep, flip, dismiss, or make a trait of samples. All can be undone."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from traitbench.contract.samples import SampleInput
from traitbench.contract.traits import Trait, TraitFields, TraitInput
from traitbench.display.text import count
from traitbench.errors import TraitbenchError
from traitbench_app.shell.service import client
from traitbench_app.workspace.changes import Undo, is_suggestion, take_back
from traitbench_app.workspace.samples import forget_samples

_BACK: TraitFields = {"suggestion": True}


@dataclass(frozen=True)
class Reviewed:
    """The suggestions that were changed, how to undo that, and the error that stopped the rest, if any."""

    done: Sequence[Trait]
    undo: Undo
    error: TraitbenchError | None


def keep(handle: str, suggestions: Sequence[Trait]) -> Reviewed:
    """Keep suggestions, so that the next discovery does not replace them."""
    return _each(handle, suggestions, "kept", lambda key: client().traits.update(handle, key, suggestion=False))


def dismiss(handle: str, suggestions: Sequence[Trait]) -> Reviewed:
    """Delete suggestions; they can be brought back until the next discovery or training."""
    return _each(handle, suggestions, "dismissed", lambda key: client().traits.delete(handle, key))


def left_out(handle: str, suggestions: Sequence[Trait], start: Callable[[], object]) -> None:
    """Dismiss suggestions and start a training, which then learns only what was kept.

    If a request fails, the suggestions are back and the error is raised.
    """
    dismissed = dismiss(handle, suggestions)
    try:
        if dismissed.error is not None:
            raise dismissed.error
        start()
    except TraitbenchError:
        take_back(dismissed.undo)
        raise


def flip(handle: str, trait: Trait) -> Undo:
    """Exchange the poles of a discovered trait."""
    client().traits.update(handle, trait.key, flip=True)
    back: TraitFields = {"flip": True, "suggestion": is_suggestion(trait), "name": trait.name}
    return Undo(handle, f"flipped {trait.name}", (), (), updates={trait.key: back})


def make_own(handle: str, suggestions: Sequence[Trait], texts: Mapping[str, str]) -> tuple[Trait, Undo]:
    """Replace suggestions by one trait whose samples are their typical texts; return it.

    `texts` are the known texts by hash. The trait has the name and labels of the first suggestion. If a request fails,
    what was done is taken back and the error raised.
    """
    first, undone = suggestions[0], list[Trait]()
    new: Trait | None = None
    try:
        for each in suggestions:
            client().traits.delete(handle, each.key)
            undone.append(each)
        own = TraitInput(name=first.name, positive_label=first.positive_label, negative_label=first.negative_label)
        [new] = client().traits.add(handle, [own])
        client().samples.add(handle, typical_samples(suggestions, texts, new.key))
    except TraitbenchError:
        if new is not None:
            client().traits.delete(handle, new.key)
        for each in undone:
            client().traits.update(handle, each.key, suggestion=True)
        raise
    finally:
        forget_samples()
    what = f"{_named(suggestions)} turned into a trait of your own"
    return new, Undo(handle, what, (), (), new_traits=(new.key,), updates={each.key: _BACK for each in suggestions})


def typical_samples(suggestions: Sequence[Trait], texts: Mapping[str, str], key: str) -> list[SampleInput]:
    """The typical texts of suggestions as samples of one trait, without those that are typical of both poles."""
    quality: dict[str, set[float]] = {}
    for trait in suggestions:
        if trait.discovered is not None:
            for pole, hashes in ((1.0, trait.discovered.typical.positive), (0.0, trait.discovered.typical.negative)):
                for each in hashes:
                    quality.setdefault(each, set()).add(pole)
    return [
        SampleInput(trait=key, text=texts[each], quality=poles.copy().pop())
        for each, poles in quality.items()
        if each in texts and len(poles) == 1
    ]


def _each(handle: str, suggestions: Sequence[Trait], verb: str, change: Callable[[str], object]) -> Reviewed:
    """Change suggestions one by one until the service refuses one."""
    done, error = list[Trait](), None
    for trait in suggestions:
        try:
            change(trait.key)
        except TraitbenchError as refused:
            error = refused
            break
        done.append(trait)
    what = f"{verb} {_named(done)}" if done else "nothing changed"
    return Reviewed(done, Undo(handle, what, (), (), updates={trait.key: _BACK for trait in done}), error)


def _named(suggestions: Sequence[Trait]) -> str:
    return suggestions[0].name if len(suggestions) == 1 else count(len(suggestions), "suggestion")
