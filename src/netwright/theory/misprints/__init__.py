"""Misprints: formulas that are often printed wrong, with a number that tells the forms apart."""
