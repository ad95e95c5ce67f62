"""The HTTP layer of the API under `/v1`, without domain logic (core/docs/contract.md, section 1).

- Endpoints: `models`, `traits`, `samples`, `versions`, `scores`, `batches`, `comparisons`, `extracts`, `open`;
  `direct` is the short path of a score, `import_process` a child for large imports.
- What they share: `caller`, `body`, `strict_json`, `parameters`, `capacity`.
- Around them: `app`, `trusted_requests`, `request_id`, `errors`, `observability`, `metrics`.
- The description: `openapi`.
- The process: `embedded` (opens everything), `serve` (one port), `connections` (its limits).
"""
