"""Views of what an answer depends on: pixels, features, tokens and weights."""
