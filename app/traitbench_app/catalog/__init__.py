"""Parts of the Catalog page: a model in the list, a new model, and the import of a model."""
