"""Queries on the database, and nothing else: no rules of the product. The same code serves SQLite and PostgreSQL."""
