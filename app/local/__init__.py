"""What the workbench computes itself, without the service: previews of scores and the check of the samples."""
