"""Numbers far outside those of the training rows: a model has learned nothing of them.

Shapes: N rows, F numbers of one row.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

FAR = 0.5  # of the width of the training range: what lies further outside is said
SAME = 1e-6  # of a constant: float32 and float64 write it in two ways
MOST_SHOWN = 5  # columns, of arrays that may have thousands


def is_far(values: ArrayLike, low: ArrayLike, high: ArrayLike) -> NDArray[np.bool_]:
    """Which values lie outside low to high by more than half of that; NaN never does."""
    values, low, high = np.asarray(values), np.asarray(low), np.asarray(high)
    far = np.where(high > low, FAR * (high - low), SAME * np.abs(low))
    outside: NDArray[np.bool_] = (values < low - far) | (values > high + far)
    return outside


def far_sentence(name: str, rows: int, values: NDArray[np.float64], low: float, high: float) -> str:
    """What is said of a column with such values.

    Args:
        name: of the column.
        rows: how many have one.
        values: all that lie far outside, at least one.
        low: the smallest of training.
        high: the largest of training.
    """
    if low == high:
        differ = "1 row differs" if rows == 1 else f"{rows} rows differ"
        return f"{name}: {differ} from {low:.6g}, the only value in training"
    farthest = values[np.argmax(abs(values - (low / 2 + high / 2)))]
    lie = "1 row lies" if rows == 1 else f"{rows} rows lie"
    return (
        f"{name}: {lie} far outside the training range {low:.6g} to {high:.6g}, "
        f"up to {farthest:.6g}"
    )


def far_columns(
    values: NDArray[np.float64], low: ArrayLike, high: ArrayLike, names: Sequence[str]
) -> tuple[str, ...]:
    """A sentence on each column of arrays with values far outside; of many, on those of most rows.

    Args:
        values: (N, ..., F); a row of a series has one where one of its steps does.
        low: the smallest of training (F,).
        high: the largest of training (F,).
        names: of the columns (F,).
    """
    lows, highs = np.asarray(low), np.asarray(high)
    far = is_far(values, lows, highs)
    rows = far.any(axis=tuple(range(1, far.ndim - 1))).sum(axis=0)
    places = [place for place in np.argsort(-rows, kind="stable").tolist() if rows[place]]
    said = [
        far_sentence(
            names[place],
            int(rows[place]),
            values[..., place][far[..., place]],
            lows[place],
            highs[place],
        )
        for place in places[:MOST_SHOWN]
    ]
    more = len(places) - len(said)
    if more:
        columns = "1 more column has" if more == 1 else f"{more} more columns have"
        said.append(f"{columns} values far outside the training range")
    return tuple(said)
