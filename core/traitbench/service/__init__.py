"""The HTTP layer of the API under `/v1`, without domain logic (core/docs/contract.md, section 1)."""
