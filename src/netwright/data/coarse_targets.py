"""Reals that single precision cannot tell apart: to it 1,000,000,050 and 1,000,000,080 are one.

Models learn targets of 24 bits. Where these lie far from zero and close together, what is rounded
away is no small part of how they vary, and every model learns and is measured on steps.

Shapes: N examples.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from netwright.core.errors import DataError

COARSE = 0.1  # of the standard deviation; R2 is then one per cent lower


def check_not_coarse(name: str, targets: NDArray[Any]) -> None:
    """Refuse reals (N,) of which single precision loses more than a tenth of how they vary."""
    values = targets.astype(np.float64)
    if values.min() == values.max():
        return
    centre, spread = values.mean(), values.std()
    if (values.astype(np.float32) - values).std() > COARSE * spread:
        step = np.spacing(np.abs(values).max().astype(np.float32))
        raise DataError(
            f"{name} have a standard deviation of {spread:.3g} around {centre:.10g}, where single "
            f"precision goes in steps of {step:.3g}: subtract {centre:.3g} from them"
        )
