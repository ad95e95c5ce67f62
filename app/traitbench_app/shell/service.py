"""The workbench's access to the service: clients, error messages for people, and cached reads of immutable data.

Pages use HTTP like any program. `guarded` wraps every page, so that a page handles only errors that belong to a field
(`attempt`). Other errors end the page with a sentence that says what to do.
"""

import logging
import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from html import escape
from typing import Any

import streamlit as st
from cachetools import TTLCache
from streamlit.delta_generator import DeltaGenerator
from ulid import ULID

from traitbench.client import Traitbench
from traitbench.client.once import ReadsOnce
from traitbench.contract.envelope import Me
from traitbench.contract.fields import Unreadable
from traitbench.contract.models import Model, State
from traitbench.contract.page import LARGEST_PAGE
from traitbench.contract.versions import Version
from traitbench.display.text import count, plain
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
from traitbench_app.shell import people
from traitbench_app.shell.people import Person, SignedOut

_AT_MOST = re.compile(r"\bat most (\d{1,18}) (?:items|characters)")
_NOT = re.compile(r"\bnot (\d{1,18})$")

_CLIENTS: dict[tuple[str, str], Traitbench] = {}
_ME: dict[tuple[str, str], Me] = {}
# The list of the model picker. A model that someone else creates may be missing for 3 s; the chosen model is always
# read.
_OFFERED: TTLCache[tuple[str, str], list[Model]] = TTLCache(maxsize=1_000, ttl=3.0)
_NO_ANSWER = "does not answer"  # what the card says itself
_AGAIN_S = 4.0
# A plain link, because Streamlit's link buttons open another tab.
_SIGN_IN = (
    '<a href="/sign-in" style="display: inline-block; padding: 0.4rem 0.9rem; border-radius: 8px; '
    'background: #0f766e; color: #fff; text-decoration: none">Sign in</a>'
)
_LOCK = threading.Lock()


def client() -> Traitbench:
    """Return the client for the configured service, with the key of the current person.

    There is one client per key. It keeps connections alive and can be shared between sessions.
    """
    settings = read_settings()
    address = (settings.base_url, api_key(settings))
    with _LOCK:
        if address not in _CLIENTS:
            # A remote service may be behind a proxy, which the client's own transport knows.
            transport = None if settings.api_url else ReadsOnce()
            _CLIENTS[address] = Traitbench(address[0], address[1], timeout=30.0, restart_timeout=0, transport=transport)
        return _CLIENTS[address]


def _forget(person: Person) -> None:
    """Drop the client and the facts of a person whose session has ended."""
    cache: dict[tuple[str, str], Any]
    with _LOCK:
        for cache in (_CLIENTS, _ME):
            for address in [each for each in tuple(cache) if person.key and each[1] == person.key]:
                cache.pop(address, None)


people.SESSIONS.when_ended(_forget)


def api_key(settings: Settings) -> str:
    """Return the key of the signed-in person, else the configured key, else the workbench's own.

    It is "" until the first start has issued the workbench's own key.
    """
    return people.current().key or settings.service_key()


# ---- errors --------------------------------------------------------------------------------------------------------

_WAYS_OUT: Mapping[type[TraitbenchError], str] = {
    Unauthenticated: "The service does not accept this workbench's API key. Set `TRAITBENCH_API_KEY` to a valid key, "
    "or unset it to use the built-in one, and restart the workbench.",
    InsufficientScope: "This workbench's API key may score but not change models. Use a key of scope `authoring`.",
    NamespaceForbidden: "Models can only be changed in a namespace that this workbench's API key owns.",
    ModelNotFound: "Check the name: Home lists all models that you can open.",
    NotFound: "It may have been removed meanwhile. Reload the page.",
    ModelBusy: "An operation is running on this model. The Train page shows its progress. Try again when it has ended.",
    ModelNotDraft: "Its traits and samples are frozen into its versions. To change them, start a new model.",
    ModelArchived: "",
    ModelNotTrained: "Add traits and samples, then train it on the Train page.",
    HandleTaken: "Archived models keep their names. Choose another one.",
    FeatureUnavailable: "",
    BodyTooLarge: "Send less at once, or split the longest text.",
    ValidationFailed: "",
    InternalError: "This is an error in the service. Nothing was changed. Its log has details under the request id.",
    Unreachable: "When it runs again, check what was saved before you repeat this.",
    Unavailable: "The service is starting or overloaded. Try again in a moment.",
    TraitbenchError: "",
}


_ABOUT: Mapping[type[TraitbenchError], str] = {HandleTaken: "handle", DuplicateTrait: "name"}
"""The field that an error belongs to if it does not name one."""


_SENTENCES: Mapping[str, str] = {
    "key_of_another_trait": 'The trait "{name}" already has the key "{key}". Use another key, such as "{free_key}".',
    "key_twice": 'The trait "{name}" already has the key "{key}". Use another key, such as "{free_key}".',
    "name_of_another_trait": 'The trait "{key}" already has this name. Use another name.',
    "unknown_trait": 'The model has no trait "{sent}".',
    "empty_key": "The name has no letter or digit, so no key can be made from it. Type a key.",
}
"""What errors of these types say to people, with the fields of the error."""

_MOST_MESSAGES = 3


def explain(error: TraitbenchError, way_out: str | None = None) -> str:
    """Return an error as Markdown: what happened, what to do, and the request id for the operator."""
    if way_out is None:
        # The most specific class comes first.
        way_out = next(_WAYS_OUT[cls] for cls in type(error).__mro__ if cls in _WAYS_OUT)
    nobody = isinstance(error, Unreachable) and _NO_ANSWER in error.message
    message = f"Nothing answers at `{read_settings().base_url}`." if nobody else plain(error.message)
    left = len(error.details.get("left_behind", ()))
    behind = f"{count(left, 'sample')} had already been added and could not be removed again." if left else ""
    sentences = " ".join(part for part in (message, *_unfielded(error), behind, way_out) if part)
    return f"{sentences}\n\n:small[:gray[Request {error.request_id}]]" if error.request_id else sentences


def explain_end(error: TraitbenchError) -> str:
    """Return as Markdown why work behind a page has failed, for a page that can resume it."""
    return explain(error, "Resume when the service runs again." if isinstance(error, Unreachable) else None)


def complaints(error: TraitbenchError) -> dict[str, list[str]]:
    """Return the error messages by field; the field is the last name in the path of an error."""
    messages = _by_field(error.details.get("errors", ()))
    about = _ABOUT.get(type(error)) or error.details.get("field")
    if not messages and isinstance(about, str):
        messages[about] = [error.message]
    return messages


def _by_field(errors: Iterable[Mapping[str, Any]]) -> dict[str, list[str]]:
    messages: dict[str, list[str]] = {}
    for each in errors:
        names = [part for part in each.get("loc", ()) if isinstance(part, str)]
        messages.setdefault(names[-1] if names else "", []).append(_plainer(each))
    return messages


def _plainer(each: Mapping[str, object]) -> str:
    """Return the message of an error in words for people."""
    message = str(each.get("msg", "is not valid"))
    if sentence := _SENTENCES.get(str(each.get("type"))):
        with suppress(KeyError):
            return sentence.format_map(each)
    if each.get("type") in ("string_too_short", "missing"):
        return "This field is required."
    if too_long := _AT_MOST.search(message):
        is_now = _NOT.search(message, too_long.end())
        most = f"{int(too_long[1]):,}"
        return f"At most {most} characters" + (f"; this has {int(is_now[1]):,}." if is_now else ".")
    return message


def _unfielded(error: TraitbenchError) -> list[str]:
    """Return what the errors say by field, without those that the message says already."""
    not_shown = [each for each in error.details.get("errors", ()) if str(each.get("msg")) not in error.message]
    return [
        f"{plain(field_name)}: {plain(_joined(messages)).removesuffix('.')}."
        if field_name
        else plain(_joined(messages))
        for field_name, messages in _by_field(not_shown).items()
    ]


def _joined(messages: Sequence[str]) -> str:
    """Join the different messages of a field; of many, the first ones."""
    different = list(dict.fromkeys(messages))
    if len(different) == 1:
        return different[0]
    more = len(different) - _MOST_MESSAGES
    shown = [each.removesuffix(".") for each in different[:_MOST_MESSAGES]]
    return "; ".join([*shown, *([f"and {more:,} more"] if more > 0 else [])])


@contextmanager
def guarded(*, is_page: bool = False) -> Iterator[None]:
    """End the page with an explanation if the service refuses or does not answer. Fragments need it too.

    What was typed below the error stays, because fields persist. A page, with `is_page`, is drawn again when the
    service answers; a fragment that watches something is drawn again anyway.
    """
    try:
        yield
    except Unreachable as error:
        _away(error)
        if is_page:
            _wait_for_service()
        st.stop()
    except Unauthenticated as error:
        if read_settings().sign_in == "none":
            _refused(error)
        else:
            _signed_out(error)
        st.stop()
    except TraitbenchError as error:
        st.error(explain(error), icon=":material/error:")
        st.stop()


@dataclass
class ActionOutcome:
    """The outcome of an action; `error` is the error that was shown."""

    error: TraitbenchError | None = None
    done: bool = field(default=False)


@contextmanager
def attempt(slots: Mapping[str, DeltaGenerator] | None = None) -> Iterator[ActionOutcome]:
    """Run an action of a page. Show an error below its field, or here if it has none; the page continues.

    `slots` are placeholders by field name. The input stays in the widgets.
    """
    this = ActionOutcome()
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
            field_error(slots[name], _joined(messages))
    else:
        st.error(explain(error), icon=":material/error:")


def crashed(error: Exception) -> bool:
    """Show an unhandled exception as a message. A bug of the workbench is logged under an id that is shown."""
    if isinstance(error, TraitbenchError):
        st.error(explain(error), icon=":material/error:")
        return True
    crash = f"wb_{ULID()}"
    logging.getLogger(__name__).error("%s: %s", crash, type(error).__name__, exc_info=error)
    st.error(
        "**Something went wrong in the workbench.** Your saved work is safe. Reload the page. If this happens again, "
        f"give the operator this id, which is in the log.\n\n:small[:gray[{crash}]]",
        icon=":material/bug_report:",
    )
    return True


def field_error(slot: DeltaGenerator, message: str) -> None:
    """Show an error below a field."""
    slot.markdown(f":small[:red[:material/error: {plain(message)}]]")


def _signed_out(error: Unauthenticated) -> None:
    people.sign_out()
    with st.container(border=True, key="signed_out"):
        if isinstance(error, SignedOut):
            st.header("You are signed out", icon=":material/logout:", anchor=False)
            st.markdown("Your saved work is safe. Sign in to continue.")
        elif read_settings().sign_in != "token":
            st.header("Your session was ended", icon=":material/logout:", anchor=False)
            st.markdown("The operator ended it. Your saved work is safe. Sign in to continue.")
        else:
            st.header("Your API key is no longer valid", icon=":material/key_off:", anchor=False)
            st.markdown("It was revoked, so you are signed out. Ask the operator for a new key, then sign in with it.")
        st.html(_SIGN_IN)
        if people.SESSIONS.provider:
            st.html(f'<a href="{people.OUT}">Sign out at {escape(people.SESSIONS.provider)} too</a>')


def _refused(error: Unauthenticated) -> None:
    built_in = "" if read_settings().api_url else ", or remove it to use the built-in key"
    with st.container(border=True, key="key_refused"):
        st.header("The service does not accept this workbench's API key", icon=":material/key_off:", anchor=False)
        st.markdown(
            f"The key is wrong or was revoked. Set `TRAITBENCH_API_KEY` to a valid key{built_in}. Then restart the "
            "workbench. Saved work is not lost."
        )
        if error.request_id:
            st.caption(f"Request {error.request_id}")


def _away(error: Unreachable) -> None:
    settings = read_settings()
    with st.container(border=True, key="service_away"):
        st.header("The service does not answer", icon=":material/cloud_off:", anchor=False)
        st.markdown(f"Nothing answers at `{settings.base_url}`. Saved work is not lost.")
        if settings.api_url:
            st.markdown(
                "- Check that the address in `TRAITBENCH_API_URL` is right and that the service there is running.\n"
                "- Behind a proxy or VPN? Open this address plus `/v1/health` in your browser."
            )
        else:
            st.markdown(
                "- Just started? The service needs a few seconds. Try again.\n"
                "- Otherwise start it in a terminal with `make run` or `traitbench`, then try again."
            )
        st.button("Try again", icon=":material/refresh:", type="primary", key="try_again")
        if _NO_ANSWER not in error.message:
            st.caption(plain(error.message))


def _wait_for_service() -> None:
    """Rerun the page when the service answers again."""
    has_waited = False

    @st.fragment(run_every=_AGAIN_S)
    def look() -> None:
        nonlocal has_waited
        # The first run comes with the page, which has just asked.
        if has_waited:
            with suppress(TraitbenchError):
                # An answer has to come before the next look.
                client().with_timeout(_AGAIN_S / 2).health()
                st.rerun()
        has_waited = True
        st.caption("This page comes back by itself when the service runs again.")

    look()


# ---- what there is to read -----------------------------------------------------------------------------------------


def models(*, state: State | None = None) -> list[Model]:
    """Return all readable models, own namespaces first; archived ones only with `state`."""
    return listing(state=state)[0]


def listing(*, state: State | None = None) -> tuple[list[Model], list[Unreadable]]:
    """Return all readable models, and the rows that the service could not read."""
    searched = (*namespaces(), None)
    pages = [client().models.list(namespace=namespace, state=state, limit=LARGEST_PAGE) for namespace in searched]
    known = list({model.handle: model for page in pages for model in page}.values())
    return known, list({row.item: row for page in pages for row in page.unreadable}.values())


def offered_models() -> list[Model]:
    """Return the readable models as they were a moment ago: a list to choose from. Read the chosen one again."""
    address = reader()
    with _LOCK:
        known: list[Model] | None = _OFFERED.get(address)
    if known is None:
        known = models()
        with _LOCK:
            _OFFERED[address] = known
    return known


def namespaces() -> tuple[str, ...]:
    """Return the namespaces that the current key owns; `local` comes first."""
    return tuple(sorted(me().namespaces, key=lambda name: (name != "local", name)))


def me() -> Me:
    """Return who has the current key and what it may do, which never changes."""
    this = client()
    address = (this.base_url, api_key(read_settings()))
    known = _ME.get(address)
    if known is None:
        known = _ME[address] = this.me()
    return known


def own_name() -> str:
    """Return what the changes of the current person are recorded with: their name, or that or the id of the key."""
    return me().name or me().key_id


def active_version(model: Model) -> Version | None:
    """Return the active version without its snapshot, or None before the first training."""
    if model.current_version_id is None:
        return None
    return _listed_version(reader(), model.handle, model.current_version_id)


def version(handle: str, listed: Version) -> Version:
    """Return a listed version with its snapshot. It is cached, so its tags may be out of date."""
    return _whole_version(reader(), handle, listed.version_no, listed.param_hash)


def forget_versions() -> None:
    """Clear the cached versions, which may hold words that were deleted from the service."""
    _listed_version.clear()
    _whole_version.clear()


def reader() -> tuple[str, str]:
    """Return the cache key of the reader, because the content of a version depends on the API key."""
    return client().base_url, api_key(read_settings())


@st.cache_data(max_entries=2_000, show_spinner=False)
def _listed_version(reader: tuple[str, str], handle: str, version_id: int) -> Version | None:
    # `reader` is only part of the cache's key.
    return next((each for each in client().versions.list(handle) if each.version_id == version_id), None)


@st.cache_data(max_entries=32, show_spinner=False)
def _whole_version(reader: tuple[str, str], handle: str, version_no: int, param_hash: str) -> Version:
    return client().versions.get(handle, f"v{version_no}")
