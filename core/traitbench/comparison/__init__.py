"""Whether one version, or one encoder, is better than another."""
