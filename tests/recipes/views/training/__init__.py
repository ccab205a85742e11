"""The views of how a model was trained, on saved runs."""
