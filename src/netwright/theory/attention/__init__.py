"""Claims on attention: scores, structure, positions and what it costs."""
