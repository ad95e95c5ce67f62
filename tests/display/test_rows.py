"""The names of a chart's rows."""

import pytest

from traitbench.display.charts.layout import shorten


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Warmth", "Warmth"),
        ("How urgently the writer wants an answer", "How urgently the writer<br>wants an answer"),
        ("<b>Bold & co", "&lt;b&gt;Bold &amp; co"),
        ("", ""),
        (
            "I waited for three weeks and then they sent the wrong one twice",
            "I waited for three weeks<br>and then they sent the…",
        ),
    ],
)
def test_a_long_name_has_two_lines_before_it_is_cut(name: str, shown: str) -> None:
    assert shorten(name) == shown
