"""Small pieces of a page, each drawn the same everywhere."""
