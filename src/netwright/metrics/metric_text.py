"""A measured value as it stands in a table: four decimals, of the very small and large four digits.

A target of 0.00002 has an error that is not 0.0000.
"""


def metric_text(value: float) -> str:
    """0.9512, 39155.8033, 2.153e-05."""
    fits = value == 0 or 1e-3 <= abs(value) < 1e6
    return f"{value:.4f}" if fits else f"{value:.4g}"
