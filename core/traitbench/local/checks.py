"""What to check in labelled texts before a training: the findings of the sample check, the gravest first."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from traitbench.analysis.checks import examine
from traitbench.analysis.findings import KINDS, Finding, grouped
from traitbench.display import frames
from traitbench.display.html import draw
from traitbench.local.samples import LocalSample, LocalTrait
from traitbench.local.training import find_encoder
from traitbench.local.vectors import vectors_of
from traitbench.scoring.segments import embed


@dataclass(frozen=True)
class Findings:
    """The findings on labelled texts; `sample_ids` of a finding are rows, counted from 0. A person decides.

    `len(findings)`, `findings[0]` and `for finding in findings` work as for a list.
    """

    findings: tuple[Finding, ...]
    samples: int

    def __len__(self) -> int:
        return len(self.findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __getitem__(self, index: int) -> Finding:
        return self.findings[index]

    def __str__(self) -> str:
        lines = [f"{KINDS[each.kind]} ({each.severity}): {each.says}" for each in self.findings]
        return "\n".join(lines or [self._nothing])

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return a frame with a row for each finding."""
        return frames.frame(
            [
                {
                    "kind": each.kind,
                    "severity": each.severity,
                    "trait": each.trait_key,
                    "says": each.says,
                    "more": each.more or None,
                    "rows": ", ".join(map(str, each.sample_ids)),
                    "fix": each.fix.says if each.fix else None,
                }
                for each in self.findings
            ],
            backend,
        )

    @property
    def _nothing(self) -> str:
        return f"Nothing stands out in {self.samples:,} labels."

    def _repr_html_(self) -> str:
        return draw("local", "findings", self.findings, self._nothing, KINDS)


def read_sources(sources: Any, texts: Sequence[str]) -> list[str | None] | None:
    """Return the source of each text, None where it is unknown; raise `ValueError` if there are not as many."""
    if sources is None:
        return None
    names = [str(each) if isinstance(each, str) else None for each in sources]
    if len(names) != len(texts):
        raise ValueError(f"There are {len(names):,} sources for {len(texts):,} texts. Pass one for each, or None.")
    return names


def check_samples(
    traits: Sequence[LocalTrait],
    samples: Sequence[LocalSample],
    encoder: str | None,
    sources: Sequence[str | None] | None = None,
) -> Findings:
    """Return what the check finds in the labelled texts of traits; their ids are rows, and so are `sources`."""
    loaded = find_encoder(encoder)
    vectors = vectors_of(loaded, {sample.content_sha256: sample.text for sample in samples})
    checked = [replace(each, source_url=sources[each.id]) for each in samples] if sources else samples
    X = np.array([vectors[sample.content_sha256] for sample in samples], np.float32)
    return Findings(grouped(examine(traits, checked, X, partial(embed, loaded.encode))), len(samples))
