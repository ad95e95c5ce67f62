"""Lists on the command line name the rows that cannot be read, on stderr; stdout holds the others as always."""

import json
import re
import sqlite3
from contextlib import closing
from typing import Any

import pytest

from tests.cli.asking import Ask, call
from tests.conftest import Service
from tests.patience import PATIENCE_S
from traitbench.client import Traitbench
from traitbench.store.database import sqlite_file

WAY_OUT = "Restore it from a backup, or ask the operator to remove it."


def _in_file(service: Service, statement: str, *values: Any) -> None:
    file = sqlite_file(service.settings.database_url)
    assert file is not None
    with closing(sqlite3.connect(file, timeout=PATIENCE_S)) as connection, connection:
        connection.execute(statement, values)


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_list_names_what_it_left_out(
    ask: Ask, service: Service, client: Traitbench, namespace: str, own: str, form: tuple[str, ...]
) -> None:
    lost = client.models.create(f"{namespace}.lost").handle
    first = client.samples.list(own).items[0].id
    mine = "model_id = (SELECT id FROM tb_models WHERE handle = ?)"
    _in_file(service, "UPDATE tb_models SET upstream_sources = '{' WHERE handle = ?", lost)
    _in_file(service, "UPDATE tb_samples SET quality = 'x' WHERE id = ?", first)
    _in_file(service, f"UPDATE tb_versions SET created_at = -1 WHERE {mine}", own)
    _in_file(service, f"UPDATE tb_traits SET kind = 'x' WHERE {mine}", own)
    try:
        listed = {
            f"model {lost} cannot be read: its JSON is damaged.": ask(
                "models", "list", "--namespace", namespace, *form
            ),
            f"sample {first} cannot be read: quality": ask("samples", "list", own, *form),
            "version v1 cannot be read: a time is not between 1970 and 9998.": ask("versions", "list", own, *form),
            "trait warmth cannot be read: kind": ask("traits", "list", own, *form),
        }
    finally:
        client.models.delete(lost)
    for sentence, (code, out, err) in listed.items():
        assert code == 0
        [line] = err.splitlines()
        assert line.startswith(sentence)
        assert line.endswith(f". {WAY_OUT}")
        assert "cannot be read" not in out
        if form:
            assert all("unreadable" not in json.loads(each) for each in out.splitlines())
    _, out, err = ask("models", "list", "--namespace", namespace, "--state", "ready", *form)
    assert (own in out, err) == (True, "")


def test_every_page_of_a_list_is_heard(ask: Ask, service: Service, client: Traitbench, own: str) -> None:
    [trait] = client.traits.list(own)
    mine = "(SELECT id FROM tb_models WHERE handle = ?)"
    _in_file(
        service,
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 599)"
        " INSERT INTO tb_samples (model_id, trait_id, text, quality, provenance, content_sha256, created_at)"
        " SELECT model_id, trait_id, text, CASE WHEN i IN (0, 598) THEN 'x' ELSE quality END, provenance,"
        " content_sha256, created_at FROM n, (SELECT * FROM tb_samples WHERE model_id = "
        f"{mine} ORDER BY id LIMIT 1)",
        own,
    )
    _, out, err = ask("samples", "list", own, "--trait", trait.key, "--json")
    assert (len(err.splitlines()), len(out.splitlines())) == (2, 598 + 20)


def test_the_list_of_keys_names_a_damaged_one(service: Service) -> None:
    service.issue(namespaces=("damaged",))
    _in_file(service, "UPDATE tb_keys SET namespaces = '[{' WHERE namespaces LIKE '%damaged%'")
    try:
        code, out, err = call(service.settings.home, "key", "list")
    finally:
        _in_file(service, "DELETE FROM tb_keys WHERE namespaces = '[{'")
    assert (code, len(out.splitlines()) >= 1) == (0, True)
    assert re.fullmatch(
        r"key key_\w+ cannot be read: its JSON is damaged\. It no longer works\. Issue a new key\.\n", err
    )
