"""Suggestions of a discovery: what lies at both ends of each axis, and what to do with it, also by key and in bulk."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

import streamlit as st

from traitbench.contract.rounding import in_decimals
from traitbench.contract.samples import SampleInput
from traitbench.contract.traits import Discovered, Trait, TraitFields, TraitInput
from traitbench.display.colours import DISCOVERED_SIGN, NEGATIVE_SIGN, PALETTE, POSITIVE_SIGN, SIDES
from traitbench.display.quality import how_stable, how_well
from traitbench.display.text import count, plain, shortened
from traitbench.errors import TraitbenchError
from traitbench_app.shell import session
from traitbench_app.shell.service import attempt, client, explain
from traitbench_app.traits.editing import open_editor
from traitbench_app.workspace.changes import Undo, is_suggestion, remember, take_back
from traitbench_app.workspace.samples import forget_samples

_TYPICAL, _LONGEST = 3, 220
_REFUSED = "traits.suggestions_refused"
_BAR = "flex:1 1 0;min-width:2px;border-radius:2px 2px 0 0"


def draw_suggestions(
    handle: str,
    suggestions: Sequence[Trait],
    names: Mapping[str, str],
    texts: Mapping[str, str],
    *,
    with_samples: bool,
) -> None:
    """Draw the suggestions with their actions. `names` are those of all traits by key, `texts` known ones by hash.

    `with_samples` says whether the model has samples to train with.
    """
    st.header("Suggestions", icon=":material/explore:", anchor=False)
    st.caption(
        "Only what you keep becomes a trait."
        + (
            ""
            if with_samples
            else " This model has no samples yet: make a suggestion your own, and its typical texts become samples."
        )
    )
    if refused := session.get(_REFUSED):
        st.error(refused, icon=":material/error:")
        session.store(_REFUSED, None)
    picked = [trait for trait in suggestions if session.get(_picked(trait))]
    _draw_bulk(handle, suggestions, picked, texts)
    for position, trait in enumerate(suggestions):
        with st.container(border=True, key=f"card.suggestion.{trait.key}"):
            _draw_one(handle, trait, names, texts, first=position == 0)


def draw_ends(trait: Trait, texts: Mapping[str, str]) -> None:
    """Draw the phrases and typical texts of both poles."""
    discovered = trait.discovered
    if discovered is None:
        return
    ends = (
        (False, trait.negative_label, discovered.phrases.negative, discovered.typical.negative),
        (True, trait.positive_label, discovered.phrases.positive, discovered.typical.positive),
    )
    for column, (positive, label, phrases, typical) in zip(st.columns(2, gap="medium"), ends, strict=True):
        with column:
            sign = POSITIVE_SIGN if positive else NEGATIVE_SIGN
            others = [phrase for phrase in phrases if f"“{phrase}”" not in label]
            badges = " ".join(f":{SIDES[positive].badge}-badge[{plain(phrase)}]" for phrase in others)
            st.markdown(f":{SIDES[positive].badge}[{sign}] **{plain(label)}** {badges}")
            known = [texts[each] for each in typical if each in texts][:_TYPICAL]
            for text in known:
                st.markdown(f":small[“{plain(shortened(text, _LONGEST))}”]")
            if not known:
                st.caption("Its typical texts are not stored here.")


def _draw_one(handle: str, trait: Trait, names: Mapping[str, str], texts: Mapping[str, str], *, first: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.checkbox(
            f"Select {trait.name}",
            key=_picked(trait),
            label_visibility="collapsed",
            width="content",
            persist_state="page",
        )
        # A name that only joins the poles stands above their texts already.
        if trait.name != f"{trait.negative_label} – {trait.positive_label}":
            st.markdown(f"**{plain(trait.name)}** {DISCOVERED_SIGN}", width="stretch")
        if trait.discovered is not None:
            st.caption(_in_words(trait, trait.discovered), width="content")
    draw_ends(trait, texts)
    with st.container(horizontal=True, vertical_alignment="center"):
        _draw_actions(handle, trait, texts, first=first)
    with st.expander("Figures", icon=":material/bar_chart:", key=f"traits.figures.{trait.key}"):
        draw_details(trait, names)


def _draw_actions(handle: str, trait: Trait, texts: Mapping[str, str], *, first: bool) -> None:
    """Draw the buttons; those of the first suggestion have keys."""
    one, renames = (handle, [trait]), "Change its name, poles or description. That keeps it."
    owns = "Its typical texts become samples that you can edit, of a trait that learns from them."
    actions: Sequence[tuple[str, str, str, str, str | None, Callable[..., None], tuple[object, ...]]] = (
        ("keep", "Keep", "check", "K", None, _keep, one),
        ("dismiss", "Dismiss", "close", "D", None, dismiss, one),
        ("edit", "Rename", "edit", "E", renames, open_editor, (trait.key,)),
        ("flip", "Flip", "swap_horiz", "F", "Exchange its poles. That keeps it.", flip, (handle, trait)),
        ("own", "Make it my own", "label", "M", owns, _make_own, (*one, texts)),
    )
    for name, label, icon, shortcut, hint, act, arguments in actions:
        st.button(
            label,
            icon=f":material/{icon}:",
            type="primary" if first and name == "keep" else "secondary",
            shortcut=shortcut if first else None,
            key=f"traits.{name}.{trait.key}",
            help=hint,
            disabled=name == "own" and not typical_samples([trait], texts, trait.key),
            on_click=act,
            args=arguments,
        )


def _draw_bulk(handle: str, every: Sequence[Trait], picked: Sequence[Trait], texts: Mapping[str, str]) -> None:
    """Draw the actions on several suggestions: those that are selected, or all."""
    if len(every) < 2:
        return
    chosen, which = (picked, f"{len(picked)} selected") if picked else (every, "all")
    with st.container(horizontal=True, vertical_alignment="center", key="traits.suggestions_bulk"):
        st.button(f"Keep {which}", key="traits.keep_many", on_click=_keep, args=(handle, chosen))
        st.button(f"Dismiss {which}", key="traits.dismiss_many", on_click=dismiss, args=(handle, chosen))
        if len(picked) > 1:
            st.button(
                "Merge into one trait",
                icon=":material/merge:",
                key="traits.merge",
                help="Their typical texts become samples of one trait. Flip first what points the other way.",
                disabled=not typical_samples(picked, texts, ""),
                on_click=_make_own,
                args=(handle, picked, texts),
            )


# ---- figures ---------------------------------------------------------------------------------------------------------


def draw_details(trait: Trait, names: Mapping[str, str]) -> None:
    """Draw the figures of a discovered trait, how its texts spread, and what it overlaps with."""
    lines, discovered = list[str](), trait.discovered
    if trait.discrimination is not None:
        lines.append(
            f"**Discrimination {in_decimals(trait.discrimination)}:** words alone separate its two poles "
            f"{how_well(trait.discrimination)} on held-out texts (0.5 is chance, 1 is perfect)."
        )
    if trait.explained_variance is not None:
        lines.append(
            f"**Explained variance {100 * trait.explained_variance:.1f} %:** its share of the differences between "
            "texts, measured on held-out halves."
        )
    if discovered is not None and discovered.stability is not None:
        lines.append(
            f"**Stability {discovered.stability:.2f}:** the axis of one half of the texts is "
            f"{how_stable(discovered.stability)} like that of the other half (1 is equal)."
        )
    for each in discovered.overlaps if discovered is not None else ():
        way = "with" if each.correlation > 0 else "against"
        lines.append(f"**Overlap {each.correlation:+.2f}:** it goes {way} {plain(names.get(each.trait, each.trait))}.")
    if lines:
        st.markdown("\n".join(f"- :small[{line}]" for line in lines))
    if discovered is not None and discovered.histogram:
        _draw_histogram(trait, discovered.histogram)


def _draw_histogram(trait: Trait, counts: Sequence[int]) -> None:
    half, most = len(counts) // 2, max(max(counts), 1)
    left, right = sum(counts[:half]), sum(counts[half:])
    said = f"{left:,} texts nearer to {trait.negative_label}, {right:,} nearer to {trait.positive_label}"
    bars = "".join(
        f'<span style="{_BAR};height:{100 * number / most:.0f}%;background:'
        f'{PALETTE.negative if position < half else PALETTE.positive}"></span>'
        for position, number in enumerate(counts)
    )
    st.html(
        f'<div role="img" aria-label="{escape(said)}"><div style="display:flex;align-items:flex-end;gap:2px;'
        f'height:4rem;max-width:32rem;border-bottom:1px solid {PALETTE.neutral}">{bars}</div></div>'
    )
    st.caption(f"{NEGATIVE_SIGN} {left:,} texts nearer to the left pole, {right:,} to the right pole {POSITIVE_SIGN}")


def _in_words(trait: Trait, discovered: Discovered) -> str:
    parts = []
    if trait.discrimination is not None:
        parts.append(f"Words separate the poles {how_well(trait.discrimination)}")
    if discovered.stability is not None:
        parts.append(f"{how_stable(discovered.stability)} stable")
    if discovered.texts is not None:
        parts.append(count(discovered.texts, "text"))
    return " · ".join(parts)


# ---- actions ---------------------------------------------------------------------------------------------------------

_BACK: TraitFields = {"suggestion": True}


@dataclass(frozen=True)
class Reviewed:
    """The suggestions that were changed, how to undo that, and the error that stopped the rest, if any."""

    done: Sequence[Trait]
    undo: Undo
    error: TraitbenchError | None


def _keep(handle: str, suggestions: Sequence[Trait]) -> None:
    """Keep suggestions, so that the next discovery does not replace them. A button callback."""
    _finish(_each(handle, suggestions, "kept", lambda key: client().traits.update(handle, key, suggestion=False)))


def dismiss(handle: str, suggestions: Sequence[Trait]) -> None:
    """Delete suggestions; they can be brought back until the next discovery or training. A button callback."""
    _finish(_dismissed(handle, suggestions))


def name_suggestion(handle: str, suggestion: Trait, name: str, words: tuple[str, str]) -> str:
    """Keep a suggestion under a name, between two words, and return its key; raise the service's errors."""
    before: TraitFields = {
        "suggestion": True,
        "name": suggestion.name,
        "negative_label": suggestion.negative_label,
        "positive_label": suggestion.positive_label,
    }
    client().traits.update(
        handle,
        suggestion.key,
        name=name,
        negative_label=words[0],
        positive_label=words[1],
        suggestion=False,
    )
    remember(Undo(handle, f"kept {suggestion.name}", updates={suggestion.key: before}))
    return suggestion.key


def _dismissed(handle: str, suggestions: Sequence[Trait]) -> Reviewed:
    return _each(handle, suggestions, "dismissed", lambda key: client().traits.delete(handle, key))


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
    return Reviewed(done, Undo(handle, what, updates={trait.key: _BACK for trait in done}), error)


def _finish(reviewed: Reviewed) -> None:
    if reviewed.done:
        remember(reviewed.undo)
        what = plain(reviewed.undo.what)
        session.flash(f"{what[0].upper()}{what[1:]}.")
    if reviewed.error is not None:
        session.store(_REFUSED, explain(reviewed.error))


def left_out(handle: str, suggestions: Sequence[Trait], start: Callable[[], object]) -> None:
    """Dismiss suggestions and start a training, which then learns only what was kept.

    If a request fails, the suggestions are back and the error is raised.
    """
    dismissed = _dismissed(handle, suggestions)
    try:
        if dismissed.error is not None:
            raise dismissed.error
        start()
    except TraitbenchError:
        # Otherwise a failed start would have dismissed them for nothing.
        take_back(dismissed.undo)
        raise


def flip(handle: str, trait: Trait) -> None:
    """Exchange the poles of a discovered trait. A button callback."""
    with attempt() as flipping:
        client().traits.update(handle, trait.key, flip=True)
    if flipping.done:
        back: TraitFields = {"flip": True, "suggestion": is_suggestion(trait), "name": trait.name}
        remember(Undo(handle, f"flipped {trait.name}", updates={trait.key: back}))
        session.flash(f"Flipped {plain(trait.name)}.")


def _make_own(handle: str, suggestions: Sequence[Trait], texts: Mapping[str, str]) -> None:
    """Replace suggestions by a trait of one's own and open its form. A button callback."""
    with attempt() as making:
        new = _made_own(handle, suggestions, texts)
    if making.done:
        what = f"{_named(suggestions)} turned into a trait of your own"
        back = {each.key: _BACK for each in suggestions}
        remember(Undo(handle, what, new_traits=(new.key,), updates=back))
        session.flash(f"{plain(new.name)} is a trait of your own now. Name it, then check its samples.")
        open_editor(new.key)


def _made_own(handle: str, suggestions: Sequence[Trait], texts: Mapping[str, str]) -> Trait:
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
        # Also after a failure, which may have come after the samples were added.
        forget_samples()
    return new


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


def _named(suggestions: Sequence[Trait]) -> str:
    return suggestions[0].name if len(suggestions) == 1 else count(len(suggestions), "suggestion")


def _picked(trait: Trait) -> str:
    return f"traits.pick.{trait.key}"
