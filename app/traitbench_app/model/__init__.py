"""Parts of the Model page: the dashboard, the description, the model card, code to copy, export and retention."""
