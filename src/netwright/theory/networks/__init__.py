"""Claims on networks: symmetries, activations, depth and initial weights."""
