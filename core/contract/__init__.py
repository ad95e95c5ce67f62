"""The wire: one set of types that service and client share (SPEC 2, CONTRACT)."""
