"""From vectors and qualities to an axis, from an axis and a text to a card.

Pure: no file, no clock, no randomness that its inputs do not fix. `fit` learns, `card` scores, `snapshot` is what
passes from one to the other; `discover` finds axes that nobody defined. The method is described in
core/docs/scoring.md.
"""
