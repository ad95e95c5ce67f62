"""Parts of the Label page: the label view, the order of the texts, figures and the summary."""
