"""Which model is better: comparison on equal seeds, and cross-validation."""
