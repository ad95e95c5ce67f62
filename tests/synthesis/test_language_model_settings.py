"""A language model that is set while its package is missing."""

from dataclasses import replace
from pathlib import Path

import pytest

from traitbench import install
from traitbench.settings import SettingInvalid, Settings
from traitbench.synthesis import language_model

SETTINGS = Settings(home=Path("/tmp/home"), database_url="sqlite:////tmp/home/traitbench.db")
SET = replace(SETTINGS, llm_url="http://127.0.0.1:9/v1", llm_model="tiny")


def test_without_its_package_a_language_model_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    language_model.check(SET)
    monkeypatch.setattr(install, "find_spec", lambda _: None)
    language_model.check(SETTINGS)
    with pytest.raises(SettingInvalid, match=r"openai is not installed. .*pip install .*\[llm\]'"):
        language_model.check(SET)


def test_the_settings_name_the_language_model() -> None:
    assert language_model.endpoint(SETTINGS) is None
    endpoint = language_model.endpoint(replace(SET, llm_key="sk-1"))
    assert endpoint is not None
    assert (endpoint.host, endpoint.on_loopback, endpoint.key) == ("127.0.0.1", True, "sk-1")
    assert "sk-1" not in repr(endpoint)
