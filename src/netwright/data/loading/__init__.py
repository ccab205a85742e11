"""Batches: their order, inputs that stay on disk, and worker processes."""
