"""How many rows are scored, kept and resumed."""
