"""Alembic's folder: one file a change of the schema, oldest first."""
