"""Tests of ensembles."""
