"""The types of requests and answers, shared by service and client (core/docs/api.md, core/docs/contract.md)."""
