"""The verdict on two versions: a sentence with the reason, figures on the same test samples, and what changed."""

from collections.abc import Mapping

import streamlit as st

from traitbench.contract.comparisons import VersionsComparison
from traitbench.contract.versions import Version
from traitbench.display.text import plain
from traitbench.display.verdicts import heading
from traitbench.names import pin
from traitbench_app.parts import comparisons
from traitbench_app.parts.version_figures import on_screen
from traitbench_app.shell.service import attempt, client, reader


@st.cache_data(ttl=600, max_entries=64, show_spinner=False)
def compared(reader: tuple[str, str], a: str, b: str) -> VersionsComparison:
    """The comparison of two pinned versions; test samples may change only with a version, so it is kept a while."""
    return client().versions.compare(a, b)


def draw_verdict(comparison: VersionsComparison, other: str) -> None:
    """Draw the verdict on the second version and its reason; `other` names the first."""
    st.subheader(heading(comparison.verdict, other), icon=comparisons.ICONS[comparison.verdict], anchor=False)
    st.markdown(plain(comparisons.reason(comparison)))


def draw_compared_with(handle: str, before: Version, after: Version) -> None:
    """Draw the verdict on two versions of a model as one line."""
    with attempt() as comparing:
        comparison = compared(reader(), *(pin(handle, f"v{each.version_no}") for each in (before, after)))
    if comparing.done:
        st.markdown(f"**Compared with v{before.version_no}.** {plain(comparison.reason)}")


def draw_figures(
    comparison: VersionsComparison, names: Mapping[str, str], labels: tuple[str, str], *, key: str
) -> None:
    """Draw the figures by trait with their intervals; nothing without common test samples."""
    table = comparisons.figures(comparison, names, labels)
    if table.empty or not any(each.n for each in comparison.traits.values()):
        return
    st.dataframe(
        on_screen(table, [f"AUROC {each}" for each in labels], 3),
        hide_index=True,
        width="stretch",
        placeholder="–",
        key=key,
        column_config={
            **{f"AUROC {each}": st.column_config.NumberColumn(format="%.3f") for each in labels},
            **{f"Wrong side {each}": st.column_config.NumberColumn(format="percent") for each in labels},
        },
    )
    st.caption(
        "Both versions scored the same test samples; neither was trained with them. AUROC: 0.5 is chance, 1 is perfect."
    )


def draw_changes(comparison: VersionsComparison, names: Mapping[str, str]) -> None:
    """Draw what changed from the first version to the second; nothing if nothing did."""
    if said := comparisons.changes(comparison.changed, names):
        with st.expander("What changed", icon=":material/difference:"):
            st.markdown("\n".join(f"- {each}" for each in said))
