"""Parts of the pages of an operator: who may see them, the dialog of a key, the state of the service, and its runs."""
