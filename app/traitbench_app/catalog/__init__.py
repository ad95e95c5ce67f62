"""Parts of Home: the text that is scored already, ways to a model, a model as a card, and the import of a model."""
