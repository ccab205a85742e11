"""Tables that are kept in the cache: converted ones, and copies of those that lie elsewhere."""
