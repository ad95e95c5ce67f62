"""What the description of a trait says of each pole, in the form `Warm: kind, patient. Cold: curt, by the rules.`

Training reads it there (`traitbench.synthesis.sentences`), and the Traits page has a field for each pole.
"""

import re
from dataclasses import dataclass

SECTION = re.compile(
    r"(?:^|[.;!]\s++|\n[^\S\n]*+(?=\S))([^.:;!\n]{1,60}+):\s*+(.+?)(?=[.;!]\s++[^.:;!\n]{1,60}+:|\n|$)"
)
"""A label and what is said of it, up to the next label or the end of the line."""

_LABEL = re.compile(r"[^.:;!\n]{1,60}")
_END = ".;! \t"


@dataclass(frozen=True)
class Definitions:
    """What a description says of each pole, without the full stop at its end, and all else that it says."""

    negative: str = ""
    positive: str = ""
    rest: str = ""


def can_define(label: str) -> bool:
    """Whether a description can have a section with this label."""
    return bool(_LABEL.fullmatch(label.strip()))


def read_definitions(description: str, negative_label: str, positive_label: str) -> Definitions:
    """Split a description. Nothing is left out: what is not said of one of the two labels is in the rest."""
    said_of, pieces, end = dict[str, str](), list[str](), 0
    wanted = {each.strip().casefold() for each in (negative_label, positive_label)}
    for section in SECTION.finditer(description):
        label, said = section[1].strip().casefold(), section[2].strip(_END)
        if label in wanted and label not in said_of and said:
            said_of[label] = said
            pieces.append(description[end : section.start(1)])
            end = section.end(2)
            end += description[end : end + 1] in (".", ";", "!")
    pieces.append(description[end:])
    rest = " ".join(filter(None, (piece.strip() for piece in pieces)))
    negative, positive = (said_of.get(each.strip().casefold(), "") for each in (negative_label, positive_label))
    return Definitions(negative, positive, rest)


def write_definitions(definitions: Definitions, negative_label: str, positive_label: str) -> str:
    """Return the description with these definitions, the left pole's first, and the rest on a line of its own."""
    both = ((negative_label, definitions.negative), (positive_label, definitions.positive))
    said = [(label.strip(), " ".join(words.split()).strip(_END)) for label, words in both]
    sections = " ".join(f"{label[:1].upper()}{label[1:]}: {words}." for label, words in said if words)
    return "\n".join(filter(None, (sections, definitions.rest.strip())))
