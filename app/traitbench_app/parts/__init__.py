"""Parts of the workbench that several pages or the sidebar draw.

- The page: `heading`, `finder`, `next_step`, `advice`.
- Controls and charts: `controls`, `chart`, `upload`.
- Models: `model_actions`, `runs`, `training_report`; other work: `background_work`.
- Quality: `quality`, `verdict`, `version_figures`, `trait_figures`; pictures of it: `strips`, `course`.
- Samples: `sample_table`, `scored_samples`, `labeller`.
- Cards: `card`, `scorer`, `scored_text`, `reasons`, `feedback`.
"""
