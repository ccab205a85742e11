"""Tests of what is said of cells and rows that are doubted."""
