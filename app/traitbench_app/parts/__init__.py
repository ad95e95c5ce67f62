"""Parts of the workbench that several pages or the sidebar draw.

- The page: `heading`, `question`, `finder`, `next_step`, `untrained`, `frozen`.
- Small controls: `controls`, `copying`, `filters`, `live`, `progress`, `shortcuts`.
- Models: `model_actions`, `new_model`, `improve`, `advice`.
- Runs: `runs`, `retune`, `learning`.
- Quality: `quality`, `confidence`, `modes`, `training_report`, `verdict`.
- Versions: `version_figures`, `trait_figures`.
- Samples: `sample_table`, `scored_samples`, `labeller`.
- Pictures of a model, each for a question: `strips`, `course`.
- Cards: `card`, `bars`, `scorer`, `scored_text`, `scorecard`, `reasons`, `adding`, `lit_field`, `feedback`.
- Tables, charts and files: `chart`, `upload`, `bring`.
"""
