"""Name languages, and say in which languages texts are."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

NAMES: Mapping[str, str] = MappingProxyType(
    {
        "af": "Afrikaans", "am": "Amharic", "ar": "Arabic", "az": "Azerbaijani", "be": "Belarusian",
        "bg": "Bulgarian", "bn": "Bengali", "ca": "Catalan", "cs": "Czech", "cy": "Welsh", "da": "Danish",
        "de": "German", "el": "Greek", "en": "English", "es": "Spanish", "et": "Estonian", "eu": "Basque",
        "fa": "Persian", "fi": "Finnish", "fr": "French", "ga": "Irish", "gl": "Galician", "gu": "Gujarati",
        "he": "Hebrew", "hi": "Hindi", "hr": "Croatian", "hu": "Hungarian", "hy": "Armenian", "id": "Indonesian",
        "is": "Icelandic", "it": "Italian", "ja": "Japanese", "ka": "Georgian", "kk": "Kazakh", "km": "Khmer",
        "kn": "Kannada", "ko": "Korean", "lo": "Lao", "lt": "Lithuanian", "lv": "Latvian", "mk": "Macedonian",
        "ml": "Malayalam", "mn": "Mongolian", "mr": "Marathi", "ms": "Malay", "my": "Burmese", "ne": "Nepali",
        "nl": "Dutch", "no": "Norwegian", "pa": "Punjabi", "pl": "Polish", "ps": "Pashto", "pt": "Portuguese",
        "ro": "Romanian", "ru": "Russian", "si": "Sinhala", "sk": "Slovak", "sl": "Slovenian", "sq": "Albanian",
        "sr": "Serbian", "sv": "Swedish", "sw": "Swahili", "ta": "Tamil", "te": "Telugu", "th": "Thai",
        "tl": "Filipino", "tr": "Turkish", "uk": "Ukrainian", "ur": "Urdu", "uz": "Uzbek", "vi": "Vietnamese",
        "zh": "Chinese",
    }
)  # fmt: skip
"""The English names of languages by their ISO 639 codes."""

ENGLISH = "en"

_MAIN = 0.05


def name_of(code: str) -> str:
    """Return the name of a language; an unknown code is its own name."""
    return NAMES.get(code, code)


def ranked(texts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return the codes of languages with their numbers of texts, the most frequent first."""
    return sorted(texts.items(), key=lambda each: (-each[1], name_of(each[0])))


def main_languages(texts: Mapping[str, int]) -> list[str]:
    """Return the codes of the languages of at least one in twenty texts, the most frequent first."""
    return [code for code, number in ranked(texts) if number >= _MAIN * sum(texts.values())]


def listed(names: Sequence[str]) -> str:
    """Return `German`, `English and German` or `English, German and Japanese`."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def languages_line(texts: Mapping[str, int], unclear: int, *, most: int | None = None) -> str:
    """Return `English (92), German (31), 4 not clear`; empty without texts. At most `most` languages are named."""
    known = ranked(texts)
    shown = known if most is None or len(known) <= most else known[:most]
    parts = [f"{name_of(code)} ({number:,})" for code, number in shown]
    if rest := sum(number for _, number in known[len(shown) :]):
        parts.append(f"{rest:,} in other languages")
    return ", ".join([*parts, *([f"{unclear:,} not clear"] if unclear else [])])
