"""Test samples on the Samples page: set some aside in one click."""

from collections.abc import Callable, Sequence

import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.samples import Sample
from traitbench.contract.traits import Trait
from traitbench.display.text import count, plain
from traitbench.local import held_out, preview
from traitbench_app.samples.editing import apply
from traitbench_app.shell import session
from traitbench_app.shell.service import attempt

_SEED, _REFUSED = "samples.seed", "samples.not_set_aside"

_ABOUT = (
    f"Picks {held_out.SHARE:.0%} of the texts at each pole of each trait at random, at least {held_out.AT_LEAST}. "
    "No version learns from them, and every version is measured on them. Near duplicates, and texts with their "
    "variations, go aside together."
)


def draw_set_aside(model: Model, traits: Sequence[Trait], tests: int, every: Callable[[], Sequence[Sample]]) -> None:
    """Draw how many test samples there are, and the button that sets some aside, which reads all samples."""
    some = f"{count(tests, 'test sample')}: no version learns from them."
    none = "No test samples: nothing shows yet how good a version is on texts that it never saw."
    with st.container(horizontal=True, vertical_alignment="center", key="samples.tests"):
        st.caption(f":material/science: {some if tests else none}", width="content")
        asked = st.button("Set test samples aside", icon=":material/call_split:", key="samples.set_aside", help=_ABOUT)
        with st.popover("Seed", type="tertiary"):
            seed = st.number_input(
                "Seed",
                0,
                2**31 - 1,
                0,
                key=_SEED,
                help="The same samples and the same seed give the same choice.",
                persist_state="session",
            )
    slot = st.container()
    if asked:
        session.store(_REFUSED, None)
        with slot:
            _set_aside(model, traits, every(), seed=int(seed))
    if (refused := session.get(_REFUSED)) and refused[0] == model.handle:
        slot.info(plain(refused[1]), icon=":material/info:")


def _set_aside(model: Model, traits: Sequence[Trait], samples: Sequence[Sample], *, seed: int) -> None:
    bar = st.empty()
    try:
        preview.read(samples, lambda done, of: bar.progress(done / of, text=f"Reading {done:,} of {of:,} texts"))
        chosen = held_out.choice(samples, preview.vectors(samples), seed=seed)
    except preview.PreviewUnavailable as reason:
        session.store(_REFUSED, (model.handle, str(reason)))
        return
    finally:
        bar.empty()
    if refusal := held_out.refusal(chosen, traits):
        session.store(_REFUSED, (model.handle, f"Nothing was set aside. {refusal}"))
        return
    ids = frozenset(chosen.ids)
    done = held_out.done(chosen, samples, traits)
    short = " ".join(held_out.shortages(chosen.too_few, traits))
    session.store(_REFUSED, (model.handle, short) if short else None)
    own = [sample for sample in samples if sample.id in ids]
    with attempt() as marking:
        seen = {sample.id: sample for sample in own}

        def say(changed: int, _deleted: int) -> str:
            all_said = plain(done) if changed == len(seen) else ""
            return all_said or f"{count(changed, 'sample')} set aside for testing."

        apply(model, say, seen, updates={each: {"held_out": True, "must_pass": False} for each in seen})
    if marking.done:
        st.rerun()
