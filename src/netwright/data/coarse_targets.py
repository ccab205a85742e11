"""Reals that single precision cannot tell apart: to it 1,000,000,050 and 1,000,000,080 are one.

Models learn targets of 24 bits. Where these lie far from zero and close together, what is rounded
away is no small part of how they vary, and every model learns and is measured on steps.

Shapes: N examples.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netwright.core.errors import DataError

SAME = 1e-15  # of the mean: 0.3 and 0.1 + 0.2 are one value
COARSE = 0.1  # of the standard deviation; R2 is then one per cent lower


def check_not_coarse(name: str, targets: NDArray[Any]) -> None:
    """Refuse reals (N,) of which single precision loses more than a tenth of how they vary."""
    values = targets.astype(np.float64)
    centre, spread = values.mean(), values.std()
    if spread <= SAME * abs(centre) or abs(centre) < np.finfo(np.float32).tiny:
        return  # one value, written in several ways; or one of numbers that are no number to it
    if (values.astype(np.float32) - values).std() > COARSE * spread:
        step = np.spacing(np.abs(values).max().astype(np.float32))
        near = round(centre, -math.floor(math.log10(spread)))
        raise DataError(
            f"{name} have a standard deviation of {spread:.3g} around {centre:.10g}, where single "
            f"precision goes in steps of {step:.3g}: subtract {near:.15g} from them"
        )
