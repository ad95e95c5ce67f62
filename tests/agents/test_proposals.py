"""What proposed samples would change, and that the command for a person is safe to paste."""

import json
import subprocess

import pytest

from traitbench.agents.arguments import Proposal, Proposed, command, counts, judged
from traitbench.as_read import read_hash

NASTY = (
    "$(touch /tmp/owned) `id` ${HOME}",
    "SAMPLES",
    "one\nSAMPLES\nrm -rf /",
    "quote ' and \" and \\ and \r\n and \x00 and \x1b[31m",
    "\u202ereversed\u2066 \u2028 \ud800 ü 日本",
)


def proposal(text: str, trait: str = "warmth", quality: float = 1.0) -> Proposal:
    return Proposal(trait=trait, text=text, quality=quality)


def test_each_sample_has_an_outcome_and_only_new_ones_count() -> None:
    samples = [
        proposal("new"),
        proposal("new", "Warmth"),
        proposal("th\u200bere"),
        proposal("there", quality=0.0),
        proposal("x", "unknown"),
        proposal(" "),
        proposal("cold", quality=0.0),
        proposal("neither", quality=0.5),
    ]
    stored = {("warmth", read_hash("there")): 1.0}
    proposed = judged(samples, {"warmth": "warmth", "Warmth": "warmth"}, stored)
    assert [each.outcome for each in proposed] == [
        *("new", "repeated", "already_there", "repeated"),
        *("unknown_trait", "blank", "new", "new"),
    ]
    assert judged(samples[3:4], {"warmth": "warmth"}, stored)[0].outcome == "other_quality"
    assert counts(proposed) == {"warmth": {"positive": 1, "negative": 1}}


@pytest.mark.parametrize("text", NASTY)
def test_the_shell_hands_the_text_over_as_it_is(text: str) -> None:
    sample = Proposal.model_construct(trait="warmth", text=text, quality=1.0)
    pasted = command("acme.tone", [Proposed(0, "new", sample), Proposed(1, "repeated", sample)])
    program = pasted.replace("traitbench samples import acme.tone -", "cat", 1)
    printed = subprocess.run(["sh", "-c", program], capture_output=True, check=True).stdout.decode()
    (line,) = printed.splitlines()
    assert json.loads(line) == {"trait": "warmth", "quality": 1.0, "text": text}
    assert not any(mark in pasted for mark in "\x00\x1b\r\u202e\u2066\u2028\ud800")
