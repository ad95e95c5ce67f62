"""What samples, raters and a corpus show beyond chance.

- Samples: `checks` (before a training) and its `findings`: of one trait (`trait_check`), of labels that others
  contradict (`suspects`), and of what else tells the poles apart (`confounders`, with `nuisance` and `shortcuts`).
- Texts: `texts` (how long they are) and `languages` (in which language they are).
- Raters: `agreement`.
- Labelling: `active_learning` (which text to label next).
- Many texts: `corpus` (the answers), `estimates` (what share is on a pole, and a cut with a promise),
  `groups` (which differ).
"""
