"""The wire: one set of types that service and client share (core/docs/api.md, core/docs/contract.md)."""
