"""Batches that the workbench scores in threads of its own, and their results."""
