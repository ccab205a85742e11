"""Layers: the parts that models are built from, where torch does not have them already."""
