"""The views of what an answer depends on, on saved runs."""
