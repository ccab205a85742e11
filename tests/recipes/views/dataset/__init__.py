"""The views of the data that a model learns from, on saved runs."""
