"""Which service a client calls, and which key it sends there: its arguments, or the settings of the command line."""

import asyncio
from pathlib import Path

import pytest

from tests.client.weather import HEALTHY, Weather
from traitbench.client import AsyncClient, Client
from traitbench.settings import SettingInvalid

REMOTE = {"TRAITBENCH_API_URL": "https://bench.example.org/v1/", "TRAITBENCH_API_KEY": "tb_remote"}
HOME_KEY, ARGUMENT = "tb_home", "tb_argument"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "first.key").write_text(f"{HOME_KEY}\n")
    monkeypatch.setenv("TRAITBENCH_HOME", str(tmp_path))


@pytest.mark.parametrize("kind", [Client, AsyncClient])
@pytest.mark.parametrize(
    ("arguments", "environment", "address", "key"),
    [
        ((), {}, "http://127.0.0.1:8501", HOME_KEY),
        ((), {"TRAITBENCH_PORT": "8600"}, "http://127.0.0.1:8600", HOME_KEY),
        ((), REMOTE, "https://bench.example.org", "tb_remote"),
        ((), {"TRAITBENCH_API_KEY": "tb_environment"}, "http://127.0.0.1:8501", "tb_environment"),
        ((), {"TRAITBENCH_API_URL": "https://bench.example.org"}, "https://bench.example.org", None),
        ((None, ARGUMENT), REMOTE, "https://bench.example.org", ARGUMENT),
        ((None, ""), REMOTE, "https://bench.example.org", None),
        (("https://other.example.org",), REMOTE, "https://other.example.org", None),
        (("https://bench.example.org",), REMOTE, "https://bench.example.org", None),
        (("http://127.0.0.1:8501",), {}, "http://127.0.0.1:8501", None),
        (("https://other.example.org", ARGUMENT), REMOTE, "https://other.example.org", ARGUMENT),
    ],
)
def test_a_key_goes_only_with_the_address_from_the_same_source(
    monkeypatch: pytest.MonkeyPatch,
    kind: type[Client] | type[AsyncClient],
    arguments: tuple[str | None, ...],
    environment: dict[str, str],
    address: str,
    key: str | None,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    weather = Weather(HEALTHY)

    async def session() -> None:
        client = kind(*arguments, transport=weather)
        if isinstance(client, AsyncClient):
            await client.health()
            await client.close()
        else:
            client.health()
            client.close()

    asyncio.run(session())
    [asked] = weather.asked
    assert str(asked.url) == f"{address}/v1/health"
    assert asked.headers.get("Authorization") == (key and f"Bearer {key}")


def test_a_setting_that_is_wrong_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAITBENCH_PORT", "eighty")
    with pytest.raises(SettingInvalid, match="TRAITBENCH_PORT"):
        Client()
    Client("http://127.0.0.1:8501").close()
