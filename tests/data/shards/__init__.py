"""Shards of samples."""
