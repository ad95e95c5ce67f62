"""Parts of the Model page: the description, the model card, code to copy, export and retention."""
