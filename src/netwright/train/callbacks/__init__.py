"""Callbacks: what happens beside the steps, each in its own file."""
