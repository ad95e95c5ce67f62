"""Clients at work while the service and its worker are killed at random moments."""

import random
import threading
import time

from tests.contexts import opened, until
from tests.faults.clients import Client, Keyring, Log, at_work
from tests.faults.history import write
from tests.faults.victim import Victim
from tests.size import sized
from traitbench.operations import keys
from traitbench.settings import Settings
from traitbench.store.database import open_engine

CLIENTS = 3
# Every second or fourth kill hits the service, which takes longer to return than its worker, and keys are issued and
# revoked. On PostgreSQL it stays: a service that returns has another name there, and waits 90 s before it takes over.
SERVICE_EVERY = sized(2, 4)
# How much the clients must have done; with less, the history proves nothing.
NEEDED = ("create", "add samples", "train", "score", "set", "read", "versions", "use key")


def killed_at_work(settings: Settings, kills: int, *, clients: int = CLIENTS, seed: int = 1) -> tuple[Log, Victim]:
    """The history of clients whose service was killed this often, and the stopped service."""
    rng, log, stop = random.Random(seed), Log(), threading.Event()
    with opened(settings, runs=False) as context:
        secret = keys.create(context.engine, scope="authoring", namespaces=["local"]).secret
    on_sqlite = settings.database_url.startswith("sqlite")
    victim = Victim(settings, {"TRAITBENCH_RETRAIN_AFTER_SAMPLES": "3", "TRAITBENCH_RETRAIN_AFTER_SECONDS": "2"})
    engine = open_engine(settings.database_url)
    people = [Client(victim.base_url, secret, log, seed=seed * 100 + number, stop=stop) for number in range(clients)]
    last = Client(victim.base_url, secret, log, seed=seed * 100 + 99, stop=threading.Event())
    keyring = Keyring(engine, victim.base_url, log)
    try:
        victim.start()
        with at_work(people, stop):
            done = 0
            while done < kills:
                time.sleep(rng.uniform(0.1, 0.9))
                with_service = done % SERVICE_EVERY == SERVICE_EVERY - 1
                if with_service and on_sqlite:
                    victim.kill_service()
                    killed = 1
                else:
                    killed = int(victim.kill_worker())
                if with_service and killed:
                    keyring.rotate(revoke=done % 2 == 1)
                done += killed
            until(lambda: all(map(log.count, NEEDED)), what="the clients to have done everything once")
        for handle in sorted({event.handle for event in log.events if event.op == "create"}):
            last.look_at_all(handle)
        keyring.use()
    finally:
        last.close()
        keyring.close()
        victim.stop()
        engine.dispose()
        write(log.events, settings.home / "history.jsonl")
    return log, victim
