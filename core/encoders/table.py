"""A table of token vectors, and their mean over a text: no transformer, no order, twenty times as fast.

wordllama's table is read from the files of its package, taken only when they are the published ones; the package is
not imported, since its own loader looks for the tokenizer on the network.
"""

from collections.abc import Sequence

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray
from tokenizers import Tokenizer

from traitbench.encoders import installed, tokens

WORDLLAMA = (
    "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5",
    "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68",
)
"""SHA-256 of its table and of its tokenizer."""

_BYTES = 255


class Table:
    """Rows of vectors, in the precision they came in, for the tokens of a tokenizer.

    `row_of` gives the row of a token where tokens share rows, `weights` how much a token counts; `without` is the token
    for what the tokenizer does not know, where that has no meaning.
    """

    def __init__(
        self,
        rows: NDArray[np.generic],
        tokenizer: Tokenizer,
        *,
        row_of: NDArray[np.int64] | None = None,
        weights: NDArray[np.float64] | None = None,
        without: int | None = None,
    ) -> None:
        self.width = rows.shape[1]
        self._rows, self._tokenizer = rows, tokenizer
        self._row_of, self._weights, self._without = row_of, weights, without

    def tokens(self, text: str) -> list[int]:
        """Their ids; space around the text, which some tokenizers would count, left out."""
        [found] = self._tokenizer.encode_batch_fast([text.strip()], add_special_tokens=False)
        return self._known(found.ids)

    def words(self) -> list[str]:
        """See `tokens.words`."""
        return tokens.words(self._tokenizer)

    def means(self, texts: Sequence[str], *, weighted: bool = True) -> NDArray[np.float64]:
        """(n_texts, width): the mean over each text's tokens, in double precision; zeros without a token.

        With weights the weighted sum over the number of tokens: as a direction, the weighted mean.
        """
        weights = self._weights if weighted else None
        encoded = self._tokenizer.encode_batch_fast([text.strip() for text in texts], add_special_tokens=False)
        means = np.zeros((len(texts), self.width))
        for row, found in zip(means, encoded, strict=True):
            ids = self._known(found.ids)
            if ids:
                row[:] = self._mean(ids, weights)
        return means

    def _known(self, ids: list[int]) -> list[int]:
        return ids if self._without is None else [i for i in ids if i != self._without]

    def _mean(self, ids: list[int], weights: NDArray[np.float64] | None) -> NDArray[np.float64]:
        places = ids if self._row_of is None else self._row_of.take(ids)
        rows = self._rows.take(places, axis=0).astype(np.float64)
        if weights is not None:
            rows *= weights.take(ids)[:, np.newaxis]
        mean: NDArray[np.float64] = np.add.reduce(rows, axis=0) / len(ids)
        return mean


def wordllama() -> Table:
    """The table of the package; `EncoderUnavailable` when it is not installed or not the published one."""
    package = installed.folder("wordllama", distribution="wordllama")
    content = installed.read(package / "weights" / "l2_supercat_256.safetensors", sha256=WORDLLAMA[0])
    tokenizer = installed.read(package / "tokenizers" / "l2_supercat_tokenizer_config.json", sha256=WORDLLAMA[1])
    rows = safetensors.numpy.load(content)["embedding.weight"]
    return Table(rows, tokens.plain(tokenizer), weights=_rarity(len(rows)))


def _rarity(count: int) -> NDArray[np.float64]:
    """Weights of `count` tokens that come by how common they are, single bytes first: the logarithm of the rank."""
    ranks = np.maximum(np.arange(count) - _BYTES, 1)
    return np.log(ranks + 2.0)
