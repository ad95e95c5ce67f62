"""Alembic's folder: one file for each change of the schema, oldest first."""
