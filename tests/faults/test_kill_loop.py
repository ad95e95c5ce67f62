"""Service and worker are killed at random moments while clients work; `history.judge` judges their histories."""

import sqlite3
from contextlib import closing

from tests.contexts import ON_BOTH_IN_SOAK
from tests.faults.history import judge
from tests.faults.killing import killed_at_work
from tests.size import sized
from traitbench.settings import Settings

KILLS = sized(2, 25)
KILLS_ON_POSTGRESQL = 6


@ON_BOTH_IN_SOAK
def test_kills_at_random_moments_break_no_promise(settings: Settings) -> None:
    on_sqlite = settings.database_url.startswith("sqlite")
    kills = KILLS if on_sqlite else KILLS_ON_POSTGRESQL
    log, victim = killed_at_work(settings, kills)
    assert sum(victim.kills.values()) == kills
    assert log.faults == []
    assert judge(log.events) == []
    if on_sqlite:
        with closing(sqlite3.connect(settings.home / "traitbench.db")) as database:
            assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
