"""Corpora as shards of token files: how they are made, listed and trained on."""
