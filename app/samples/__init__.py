"""The samples of a model on the way between the pages and the service: lists, changes, pending feedback."""
