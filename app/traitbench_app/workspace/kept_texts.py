"""Removes the workbench's own files of a model under zero data retention, however that was switched on.

The process of the workbench follows the flag (`watch`): at its start, then every few seconds, without any page. A page
that switches it on, or opens a model that has it, does not wait for that (`end`). All people's files are removed.
"""

import asyncio
import logging
import sqlite3
from collections.abc import Callable, Collection

from traitbench.client import Traitbench
from traitbench.contract.models import Model
from traitbench.contract.page import LARGEST_PAGE
from traitbench.errors import TraitbenchError
from traitbench.local import preview
from traitbench.settings import Settings, read_settings
from traitbench_app.shell.people import OPERATOR
from traitbench_app.shell.service import forget_versions
from traitbench_app.workspace import background, pool, stored_batches, unsaved

EVERY_S, EVERY_S_OF_REMOTE = 5.0, 60.0
"""Seconds between two looks at the service in this process, and at a remote one."""

Strict = Callable[[], Collection[str]]
"""Asks the service which models are under zero data retention."""

_ENDED: set[str] = set()

_log = logging.getLogger(__name__)


def end(handles: Collection[str], settings: Settings) -> None:
    """Remove what is kept of models that are now under zero data retention: in the home folder and in memory."""
    new = set(handles) - _ENDED
    for handle in new:
        background.discard_of(handle)
    if new:
        forget_versions()
        preview.forget()
    _ENDED.update(new)
    home, service = settings.home, settings.base_url
    everybody = (OPERATOR.id,) if settings.sign_in == "none" else ()
    unsaved.remove_of(home / unsaved.FOLDER, handles, service=service, owners=everybody)
    pool.remove_of(handles, service=service)
    stored_batches.remove_of(home / stored_batches.FOLDER, handles, service=service)


def opened(model: Model) -> None:
    """End what is kept of a model that is opened, unless that is done: the process's own key may not see the model."""
    if not model.zero_data_retention:
        _ENDED.discard(model.handle)
    elif model.handle not in _ENDED:
        end((model.handle,), read_settings())


async def watch(strict: Strict, settings: Settings) -> None:
    """Follow the flag until the task is cancelled. What cannot be asked or removed now is tried again."""
    looks = _Looks(strict, settings)
    await asyncio.to_thread(unsaved.remove_old, settings.home / unsaved.FOLDER)
    while True:
        await asyncio.to_thread(looks.look)
        await asyncio.sleep(EVERY_S_OF_REMOTE if settings.api_url else EVERY_S)


def remote(settings: Settings) -> Strict:
    """Return how to ask a remote service, with the workbench's own key: for the models that this key can list."""

    def strict() -> Collection[str]:
        if not settings.service_key():
            return frozenset()  # everybody signs in with a key of their own: `opened` follows the flag
        with Traitbench(settings.base_url, settings.service_key()) as client:
            return {
                each.handle
                for namespace in (None, *client.models.namespaces())
                # Archived models are listed only when they are asked for.
                for state in (None, "archived")
                for each in client.models.list(namespace=namespace, state=state, limit=LARGEST_PAGE)
                if each.zero_data_retention
            }

    return strict


class _Looks:
    """The looks at the service: what the last one saw, and the error that it met, which is logged once."""

    def __init__(self, strict: Strict, settings: Settings) -> None:
        self._strict, self._settings = strict, settings
        self._before: Collection[str] = ()
        self._error = ""

    def look(self) -> None:
        """End what is kept of the models that are now under zero data retention; log what prevents it."""
        try:
            handles = self._strict()
            # A model that is switched off and on again ends again.
            _ENDED.difference_update(set(self._before).difference(handles))
            self._before = handles
            if handles:
                end(handles, self._settings)
            self._error = ""
        except (TraitbenchError, OSError, sqlite3.Error) as error:
            if type(error).__name__ != self._error:
                self._error = type(error).__name__
                _log.warning("texts of models under zero data retention are not removed yet: %s", self._error)
        except Exception as error:
            # Whatever it is, the next look may succeed, and nothing else would say that texts are left.
            _log.exception("texts of models under zero data retention are not removed: %s", type(error).__name__)
