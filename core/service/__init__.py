"""The door for programs: HTTP under `/v1`, and nothing of the domain in it (CONTRACT 1)."""
