"""What samples, raters and a corpus show beyond chance.

- Samples: `checks` (before a training) and its `findings`, with `suspects`, `nuisance` and `shortcuts`.
- Raters: `agreement`.
- Labelling: `active_learning` (which text to label next).
- Many texts: `corpus` (the answers), `estimates` (what share is on a pole), `cut` and `groups` (which differ).
"""
