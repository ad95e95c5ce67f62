"""Samples between the pages and the service: lists, changes, pending feedback."""
