"""Claims on linear models and the noise that they assume."""
