"""The HTTP layer of the API, without domain logic (core/docs/contract.md, section 1).

- Endpoints: `models`, `traits`, `samples`, `labelling`, `proposed`, `attributes`, `versions`, `scores`, `batches`,
  `comparisons`, `extracts`, `about`; `direct` is the short path of a score, `import_process` a child for large imports.
  Doors, which speak the wires of other programs: `perspective`, `decisions`, `guards`.
- What they share: `routing`, `caller`, `sent_keys`, `idempotency`, `body`, `strict_json`, `parameters`, `capacity`.
- Around them: `app`, `trusted_requests`, `addresses`, `anonymous`, `request_id`, `errors`, `observability`, `metrics`,
  `request_spans`.
- The description: `openapi`, `openapi_schemas`.
- The process: `embedded` (opens everything), `serve` (one port), `connections` (its limits).
"""
