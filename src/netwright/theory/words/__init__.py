"""Claims about words: one-hot vectors, tf-idf, counts and skip-gram."""
