"""The views of what a model says, on saved runs."""
