"""Parts of the page From a file: what was found in it, the model that it makes, and its first result."""
