"""Parts of the Batch page: the input, the options, the progress and the results."""
