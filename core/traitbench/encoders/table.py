"""A static table of token vectors and their mean over a text: it ignores word order, but is twenty times as fast as a
transformer.

wordllama's table is read from the files that a wheel carries or else from its package, and only if their hash is that
of the published files. The package is not imported, because its loader looks for the tokenizer on the network.
"""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray

from traitbench.encoders import packaged, tokens

if TYPE_CHECKING:
    from tokenizers import Tokenizer

DISTRIBUTION = "wordllama"
# Only these two files: the package itself requires others that nothing here uses.
ROWS = packaged.Published(
    DISTRIBUTION,
    "weights/l2_supercat_256.safetensors",
    carried_as="wordllama.safetensors",
    sha256="64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5",
)
TOKENIZER = packaged.Published(
    DISTRIBUTION,
    "tokenizers/l2_supercat_tokenizer_config.json",
    carried_as="wordllama-tokenizer.json",
    sha256="93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68",
    # releases up to 0.2.2, the last that run on any Python: the same without the line break at the end
    also=("bf467c9e0f536bda271283c6ef85eb1a943e3196b621c8a912d64953b205df83",),
)
WORDLLAMA = (ROWS.sha256, TOKENIZER.sha256)
"""SHA-256 of wordllama's table and of its tokenizer."""

_BYTES = 255


class TokenTable:
    """Vectors for the tokens of a tokenizer, in the precision they came in.

    `row_of` maps tokens to rows if tokens share rows. `weights` are weights per token. Tokens in `without` are ignored.
    """

    def __init__(
        self,
        rows: NDArray[np.generic],
        tokenizer: "Tokenizer",
        *,
        row_of: NDArray[np.int64] | None = None,
        weights: NDArray[np.float64] | None = None,
        without: Collection[int] = (),
    ) -> None:
        self.width = rows.shape[1]
        self._rows, self._tokenizer = rows, tokenizer
        self._row_of, self._weights, self._without = row_of, weights, frozenset(without)

    def tokens(self, text: str) -> list[int]:
        """The token ids of the text, without surrounding space, which some tokenizers would count."""
        [encoded] = self._tokenizer.encode_batch_fast([text.strip()], add_special_tokens=False)
        return self._known(encoded.ids)

    def words(self) -> list[str]:
        """The words of the tokenizer, see `tokens.words`."""
        return tokens.words(self._tokenizer)

    def means(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """(n_texts, width): the mean over each text's tokens in double precision; zeros without a token.

        With weights, the weighted sum divided by the number of tokens, which has the direction of the weighted mean.
        """
        encoded = self._tokenizer.encode_batch_fast([text.strip() for text in texts], add_special_tokens=False)
        means = np.zeros((len(texts), self.width))
        for row, encoding in zip(means, encoded, strict=True):
            ids = self._known(encoding.ids)
            if ids:
                row[:] = self._mean(ids)
        return means

    def _known(self, ids: list[int]) -> list[int]:
        return [i for i in ids if i not in self._without] if self._without else ids

    def _mean(self, ids: list[int]) -> NDArray[np.float64]:
        indices = ids if self._row_of is None else self._row_of.take(ids)
        rows = self._rows.take(indices, axis=0).astype(np.float64)
        if self._weights is not None:
            rows *= self._weights.take(ids)[:, np.newaxis]
        mean: NDArray[np.float64] = np.add.reduce(rows, axis=0) / len(ids)
        return mean


def wordllama() -> TokenTable:
    """The table; raise `EncoderUnavailable` if it is not there or not the published one."""
    rows = safetensors.numpy.load(ROWS.read())["embedding.weight"]
    return TokenTable(rows, tokens.plain(TOKENIZER.read()), weights=_rarity(len(rows)))


def _rarity(count: int) -> NDArray[np.float64]:
    """Weights of `count` tokens sorted by frequency, after the single bytes: the logarithm of the rank."""
    ranks = np.maximum(np.arange(count) - _BYTES, 1)
    return np.log(ranks + 2.0)
