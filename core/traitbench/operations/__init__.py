"""The operations of the API: what each one checks and does, in which transaction. Nothing here knows HTTP.

- Operations, one file for each kind; one that starts a run also holds its body: `models`, `traits`, `samples`,
  `training`, `retraining`, `discovery`, `synthesis`, `scores`, `batches`, `explanations`, `feedback`, `versions`,
  `comparisons`, `forking`, `promotion`, `bundles`, `model_cards`, `extraction`, `keys`, `backups`, `demo`.
- What several of them share: `access` (who may do what), `rules` (what a state allows), `serving` (the version that
  scores), `model_runs` and `derivations` (how runs begin, and when two do the same work), `trait_names`, `suggestions`,
  `free_form`, `bundle_checks`, `backup_parts`.
- Parts of one of them: `pipeline` and `encoding` (batches), `axis_names` and `language_models` (names by a language
  model), `training_encoder`, `sample_vectors`, `holding` (is a retrained version worse?), `moved` (which changes moved
  a score).
- What is kept, and for how long: `zero_retention`, `retention` (old versions), `sweeps` (over all models).
- The process: `context` (opened once), `loading`, `encoders`, `snapshots`, `vector_cache`, `worker` (executes runs),
  `health`, `operating`, `console` (keys and state without a service).
"""

WORKER = "traitbench.operations.worker"
"""The module of the worker process, for those who open a context."""
