"""Parts of the page Try an idea: the form, the wait, and the score with its warning."""
