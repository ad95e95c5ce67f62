"""Before a draft is trained: whether it would be better than the model it was made from."""

from collections.abc import Sequence

import streamlit as st

from traitbench.comparison.drafts import compared_ahead
from traitbench.contract.comparisons import VersionsComparison
from traitbench.contract.models import Model
from traitbench.contract.page import LARGEST_SAMPLE_PAGE
from traitbench.contract.traits import Trait
from traitbench.display.text import plain
from traitbench.local import preview
from traitbench.local.preview import PreviewUnavailable
from traitbench_app.parts.improve import origin_of
from traitbench_app.parts.verdict import draw_picture, draw_verdict
from traitbench_app.parts.version_figures import names_of
from traitbench_app.shell import session
from traitbench_app.shell.service import client, version

_KEY = "train.ahead"


def draw_ahead(model: Model, traits: Sequence[Trait]) -> None:
    """Draw the button of the preview and its result; nothing unless the draft was made from a trained model."""
    origin = origin_of(model)
    if origin is None or origin.version_no is None or origin.state == "archived":
        return
    other = f"{plain(origin.handle)} v{origin.version_no}"
    with st.container(border=True, key=_KEY):
        st.markdown(
            f"**Would it be better than {other}?** This trains the draft in memory and checks it on its test samples."
        )
        state = [(each.key, each.sample_count, each.held_out_samples) for each in traits]
        if st.button("Compare before training", icon=":material/preview:", key=f"{_KEY}.preview"):
            with st.spinner("Training the draft in memory", show_time=True):
                try:
                    session.store(_KEY, (model.handle, state, _compared(model, origin, traits)))
                except PreviewUnavailable as reason:
                    session.store(_KEY, None)
                    st.info(plain(str(reason)), icon=":material/info:")
        kept = session.get(_KEY)
        if kept and kept[:2] == (model.handle, state):
            names, labels = names_of(traits), (f"{origin.handle} v{origin.version_no}", "the draft")
            draw_verdict(kept[2], names, labels)
            draw_picture(kept[2], names, labels, key=f"{_KEY}.figures")
            st.caption("Nothing is stored. Training checks it again.")


def _compared(model: Model, origin: Model, traits: Sequence[Trait]) -> VersionsComparison:
    samples, learned = (list(client().samples.list(each.handle, limit=LARGEST_SAMPLE_PAGE)) for each in (model, origin))
    rehearsal = preview.rehearse(model, traits, [each for each in samples if not each.held_out])
    listed = client().versions.get(origin.handle, f"v{origin.version_no}")
    return compared_ahead(origin.handle, version(origin.handle, listed), model, rehearsal, samples, learned)
