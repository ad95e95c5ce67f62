"""Score texts with a snapshot, and say why. The method is described in core/docs/scoring.md.

Pure: no files, no clock, and no global random state. `snapshot` holds everything that scoring needs, and `card` scores.

- Parts of a text: `segments`, `words`; `spelling` and `language`.
- About a score: `certainty`, `resemblance` (is the text like the samples?), `explain`.
- `inputs`: what this code asks of traits, samples and vocabularies.
"""
