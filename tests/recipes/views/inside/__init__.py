"""The views of what happens inside a model, on saved runs."""
