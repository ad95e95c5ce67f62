"""Versions outlive the recipe they were trained with, so every recipe keeps its digest and its vectors."""

import numpy as np
import pytest

from tests.real_encoder import KEPT
from traitbench.encoders.registry import NAMES, load_encoder
from traitbench.encoders.style import generic_texts

# Id: digest, and some of the numbers of the first generic text.
FIRST = {
    "full-l4fws-int8-1": (
        "f718bc66eedefad00c839f566e17ce09a0a894d1d002ac5617d19c3a85b14e97",
        {0: -0.0144, 1: -0.0519, 2: 0.0159, -3: 0.0462, -2: -0.0034, -1: -0.0052},
    ),
    "multilingual-e5-l6f-int8-1": (
        "1bd1804608f2aa7616c5564b1ccb2c8947f6a99165a11cb9b280de863ae729e1",
        {0: 0.0063, 1: 0.0083, 400: -0.0191, -3: 0.0275, -2: -0.002, -1: -0.0031},
    ),
    "static-wsn-2": (
        "c3bb97fd8387d9cf495fe14eefde9d5d99b70961ea26860f63dc42adfa930fc9",
        {0: 0.0414, 1: 0.0352, 2: 0.0388, -3: 0.0, -2: -0.0507, -1: 0.0},
    ),
    "minilm-l4f-int8-1": (
        "90df500e394a4406cc4592d58798a39d1a6c32f0193af6e4e9352c93fd9d0cea",
        {0: -0.0152, 1: -0.0549, 2: 0.0168, -3: -0.0417, -2: -0.053, -1: 0.0053},
    ),
    "ngrams-2": (
        "4f2b4041207748f7c3b3a4141f9cc84011a1cc0c95ccaf67a1ffebcf41f2c931",
        {0: 0.0, 1: 0.0, 2: 0.0, -3: 0.1428, -2: -0.0105, -1: -0.016},
    ),
}


@pytest.mark.parametrize("id", FIRST)
def test_a_recipe_keeps_its_digest_and_vectors(id: str) -> None:
    known = {encoder.id: encoder for name in NAMES if (encoder := load_encoder(name, cache=KEPT))}
    digest, numbers = FIRST[id]
    assert known[id].digest == digest
    [vector] = known[id].encode(generic_texts()[:1])
    np.testing.assert_allclose(vector[list(numbers)], list(numbers.values()), atol=2e-3)
