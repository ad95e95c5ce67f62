"""Compute the shipped statistics again: `python -m traitbench.encoders.write_statistics`.

The last of them are of the default encoder: its background (`traitbench.scoring.resemblance`) and its most common words
(`traitbench.encoders.vocabulary`). The directions that tell languages apart are the principal ones of the languages'
mean vectors. The direction from nonsense to text is a linear discriminant between the generic texts and random strings
in several scripts.
"""

import random
import string
import tempfile
from collections.abc import Iterator
from itertools import accumulate, pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from traitbench.encoders import minilm, multilingual, style, vocabulary
from traitbench.encoders.style import Statistics, centre, generic_texts, measure
from traitbench.scoring import resemblance
from traitbench.scoring.inputs import unit

_TEXTS_IN_LANGUAGES = (
    *(12, 12, 12, 11, 10, 10, 7, 9, 11, 3, 4, 8, 9, 3, 3),
    *(9, 3, 3, 11, 3, 10, 9, 6, 5, 5, 3, 2, 2, 2, 2),
)
"""How many lines each language has in `generic-languages.txt`."""

# English has far more lines than any other language, and would be the mean of all.
_MOST_WEIGHT = 12  # texts of one language
_ALPHABETS = (
    string.ascii_lowercase,
    string.digits,
    "!?.;#",
    "абвгдежзийклмнопрстуфхцчшщыэюя",
    "的一是不了人在有我他这中大来上国",
    "ابتثجحخدذرزسشصضطظعغفقكلمنهوي",
    "あいうえおかきくけこさしすせそたちつてと",
    "가나다라마바사아자차카타파하거너더러",
    "कखगघचछजझटठडढतथदधनपफबभमयरलवशसह",
    "กขคงจชซญดตถทนบปผพฟมยรลวสหอ",
    "ᚠᚢᚦᚨᚱᚲᚷᚹᚺᚾᛁᛃ",  # unknown to the tokenizer
)
_STRINGS = 24  # of each alphabet
_SHRINKAGE = 1.0


def main() -> None:
    """Compute the statistics of every block that is standardised, and write them beside this file."""
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder)
        english, all_texts = generic_texts(), generic_texts(languages=True)
        _write("style", measure(np.array([style.raw(text) for text in english])))
        transformer = minilm.load(cache=cache).transformer
        _write("minilm", measure(np.array([transformer.means(text) for text in english])))
        encoder = multilingual.load(cache=cache)
        _write("multilingual", centre(np.array([encoder.means(text) for text in all_texts])))
        encoder = multilingual.load(cache=cache)
        table = _background(
            encoder.encode(all_texts).astype(np.float64), len(english), encoder.encode(list(_nonsense()))
        )
        np.save(Path(resemblance.__file__).with_name("background.npy"), table.astype(np.float32))
        vocabulary.write_shipped(encoder)


def _background(texts: NDArray[np.float64], english: int, nonsense: NDArray[np.float32]) -> NDArray[np.float64]:
    """(r + 1, d): the directions of languages, then the one from nonsense to text."""
    ends = accumulate(_TEXTS_IN_LANGUAGES, initial=english)
    languages = [texts[:english], *(texts[first:end] for first, end in pairwise(ends))]
    means = np.array([own.mean(axis=0) for own in languages])
    weights = np.array([min(len(own), _MOST_WEIGHT) for own in languages], np.float64)
    apart = (means - np.average(means, axis=0, weights=weights)) * np.sqrt(weights)[:, np.newaxis]
    directions = np.linalg.svd(apart, full_matrices=False)[2][:-1]  # the last one has no variance

    both = [rows - (rows @ directions.T) @ directions for rows in (texts, nonsense.astype(np.float64))]
    means = np.array([rows.mean(axis=0) for rows in both])
    within = np.concatenate([rows - mean for rows, mean in zip(both, means, strict=True)])
    covariance = within.T @ within / len(within)
    ridge = _SHRINKAGE * float(np.trace(covariance)) / len(covariance) * np.eye(len(covariance))
    text = np.linalg.solve(covariance + ridge, means[0] - means[1])
    # The ridge has put some of the directions back.
    text -= (directions @ text) @ directions
    return np.concatenate([directions, unit(text[np.newaxis])])


def _nonsense() -> Iterator[str]:
    """Random strings that look like words."""
    lot = random.Random(1)
    for alphabet in _ALPHABETS:
        for i in range(_STRINGS):
            yield " ".join("".join(lot.choices(alphabet, k=lot.randint(3, 9))) for _ in range(4 + i % 8))


def _write(name: str, statistics: Statistics) -> None:
    np.save(Path(__file__).with_name(f"{name}.npy"), np.stack([statistics.mean, statistics.deviation]))


if __name__ == "__main__":
    main()
