"""What every page recommends about the number of samples."""

from traitbench.analysis.checks import ENOUGH

EACH_POLE = f"about {ENOUGH} texts at each pole of every trait"
"""The number of samples that a first version needs, to be used in a sentence."""
