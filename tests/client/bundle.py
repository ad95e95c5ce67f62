"""A bundle whose numbers, characters and nulls are hard to repeat exactly."""

from traitbench.contract.bundles import Bundle

BUNDLE_BYTES = """{"format":"traitbench-bundle-1","sha256":"0","handle":"a.b",
 "model":{"description":null,"max_depth":2},
 "traits":[{"name":"Wärme","intrinsic":null}],
 "samples":[{"trait":"wärme","text":"\\u2028 \\u0007 \\ud83d\\ude00","quality":0.1,"provenance":"authored"}],
 "versions":[{"version_no":1,"triggered_by":"train","param_hash":"sha256:0","sample_count":1,
  "created_at":"2026-03-04T05:06:07.123456Z","metrics":{"auroc":0.30000000000000004,"deep":[1.0,1,1e-17,5e-324,null]},
  "tags":["best"],"active":true,"snapshot":{"axis":[0.1,-1.7976931348623157e308]}}]}""".encode()
BUNDLE = Bundle.model_validate_json(BUNDLE_BYTES)
