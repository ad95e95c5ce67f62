"""Whether a model is getting better: how often each version is right, with its interval, and which one is in use."""

from collections.abc import Sequence
from itertools import pairwise

import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.versions import Version
from traitbench.display import held_out
from traitbench.display.pictures import RightShare, course
from traitbench.display.quality import by_trait, evidence_on, wilson
from traitbench.display.text import count
from traitbench_app.parts.version_figures import label
from traitbench_app.shell.navigation import page_link
from traitbench_app.shell.service import client

MOST = 8
"""The number of versions that the picture shows, the newest ones."""


def shares_of(versions: Sequence[Version], active: int | None) -> list[RightShare]:
    """Return the measured versions as shares over time, the oldest first; `versions` are newest first."""
    measured = [(each, evidence) for each in reversed(versions) if (evidence := evidence_on(by_trait(each.metrics)))]
    joined = [False, *(_have_same_tests(before, after) for (before, _), (after, _) in pairwise(measured))]
    return [
        RightShare(
            label(each),
            f"{each.created_at:%-d %b}",
            evidence.right,
            evidence.samples,
            wilson(evidence.right, evidence.samples),
            is_accented=each.version_no == active,
            is_joined=is_joined,
        )
        # `joined` begins with a False even if nothing was measured.
        for (each, evidence), is_joined in zip(measured, joined, strict=False)
    ]


def draw_course(model: Model, versions: Sequence[Version], *, is_listed: bool = False) -> None:
    """Draw the newest versions, which one is in use since when, and links to compare two and to see all."""
    shown = shares_of(versions[:MOST], model.version_no)
    if shown:
        st.html(course(shown))
    unmeasured = len(versions[:MOST]) - len(shown)
    with st.container(horizontal=True, vertical_alignment="center"):
        since = "" if len(versions) == 1 else _in_use(model)
        apart = _apart(shown)
        missing = f"{count(unmeasured, 'version')} without a figure." if unmeasured else ""
        st.markdown(" ".join(part for part in (since, apart, missing) if part), width="stretch")
        if (pair := _pair(model, versions)) is not None:
            a, b = map(label, pair)
            page_link("versions", f"Compare {a} with {b}", view="Compare", a=a, b=b)
        if not is_listed:
            page_link("versions", "All versions", view="All")


def _have_same_tests(before: Version, after: Version) -> bool:
    one, other = held_out.measured_sets(before.metrics), held_out.measured_sets(after.metrics)
    return bool(one) and one == other and all(digest for _, digest in one)


def _apart(shown: Sequence[RightShare]) -> str:
    if len(shown) < 2:
        return "One version so far: the next one shows whether it is better." if shown else ""
    if all(each.is_joined for each in shown[1:]):
        return f"Scale: how many of 10 are right, all on the same {count(shown[-1].samples, 'test sample')}."
    return "Scale: how many of 10 are right. Versions without a line between them were measured on different texts."


def _in_use(model: Model) -> str:
    """`v4 has been in use since 24 Nov.`; empty if nothing is recorded."""
    latest = client().versions.activations(model.handle, limit=1).first()
    if latest is None or latest.version_no != model.version_no or model.state == "archived":
        return ""
    return f"v{latest.version_no} has been in use since {latest.activated_at:%-d %b %Y}."


def _pair(model: Model, versions: Sequence[Version]) -> tuple[Version, Version] | None:
    """The active version and the newest other one, the older first."""
    active = next((each for each in versions if each.version_no == model.version_no), None)
    others = [each for each in versions if each.version_no != model.version_no]
    if active is None or not others:
        return None
    older, newer = sorted((active, others[0]), key=lambda each: each.version_no)
    return older, newer
