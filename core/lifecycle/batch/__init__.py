"""The batch: many texts scored by one version, in threads, while the earlier lines are being sent."""
