"""Parts of the Samples page: the table, ways to add samples, undo, synthesis and the check."""
