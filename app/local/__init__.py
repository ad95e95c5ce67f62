"""Computations of the workbench itself, without the service: previews of scores, and the sample check."""
