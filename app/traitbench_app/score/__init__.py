"""Parts of the Score page: texts, cards, explanations, feedback and the rehearsal."""
