"""Label mode."""
