"""The workbench's door to the service: one client, what a failure means to a person, and readers of what never changes.

Pages speak HTTP like any program. `guarded` stands around every page, so a page handles only the errors it can answer
beside a field (`attempt`); the rest ends the page with a sentence that says what to do.
"""

import logging
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from ulid import ULID

from traitbench.app import people
from traitbench.app.people import Person, SignedOut
from traitbench.app.text import count, plain
from traitbench.client import Traitbench
from traitbench.contract.models import Model, State
from traitbench.contract.page import LARGEST_PAGE
from traitbench.contract.unreadable import Unreadable
from traitbench.contract.versions import Version
from traitbench.errors import (
    BodyTooLarge,
    DuplicateTrait,
    FeatureUnavailable,
    HandleTaken,
    InsufficientScope,
    InternalError,
    ModelArchived,
    ModelBusy,
    ModelNotDraft,
    ModelNotFound,
    ModelNotTrained,
    NamespaceForbidden,
    NotFound,
    TraitbenchError,
    Unauthenticated,
    Unavailable,
    Unreachable,
    ValidationFailed,
)
from traitbench.settings import Settings, read_settings

_AT_MOST = re.compile(r"\bat most (\d{1,18}) (?:items|characters)")
_NOT = re.compile(r"\bnot (\d{1,18})$")

_CLIENTS: dict[tuple[str, str], Traitbench] = {}
_NAMESPACES: dict[tuple[str, str], tuple[str, ...]] = {}
_NOBODYS = "nobodys-namespace"
# A plain link, for Streamlit's own buttons open another tab.
_SIGN_IN = (
    '<a href="/sign-in" style="display: inline-block; padding: 0.4rem 0.9rem; border-radius: 8px; '
    'background: #0f766e; color: #fff; text-decoration: none">Sign in</a>'
)
_LOCK = threading.Lock()


def client() -> Traitbench:
    """The client of the service that the environment names, with the key of whoever's page this is; keep-alive, one
    for each key, safe from any session.
    """
    settings = read_settings()
    address = (settings.base_url, api_key(settings))
    with _LOCK:
        if address not in _CLIENTS:
            _CLIENTS[address] = Traitbench(base_url=address[0], api_key=address[1], timeout=30.0)
        return _CLIENTS[address]


def _forget(person: Person) -> None:
    """Let go of what was kept for the key of a person whose session has ended."""
    held: dict[tuple[str, str], Any]
    with _LOCK:
        for held in (_CLIENTS, _NAMESPACES):
            for address in [each for each in tuple(held) if person.key and each[1] == person.key]:
                held.pop(address, None)


people.SESSIONS.when_ended(_forget)


def api_key(settings: Settings) -> str:
    """The key of the person signed in, else the workbench's: the one given, else its own, or empty until the first
    start has issued it.
    """
    return people.current().key or settings.service_key()


# ---- errors --------------------------------------------------------------------------------------------------------

_WAYS_OUT: Mapping[type[TraitbenchError], str] = {
    Unauthenticated: "The service does not accept this workbench's API key. Set `TRAITBENCH_API_KEY` to a valid key, "
    "or unset it to use the built-in one, and start the workbench again.",
    InsufficientScope: "This workbench's API key may score but not change models. Use a key of scope `authoring`.",
    NamespaceForbidden: "Models can only be changed in a namespace that this workbench's API key owns.",
    ModelNotFound: "It may be in a namespace that this workbench's API key cannot read. The Catalog lists all it can.",
    NotFound: "Somebody may have removed it meanwhile. Reload the page to see what is there now.",
    ModelBusy: "An operation is running on this model; the Train page shows how far it is. Try again when it is done.",
    ModelNotDraft: "Its traits and samples are frozen into its versions. To change them, start a new model.",
    ModelArchived: "It can still be read. To go on, create a new model under another name.",
    ModelNotTrained: "Give it traits and samples, then train it on the Train page.",
    HandleTaken: "Archived models keep their names. Choose another one.",
    FeatureUnavailable: "",
    BodyTooLarge: "Send less at once, or split the longest text.",
    ValidationFailed: "",
    InternalError: "This is a fault of the service. Nothing was changed. Its log has the details under the request id.",
    Unreachable: "Once it runs again, look at what is there before you repeat this.",
    Unavailable: "The service is starting or overloaded. Try again in a moment.",
    TraitbenchError: "",
}


_ABOUT: Mapping[type[TraitbenchError], str] = {HandleTaken: "handle", DuplicateTrait: "name"}
"""The field that an error is about when it does not name one."""


def explain(error: TraitbenchError) -> str:
    """An error as markdown for a person: what happened, the way out, and the request id for the operator."""
    way_out = next(_WAYS_OUT[cls] for cls in type(error).__mro__ if cls in _WAYS_OUT)
    left = len(error.details.get("left_behind", ()))
    behind = f"{count(left, 'sample')} had gone in before and could not be removed again." if left else ""
    sentences = " ".join(part for part in (plain(error.message), *_unfielded(error), behind, way_out) if part)
    return f"{sentences}\n\n:small[:gray[Request {error.request_id}]]" if error.request_id else sentences


def complaints(error: TraitbenchError) -> dict[str, list[str]]:
    """What was wrong, by field; the last name in the path of an error is the field a person typed in."""
    found: dict[str, list[str]] = {}
    for each in error.details.get("errors", ()):
        names = [part for part in each.get("loc", ()) if isinstance(part, str)]
        found.setdefault(names[-1] if names else "", []).append(_plainer(each))
    about = _ABOUT.get(type(error)) or error.details.get("field")
    if not found and isinstance(about, str):
        found[about] = [error.message]
    return found


def _plainer(each: Mapping[str, object]) -> str:
    """The service's words for programs in those for people, where they differ."""
    message = str(each.get("msg", "is not valid"))
    if each.get("type") in ("string_too_short", "missing"):
        return "This is needed."
    if too_long := _AT_MOST.search(message):
        is_now = _NOT.search(message, too_long.end())
        most = f"{int(too_long[1]):,}"
        return f"At most {most} characters" + (f"; this has {int(is_now[1]):,}." if is_now else ".")
    return message


def _unfielded(error: TraitbenchError) -> list[str]:
    return [
        f"{plain(field_name)}: {plain('; '.join(messages))}." if field_name else plain("; ".join(messages))
        for field_name, messages in complaints(error).items()
        if messages != [error.message]
    ]


@contextmanager
def guarded() -> Iterator[None]:
    """End the page with an explanation when the service refuses or is away. Also for the body of a fragment."""
    try:
        yield
    except Unreachable as error:
        _away(error)
        st.stop()
    except Unauthenticated as error:
        if read_settings().sign_in == "none":
            st.error(explain(error), icon=":material/error:")
        else:
            _signed_out(error)
        st.stop()
    except TraitbenchError as error:
        st.error(explain(error), icon=":material/error:")
        st.stop()


@dataclass
class Attempt:
    """How an action went; `error` is what was shown."""

    error: TraitbenchError | None = None
    done: bool = field(default=False)


@contextmanager
def attempt(slots: Mapping[str, DeltaGenerator] | None = None) -> Iterator[Attempt]:
    """Try an action of a page: a refusal is written below the field it is about, else right here; the page goes on.

    `slots` are empty places by field name. Whatever was typed stays in its widgets.
    """
    this = Attempt()
    try:
        yield this
    except TraitbenchError as error:
        this.error = error
        _write(error, slots or {})
    else:
        this.done = True


def _write(error: TraitbenchError, slots: Mapping[str, DeltaGenerator]) -> None:
    by_field = complaints(error)
    if by_field and all(name in slots for name in by_field):
        for name, messages in by_field.items():
            field_error(slots[name], "; ".join(messages))
    else:
        st.error(explain(error), icon=":material/error:")


def crashed(error: Exception) -> bool:
    """Draw what nobody caught, in words; a fault of the workbench goes to the log under an id that is shown."""
    if isinstance(error, TraitbenchError):
        st.error(explain(error), icon=":material/error:")
        return True
    crash = f"wb_{ULID()}"
    logging.getLogger(__name__).error("%s: %s", crash, type(error).__name__, exc_info=error)
    st.error(
        "**The workbench has made a mistake.** What was saved before is safe. Reload the page to go on; if it happens "
        f"again, the operator finds it in the log.\n\n:small[:gray[{crash}]]",
        icon=":material/bug_report:",
    )
    return True


def field_error(slot: DeltaGenerator, message: str) -> None:
    """Write below a field what is wrong with it."""
    slot.markdown(f":small[:red[:material/error: {plain(message)}]]")


def _signed_out(error: Unauthenticated) -> None:
    people.sign_out()
    with st.container(border=True, key="signed_out"):
        if isinstance(error, SignedOut):
            st.subheader("You are signed out", icon=":material/logout:", anchor=False)
            st.markdown("What you saved is kept. Sign in to go on.")
        elif read_settings().sign_in == "oidc":
            st.subheader("Your session was ended", icon=":material/logout:", anchor=False)
            st.markdown("The operator has ended it. What you saved is kept. Sign in to go on.")
        else:
            st.subheader("Your API key is no longer valid", icon=":material/key_off:", anchor=False)
            st.markdown("It was revoked, so you are signed out. Ask the operator for a new key, then sign in with it.")
        st.html(_SIGN_IN)


def _away(error: Unreachable) -> None:
    settings = read_settings()
    with st.container(border=True, key="service_away"):
        st.subheader("The service does not answer", icon=":material/cloud_off:", anchor=False)
        st.markdown(f"Nothing answers at `{settings.base_url}`. What was saved there before is not lost.")
        if settings.api_url:
            st.markdown(
                "- Check that the address in `TRAITBENCH_API_URL` is right and that the service there is running.\n"
                "- Behind a proxy or VPN? Open the address with `/v1/health` behind it in this browser."
            )
        else:
            st.markdown(
                "- Just started? The service needs a few seconds. Try again.\n"
                "- Otherwise start it in a terminal with `make run` or `traitbench`, then try again."
            )
        st.button("Try again", icon=":material/refresh:", type="primary", key="try_again")
        st.caption(plain(error.message))


# ---- what there is to read -----------------------------------------------------------------------------------------


def models(*, state: State | None = None) -> list[Model]:
    """Every model this workbench can read, its own namespaces first; archived ones only when asked for."""
    return listing(state=state)[0]


def listing(*, state: State | None = None) -> tuple[list[Model], list[Unreadable]]:
    """The same, and those that the service could not read."""
    places = (*namespaces(), None)
    found = [client().models.list(namespace=place, state=state, limit=LARGEST_PAGE) for place in places]
    known = list({model.handle: model for page in found for model in page}.values())
    return known, list({row.item: row for page in found for row in page.unreadable}.values())


def namespaces() -> tuple[str, ...]:
    """The namespaces that the workbench's key owns, those first in which a newcomer would begin."""
    this = client()
    address = (this.base_url, api_key(read_settings()))
    owned = _NAMESPACES.get(address)
    if owned is None:
        owned = _NAMESPACES[address] = _owned(this)
    return owned


def _owned(this: Traitbench) -> tuple[str, ...]:
    """Asked with a namespace that nobody owns, the service answers with those that the key does."""
    try:
        this.models.list(namespace=_NOBODYS, limit=1)
    except NamespaceForbidden as refusal:
        owned = [name for name in refusal.details.get("namespaces", ()) if isinstance(name, str)]
        return tuple(sorted(owned, key=lambda name: (name != "local", name)))
    return ()


def active_version(model: Model) -> Version | None:
    """The version that scores, with its figures and without its snapshot."""
    if model.current_version_id is None:
        return None
    return _listed_version(reader(), model.handle, model.current_version_id)


def version(handle: str, listed: Version) -> Version:
    """A version of a listing with its snapshot; its tags may have moved since it was first read here."""
    return _whole_version(reader(), handle, listed.version_no, listed.param_hash)


def forget_versions() -> None:
    """Read versions anew: what was kept of them may hold words that are gone from the service."""
    _listed_version.clear()
    _whole_version.clear()


def reader() -> tuple[str, str]:
    """Whose reading it is: what a version shows depends on the key."""
    return client().base_url, api_key(read_settings())


@st.cache_data(max_entries=2_000, show_spinner=False)
def _listed_version(reader: tuple[str, str], handle: str, version_id: int) -> Version | None:
    return next((each for each in client().versions.list(handle) if each.version_id == version_id), None)


@st.cache_data(max_entries=32, show_spinner=False)
def _whole_version(reader: tuple[str, str], handle: str, version_no: int, param_hash: str) -> Version:
    return client().versions.get(handle, f"v{version_no}")
