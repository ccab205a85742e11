"""Models of words: their vectors, and classifiers of texts that read them."""
