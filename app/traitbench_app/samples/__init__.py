"""Parts of the Samples page: the list, the picked sample, ways to add samples, synthesis and the check."""
