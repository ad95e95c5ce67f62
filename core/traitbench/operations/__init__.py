"""The operations of the API: what each one checks and does, in which transaction. Nothing here knows HTTP.

- Operations, one file for each kind; one that starts a run also holds its body: `models`, `traits`, `samples`,
  `sample_changes`, `training`, `retraining`, `discovery`, `synthesis`, `scores`, `batches`, `explanations`, `feedback`,
  `versions`, `comparisons`, `promotion` (with forks), `bundles`, `attributes`, `proposed`, `model_cards`, `keys`,
  `labelling`, `backups`, `demo`.
- What several of them share: `access` (who may do what), `rules` (what a state, a size and a language model allow),
  `serving` (the version that scores and its encoder), `model_runs` (how runs begin, and when two do the same work),
  `trait_names`, `suggestions`, `bundle_checks`, `repeats` (of requests with an idempotency key).
- Parts of one of them: `pipeline` and `encoding` (batches), `axis_names` (names by a language model),
  `training_encoder`, `sample_vectors`, `holding` (is a retrained version worse?), `moved` (what moved a score),
  `held_out_positions` (of versions that were trained without them), `write_demo_versions` (a command).
- What is kept, and for how long: `zero_retention`, `retention` (old versions, and sweeps over all models).
- The process: `context` (opened once), `vector_cache` (and snapshots), `worker` (executes runs), `health`, `operating`,
  `console` (keys and state without a service), `telemetry` (traces and events for a collector).
"""

WORKER = "traitbench.operations.worker"
"""The module of the worker process, for those who open a context."""
