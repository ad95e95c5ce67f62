"""Fit axes to labelled vectors, and score texts with them.

Pure: no files, no clock, and randomness only with fixed seeds. `fit` makes a `snapshot` and `card` scores with it;
`discover` finds new axes in unlabelled texts. The method is described in core/docs/scoring.md.
"""
