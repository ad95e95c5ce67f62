"""Parts of the Console page: the dialog that issues a key."""
