"""Fit axes to labelled vectors, and score texts with them.

Pure: no files, no clock, and randomness only with fixed seeds. `fit` makes a `snapshot` and `card` scores with it;
`discover` finds new axes in unlabelled texts. The method is described in core/docs/scoring.md.

- Fit: `inputs`, `collect` (the samples of each trait), `axis` (directions), `calibrate`, `certainty`, `search` with
  `candidates`, `candidate_fits` and `report`, `intrinsic` (axes of discovery), `cost`, `speed` and `progress`.
- Figures: `evaluate` and `auroc`, `resampling`, `curve` (what more samples bring), `held_out` (test samples),
  `set_aside`.
- Score: `snapshot`, `card`, `segments` (parts of a text), `size`, `repeats`, `resemblance` (is the text like the
  samples?), `explain`, `difference` (of two texts), `unit`.
- Compare: `paired` and `version_pair` (two versions), `retrained`, `bakeoff` (encoders), `agreement` (raters).
- Samples: `doctor` (checks before a training) with `suspects`, `nuisance`, `shortcuts`, `negation`, `language` and
  `duplicates`; `exam` (of synthesized texts); `active_learning` (which text to label next).
- Many texts: `corpus` (what share is on a pole), `cut` and `groups` (which differ).
- Words: `discover` with `terms` and `phrases`; `spelling`.
"""
