"""Hashes of versions, in this process or as the output of another: `python -m tests.fitting.hashes`."""

import sys
from dataclasses import replace

from tests.scoring.hand import cloud, fitted, samples
from traitbench.scoring.snapshot import param_hash


def hashes() -> list[str]:
    """Of versions fitted by folds and by leave-one-out, to few and many samples, with labels and modes and without."""
    result = [param_hash(fitted(samples(*cloud(n, d))).snapshot) for n, d in ((40, 300), (300, 400), (700, 120))]
    for n, d in ((12, 60), (80, 300)):
        X, y = cloud(n, d)
        trait = replace(samples(X, y), label_axis=X[0])
        result.append(param_hash(fitted(trait, modes={"first": slice(0, 20), "last": slice(30, d)}).snapshot))
    return result


if __name__ == "__main__":
    sys.stdout.write(" ".join(hashes()))
