"""Fit a snapshot with its figures to labelled vectors. The method is described in core/docs/scoring.md.

Pure: no files, no clock, and randomness only with fixed seeds. `fit` makes a snapshot.

- Fit: `collect` (the samples of each trait), `axis` (directions), `calibrate`, `search` with `candidates`,
  `candidate_fits`, and `work` (what progress counts).
- Figures: `evaluate` and `auroc`, `resampling`, `curve` (what more samples bring), `held_out` (test samples).
- Texts without labels: `discover` (new axes), `intrinsic`, `phrases`, `tones`.
- About samples: `duplicates`. About the names of poles: `pole_names`.
"""
