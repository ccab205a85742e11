"""Ensembles: several models that answer together."""
