"""Labelling texts by keys: the script that pages and notebooks share, and its interface."""
