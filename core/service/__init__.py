"""The door for programs: HTTP under `/v1`, and nothing of the domain in it (core/docs/contract.md, section 1)."""
