"""In which language a text is, for words on pages and cards and never for a score.

The statistics of byte sequences are those of the package py3langid, on the languages that have a name here. A language
is named only if it is likely: a short or mixed text has none.
"""

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

from traitbench.display.languages import NAMES

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

_READ = 1_000  # characters
# Measured on tweets in four languages: 85 to 98 % get a language from here on, 0.1 to 2 % a wrong one.
_LIKELY = 0.55
_NO_LANGUAGE = "zxx"
_ADDRESSED = re.compile(r"(?:https?://|www\.)\S+|[@#]\w+")
"""Links, handles and hashtags: they are in no language."""


def language(text: str) -> str | None:
    """Return the ISO 639 code of the text's language; None if it is not clear, as in a text without words."""
    code, share = _identifier().classify(_ADDRESSED.sub(" ", text[:_READ]))
    return str(code) if share >= _LIKELY and code != _NO_LANGUAGE else None


def count_languages(texts: Iterable[str]) -> tuple[dict[str, int], int]:
    """Return how many texts are in each language, by code, the most frequent first; and how many are not clear."""
    counts = Counter(map(language, texts))
    unclear = counts.pop(None, 0)
    return {
        str(code): number for code, number in sorted(counts.items(), key=lambda each: (-each[1], str(each[0])))
    }, unclear


def languages_of(texts: Iterable[str]) -> dict[str, Any]:
    """Return the languages of texts as the metrics of a version have them."""
    known, unclear = count_languages(texts)
    return {"texts": known, "unclear": unclear}


@cache
def _identifier() -> "LanguageIdentifier":
    # Imported here, because its tables take a second and 80 MB, and most processes never ask.
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages([*NAMES, _NO_LANGUAGE])
    return identifier
