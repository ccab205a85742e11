"""Data: named splits of inputs and targets, from names, files, arrays and frames."""
