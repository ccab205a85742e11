"""Views of what happens inside a model: layers, units, attention and state."""
