"""Tests of the networks for images."""
