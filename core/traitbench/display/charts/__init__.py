"""Charts as pure functions: from data and a palette to a figure, its alt text and its table."""
