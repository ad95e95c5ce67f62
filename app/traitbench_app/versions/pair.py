"""The two versions of the Compare view: of the model, of the model that it improves, and of its drafts."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.page import LARGEST_PAGE
from traitbench.contract.versions import Version
from traitbench.display.text import plain
from traitbench.names import pin
from traitbench_app.parts.controls import is_open
from traitbench_app.parts.model_actions import forks_of, origin_of
from traitbench_app.parts.version_figures import label, names_of
from traitbench_app.shell import session
from traitbench_app.shell.service import client

PREVIOUS, IN_USE = "previous", "in use"

FOLDS: Mapping[str, Sequence[str]] = {
    "All": ("record",),
    "Compare": ("table",),
    "Details": ("tags", "figures", "modes", "search", "parameters"),
}
"""The folded parts of each view, which are in its link while they are open."""

_GONE = "versions.gone"


@dataclass(frozen=True, eq=False)
class PairSide:
    """A version that can be chosen; `name` is `v3`, or `acme.tone@v3` if it is of another model."""

    name: str
    model: Model
    version: Version

    @property
    def pinned(self) -> str:
        """The handle pinned to the version."""
        return pin(self.model.handle, label(self.version))

    @property
    def state(self) -> str:
        """`in use`, `draft`, or empty for a version that does not score."""
        if self.version.version_no != self.model.version_no:
            return ""
        return "draft" if self.model.forked_from is not None else "in use"

    @property
    def title(self) -> str:
        """`the draft`, or the name."""
        return "the draft" if self.state == "draft" else self.name


def sides_of(model: Model, versions: Sequence[Version], *, relatives: bool) -> dict[str, PairSide]:
    """Return the versions to choose from by name: those of the model first, then those of its relatives if wanted."""
    sides = {label(each): PairSide(label(each), model, each) for each in versions}
    for relative in _relatives(model) if relatives else ():
        for each in client().versions.list(relative.handle, limit=LARGEST_PAGE):
            # The names of both models' versions begin at v1, so those of the other have its handle.
            name = pin(relative.handle, label(each))
            sides[name] = PairSide(name, relative, each)
    return sides


def in_link(sides: Mapping[str, PairSide], names: Mapping[str, str], model: Model) -> dict[str, str]:
    """The state of the Versions page as query parameters, with version numbers, so that a link never changes meaning.

    `names` maps trait keys to names; the link contains the name.
    """
    view, trait = session.on_screen("view", "All"), session.on_screen("trait", "")
    name = names.get(trait, trait)
    about = {"trait": name} if name in names.values() else {}
    about |= {key: "true" for key in FOLDS.get(view, ()) if is_open(key)}
    if view == "Details":
        version_no = session.on_screen("version", IN_USE)
        known = version_no in sides and sides[version_no].model is model
        return {"view": view, "version": version_no if known else f"v{model.version_no}", **about}
    if view == "Compare" and len(sides) > 1:
        before, after = pair_of(sides, model)
        return {"view": view, "a": before.name, "b": after.name, **about}
    return {"view": view, **about}


def gone(model: Model, view: str, known: Collection[str], keys: Sequence[str]) -> list[str]:
    """Return the versions that the link of this view names and that do not exist.

    A picker forgets an unknown version at once, so they are remembered until the person chooses another one.
    """
    asked = [session.on_screen(key, "") for key in keys]
    missing = [name for name in asked if name and name not in known and name not in (PREVIOUS, IN_USE)]
    if missing:
        session.store(_GONE, (model.handle, view, missing))
    stored = session.get(_GONE)
    if stored and stored[:2] == (model.handle, view):
        return list(stored[2])
    return []


def forget_gone() -> None:
    """Show what is chosen instead. A callback of the pickers."""
    session.store(_GONE, None)


def draw_gone(missing: Sequence[str]) -> None:
    """Say which versions of the link are gone."""
    names = " and ".join(f"**{plain(name)}**" for name in missing)
    verb, they = ("do", "They") if len(missing) > 1 else ("does", "It")
    st.error(
        f"{names} {verb} not exist. {they} may have been removed by the retention rule, or belong to an archived "
        "draft. Choose another version.",
        icon=":material/error:",
    )


def pair_of(sides: Mapping[str, PairSide], model: Model) -> tuple[PairSide, PairSide]:
    """Return the compared versions."""
    after = sides.get(session.on_screen("b", IN_USE)) or _active(sides, model)
    before = sides.get(session.on_screen("a", PREVIOUS)) or _previous(sides, after, model)
    return before, after


def pick_pair(sides: Mapping[str, PairSide], model: Model) -> tuple[PairSide, PairSide]:
    """Draw the two pickers."""
    wide = 260 if any("@" in name for name in sides) else 180
    with st.container(horizontal=True, key="versions.pickers"):
        st.selectbox("A, before", [PREVIOUS, *sides], key="a", bind="query-params", width=wide, on_change=forget_gone)
        st.selectbox("B, after", [IN_USE, *sides], key="b", bind="query-params", width=wide, on_change=forget_gone)
    return pair_of(sides, model)


def names_of_both(pair: tuple[PairSide, PairSide], model: Model, names: Mapping[str, str]) -> dict[str, str]:
    """Return the names of the traits of both models by key."""
    others = {each.model.handle for each in pair} - {model.handle}
    return {key: name for handle in others for key, name in names_of(client().traits.list(handle)).items()} | {**names}


def _relatives(model: Model) -> list[Model]:
    origin = origin_of(model)
    relatives = [*([origin] if origin is not None and origin.state != "archived" else []), *forks_of(model)]
    return [each for each in relatives if each.version_no is not None]


def _active(sides: Mapping[str, PairSide], model: Model) -> PairSide:
    return sides.get(f"v{model.version_no}") or next(iter(sides.values()))


def _previous(sides: Mapping[str, PairSide], after: PairSide, model: Model) -> PairSide:
    """The version before the other one; before the first, that of the original, else the version after it."""
    if after.model is not model:
        return _active(sides, model)
    own = [each for each in sides.values() if each.model is model]
    at = own.index(after)
    if at + 1 < len(own):
        return own[at + 1]
    if model.forked_from is not None:
        handle, version_no = model.forked_from.handle, model.forked_from.version_no
        origins = [each for each in sides.values() if each.model.handle == handle]
        made_from = next((each for each in origins if each.version.version_no == version_no), None)
        if origins:
            return made_from or origins[0]
    return own[at - 1]
