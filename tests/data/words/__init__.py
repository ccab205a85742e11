"""Tests of counts of words and of vectors made of them."""
