"""Data that a caller hands over in Python: arrays, frames and what else they own."""
