"""What changed between two versions, in words."""

from collections.abc import Mapping

from traitbench.contract.comparisons import SampleChanges, VersionChanges
from traitbench.display.text import count, plain


def changes(changed: VersionChanges, names: Mapping[str, str]) -> list[str]:
    """What changed between two versions, a sentence in Markdown each; empty if nothing did."""
    said = [
        _samples(changed.samples, "training sample", changed.unrecorded),
        _samples(changed.held_out, "test sample", None),
        _traits("New trait", changed.traits_added, names),
        _traits("Trait removed", changed.traits_removed, names),
    ]
    said += [
        f"{plain(names.get(str(each.trait), str(each.trait)))}: {plain(each.name.replace('_', ' '))} was"
        f" *{plain(str(each.a))}*, is *{plain(str(each.b))}*."
        for each in changed.traits_changed
    ]
    if changed.encoder is not None:
        said.append(f"Another encoder: {plain(str(changed.encoder.a))}, now {plain(str(changed.encoder.b))}.")
    if changed.parameters:
        said.append(f"Training chose {count(len(changed.parameters), 'other parameter')}.")
    return [each for each in said if each]


def _samples(changed: SampleChanges | None, what: str, unrecorded: str | None) -> str:
    if changed is None:
        return f"Which samples changed is not known: {plain(unrecorded)}." if unrecorded else ""
    counts = {"added": changed.added, "removed": changed.removed, "relabelled": changed.relabelled}
    said = [f"{number:,} {how}" for how, number in counts.items() if number]
    return f"{what.capitalize()}s: {', '.join(said)}." if said else ""


def _traits(what: str, keys: list[str], names: Mapping[str, str]) -> str:
    return f"{what}: {', '.join(plain(names.get(key, key)) for key in keys)}." if keys else ""
