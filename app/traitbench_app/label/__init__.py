"""Parts of the Label page: the label view, its work, figures and the next step, and saving."""
