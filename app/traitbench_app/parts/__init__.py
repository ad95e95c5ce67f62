"""Parts of the workbench that several pages or the sidebar draw.

- The page: `heading`, `title`, `model_picker`, `finder`, `linked_version`, `whoami`, `next_step`,
  `untrained`, `frozen`.
- Small controls: `controls`, `copying`, `filters`, `focus`, `folded`, `live`, `primary_link`, `progress`, `unreadable`.
- Models: `model_actions`, `new_model`, `improve`.
- Runs: `runs`, `effort`, `derive`, `retune`, `learning`, `hold_switch`.
- Quality: `quality`, `advice`, `confidence`, `modes`, `on_tests`, `training_report`, `search_report`, `verdict`,
  `comparisons`, `shortcuts`.
- Versions: `version_figures`, `version_confidence`, `retention`, `keeping`, `trait_figures`, `confusion`, `cells`.
- Samples: `sample_table`, `undo`, `scored_samples`, `cell_texts`, `labeller`.
- Questions about a model, each with its picture: `question`, `strips`, `course`.
- Cards: `card`, `bars`, `scorer`, `scored_text`, `scorecard`, `reasons`, `adding`, `lit_field`, `feedback`.
- Tables, charts and files: `chart`, `figures_table`, `downloads`, `upload`, `input`, `bring`.
"""
