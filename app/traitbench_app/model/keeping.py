"""The retention rule for versions: edit it, preview what it removes, or reset it to the defaults."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from traitbench.contract.models import Model, VersionRetentionPolicy
from traitbench.contract.page import LARGEST_PAGE
from traitbench.contract.versions import PrunableVersion, Version, versions_to_keep
from traitbench.display.text import count
from traitbench_app.parts.controls import ask, asked, confirm
from traitbench_app.parts.version_figures import names_of_versions, policy_of
from traitbench_app.shell import session
from traitbench_app.shell.service import attempt, client

PRUNE = "model.prune"
_FORM = "model.policy"
_DEFAULTS = VersionRetentionPolicy()
_MOST = 1_000_000
_LARGEST = 2**53 - 1  # the largest integer that a browser represents exactly
_NAMED = 12


def version_keeping(model: Model) -> None:
    """Draw the rule and the versions that it would remove."""
    versions = list(client().versions.list(model.handle, limit=LARGEST_PAGE)) if model.version_no is not None else []
    own = model.version_retention_policy
    st.markdown(
        "This rule removes old versions when a new one is added. Tagged versions and the version in use are always "
        "kept."
    )
    policy = _fields(model, policy_of(model))
    going = would_go(model, versions, policy)
    _draw_effect(versions, going)
    changed, to_defaults = policy != policy_of(model), own is not None
    refusal = st.container()
    with st.container(horizontal=True, vertical_alignment="center"):
        saved = st.button(
            f"Save and remove {count(len(going), 'version')}" if changed and going else "Save",
            type="primary",
            icon=":material/check:",
            disabled=not changed,
            key="model.policy_save",
        )
        reset = st.button(
            "Reset to defaults",
            icon=":material/restart_alt:",
            disabled=not to_defaults,
            key="model.policy_reset",
            help=f"Keep the newest {_DEFAULTS.keep_unnamed} versions without a tag, and the first of each month.",
        )
        if not to_defaults:
            st.caption("These are the defaults." if not changed else "")
    if saved or reset:
        wanted = policy if saved else None
        gone = going if saved else would_go(model, versions, _DEFAULTS)
        if gone:
            ask(PRUNE, "" if wanted is None else wanted.model_dump_json())
        else:
            with refusal, attempt() as acting:
                _save(model.handle, wanted, 0)
            if acting.done:
                st.rerun()
    _confirm(model, versions)


def would_go(model: Model, versions: Sequence[Version], policy: VersionRetentionPolicy) -> list[Version]:
    """The versions that this rule would remove at once, newest first."""
    stay = versions_to_keep(
        [
            PrunableVersion(
                version_id=each.version_id,
                version_no=each.version_no,
                created_at=each.created_at,
                tagged=bool(each.tags),
                active=each.version_id == model.current_version_id,
                held=each.version_no == model.held_version_no,
            )
            for each in versions
        ],
        keep_unnamed=policy.keep_unnamed,
        keep_first_of_month=policy.keep_first_of_month,
    )
    return [each for each in versions if each.version_id not in stay]


def _fields(model: Model, shown: VersionRetentionPolicy) -> VersionRetentionPolicy:
    form = f"{session.round_key(_FORM)}.{model.handle}"
    unnamed = st.number_input(
        "Versions without a tag to keep",
        min_value=0,
        # A rule that a program has set may be larger than people choose here.
        max_value=max(_MOST, min(shown.keep_unnamed, _LARGEST)),
        value=min(shown.keep_unnamed, _LARGEST),
        step=1,
        key=f"{form}.keep_unnamed",
        width=320,
        persist_state="session",
    )
    monthly = st.toggle(
        "Also keep the first version of each month",
        value=shown.keep_first_of_month,
        key=f"{form}.keep_first_of_month",
        help="Months are in UTC.",
        persist_state="session",
    )
    return VersionRetentionPolicy(keep_unnamed=int(unnamed), keep_first_of_month=monthly)


def _draw_effect(versions: Sequence[Version], going: Sequence[Version]) -> None:
    if not versions:
        st.caption("No versions yet.")
    elif not going:
        st.caption(f"{count(len(versions), 'version')} now. This rule removes none of them.")
    else:
        st.warning(
            f"{count(len(versions), 'version')} now. This rule removes **{count(len(going), 'version')}** at once: "
            f"{names_of_versions(going, _NAMED)}.",
            icon=":material/delete_sweep:",
        )


def _confirm(model: Model, versions: Sequence[Version]) -> None:
    wanted = asked(PRUNE)
    if wanted is None:
        return
    policy = VersionRetentionPolicy.model_validate_json(wanted) if wanted else None
    going = would_go(model, versions, policy or _DEFAULTS)
    confirm(
        PRUNE,
        title=f"Remove {count(len(going), 'version')}?",
        body=f"This permanently removes {names_of_versions(going, _NAMED)}. To keep a version, tag it first.",
        yes="Save and remove",
        icon=":material/delete_sweep:",
        act=partial(_save, model.handle, policy, len(going)),
        no="Keep them",
    )


def _save(handle: str, policy: VersionRetentionPolicy | None, going: int) -> None:
    client().models.update(handle, version_retention_policy=policy)
    session.next_round(_FORM)
    gone = f" {count(going, 'version')} removed." if going else ""
    session.flash(("Saved." if policy else "Reset to defaults.") + gone)
