"""Claims on associative memories: energy, capacity and recall."""
