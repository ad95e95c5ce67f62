"""Label mode: the heap of texts without labels, what was decided about them, and the order in which they are shown."""
