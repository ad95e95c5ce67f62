"""Parts of the pages of an operator: the dialog that issues a key, and the state of the service."""
