"""The published texts that word vectors are learned from: their names, which cost no import."""

PUBLISHED_TEXTS = ("wikitext-2", "tinyshakespeare", "sst2", "imdb")  # those of `training_texts`
