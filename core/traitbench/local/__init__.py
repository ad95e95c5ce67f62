"""Training, scoring, checking and labelling without a service, and the script that labels texts by keys.

- The engine: `samples` (traits and samples in memory), `vectors` (the one cache), `training` (makes a version),
  `version` (scores, explains, compares), `version_files`, `texts` (what can be trained with and scored).
- For the workbench: `preview` (drafts and versions of the service), `unseen` (held-out scores), `held_out`, `raters`,
  `discovery_texts`.
- For estimators: `checks`. Labelling: `label_session`, `draft_learner`, `labeller`.
"""
