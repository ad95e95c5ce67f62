"""Charts as pure functions: data and a palette in, a figure, its sentence for screen readers and its table out."""
