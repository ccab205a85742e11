"""Views of how a model was trained: curves, gradients, landscapes and searches."""
