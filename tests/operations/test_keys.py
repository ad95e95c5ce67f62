"""Keys: issued, used, revoked, and the one of the workbench."""

import re
import stat
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import select

from tests.contexts import ON_BOTH, until
from traitbench.errors import Unauthenticated, ValidationFailed
from traitbench.operations import keys
from traitbench.operations.context import Context
from traitbench.store import keys as stored_keys
from traitbench.store import tables
from traitbench.store.database import reading, writing


def _issue(context: Context, **fields: object) -> keys.Issued:
    return keys.create(context.engine, **{"scope": "scoring", "namespaces": ["local"], **fields})  # type: ignore[arg-type]


def test_an_issued_key_opens_what_it_was_issued_for(context: Context) -> None:
    issued = _issue(context, scope="authoring", namespaces=["local", "team-1", "local"], name="for tests")
    caller = keys.caller(context, issued.secret)
    assert (caller.key_id, caller.scope) == (issued.key.id, "authoring")
    assert caller.namespaces == {"local", "team-1"}
    assert keys.caller(context.engine, issued.secret) == caller


def test_a_secret_says_what_it_is_and_is_stored_only_as_a_hash(context: Context) -> None:
    issued = _issue(context)
    assert re.fullmatch(r"tbs_[0-9A-Za-z]{49}", issued.secret)
    assert _issue(context, scope="authoring").secret.startswith("tba_")
    with reading(context.engine) as connection:
        stored = connection.execute(select(tables.keys).where(tables.keys.c.id == issued.key.id)).one()
    assert issued.secret not in str(stored)
    assert issued.secret.startswith(stored.prefix)
    assert len(stored.prefix) == 10


@pytest.mark.parametrize("secret", [None, "", "tbs_", "Bearer", "tbs_" + "0" * 49, "é" * 53, "tbx_" + "0" * 49])
def test_whatever_is_wrong_with_a_secret_the_answer_is_the_same(context: Context, secret: str | None) -> None:
    with pytest.raises(Unauthenticated) as caught:
        keys.caller(context, secret)
    assert caught.value.headers == {"WWW-Authenticate": "Bearer"}
    revoked = _issue(context)
    keys.revoke(context.engine, revoked.key.id)
    with pytest.raises(Unauthenticated) as other:
        keys.caller(context, revoked.secret)
    assert str(other.value) == str(caught.value)


def test_a_secret_was_valid_until_its_use_is_refused(context: Context) -> None:
    issued = _issue(context)
    assert not keys.was_valid(issued.secret)
    keys.caller(context, issued.secret)
    assert keys.was_valid(issued.secret)
    keys.revoke(context.engine, issued.key.id)
    with pytest.raises(Unauthenticated):
        keys.caller(context, issued.secret)
    assert not keys.was_valid(issued.secret)


def test_a_mistyped_secret_is_refused(context: Context) -> None:
    secret = _issue(context).secret
    for wrong in (secret[:-1] + ("0" if secret[-1] != "0" else "1"), secret + "0", secret[1:], secret.swapcase()):
        with pytest.raises(Unauthenticated):
            keys.caller(context, wrong)


@ON_BOTH
def test_a_revoked_key_stays_listed_with_the_time_of_its_end(context: Context) -> None:
    issued = _issue(context)
    keys.revoke(context.engine, issued.key.id)
    [revoked] = [key for key in keys.every(context.engine).items() if key.id == issued.key.id]
    assert revoked.revoked_at is not None
    keys.revoke(context.engine, issued.key.id)
    assert revoked in keys.every(context.engine).items()
    with pytest.raises(keys.KeyNotFound):
        keys.revoke(context.engine, "key_unknown")


@pytest.mark.parametrize("namespaces", [[], ["Local"], ["a.b"], ["local", ""]])
def test_a_key_needs_proper_namespaces(context: Context, namespaces: list[str]) -> None:
    with pytest.raises(ValidationFailed):
        _issue(context, namespaces=namespaces)


def test_the_use_of_a_key_is_noted_behind_the_request(context: Context) -> None:
    issued = _issue(context)
    assert issued.key.last_used_at is None
    keys.caller(context, issued.secret)
    noted = until(lambda: _used(context, issued.key.id), what="the note")
    keys.caller(context, issued.secret)
    time.sleep(0.1)
    assert _used(context, issued.key.id) == noted


def test_the_workbenchs_own_key_is_a_private_file_that_is_made_once(context: Context, tmp_path: Path) -> None:
    own = replace(context, settings=replace(context.settings, home=tmp_path))
    keys.first_key(own)
    file = own.settings.first_key_file
    secret = file.read_text().strip()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert keys.caller(context, secret).namespaces == {"local", "demo"}
    keys.first_key(own)
    assert file.read_text().strip() == secret


@pytest.mark.parametrize("content", ["", "nonsense", "\u00fc", None])
def test_a_workbench_key_that_opens_nothing_is_replaced(context: Context, tmp_path: Path, content: str | None) -> None:
    own = replace(context, settings=replace(context.settings, home=tmp_path))
    file = own.settings.first_key_file
    if content is None:
        keys.first_key(own)
        keys.revoke(context.engine, keys.caller(context, file.read_text().strip()).key_id)
    else:
        file.write_text(content)
    keys.first_key(own)
    assert keys.caller(context, file.read_text().strip()).scope == "authoring"
    assert [each.name for each in tmp_path.iterdir()] == [file.name]


def _used(context: Context, key_id: str) -> object:
    return next(key.last_used_at for key in keys.every(context.engine).items() if key.id == key_id)


@ON_BOTH
def test_a_use_noted_by_a_clock_that_was_ahead_does_not_hide_the_next(context: Context) -> None:
    issued = keys.create(context.engine, scope="scoring", namespaces=["local"])
    now, minute = datetime.now(UTC), timedelta(minutes=1)
    with writing(context.engine) as connection:
        stored_keys.used(connection, issued.key.id, now=now + timedelta(hours=3), every=minute)
        stored_keys.used(connection, issued.key.id, now=now, every=minute)
    assert _used(context, issued.key.id) == now
