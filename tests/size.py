"""How long the long tests are: short by default, in full with `TRAITBENCH_TEST_SIZE=soak`, as `make soak` runs them.

At both sizes a test does every kind of operation and states the same; the full size repeats it more often, with other
values. Tests with the marker `soak` run at the full size only: they repeat at length what another states, or need a
stage of their own, such as nginx before eight processes.
"""

import os
from typing import TypeVar

Value = TypeVar("Value")

SIZES = ("smoke", "soak")
SIZE = os.environ.get("TRAITBENCH_TEST_SIZE", "smoke")
if SIZE not in SIZES:
    raise ValueError(f"TRAITBENCH_TEST_SIZE is {SIZE!r}, not one of {', '.join(SIZES)}. Set one of them, or unset it.")
SOAK = SIZE == "soak"


def sized(smoke: Value, soak: Value) -> Value:
    """The value for the size of this session."""
    return soak if SOAK else smoke
