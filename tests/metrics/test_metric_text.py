"""Values of a table: by decimals, but for those of which decimals show nothing or too much."""

import math

from netwright.metrics.metric_text import metric_text


def test_values_keep_four_decimals_or_four_digits() -> None:
    texts = {
        0.0: "0.0000",
        1.0: "1.0000",
        0.95124: "0.9512",
        -0.0723: "-0.0723",
        39155.80331: "39155.8033",
        0.001: "0.0010",
        2.15341e-5: "2.153e-05",
        -3e-7: "-3e-07",
        3.8894281e28: "3.889e+28",
        math.inf: "inf",
    }
    assert {value: metric_text(value) for value in texts} == texts
    assert metric_text(math.nan) == "nan"
