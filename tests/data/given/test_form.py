"""Objects are told by the names of their classes."""

import pandas as pd

from netwright.data.given.form import is_of


class Own(pd.DataFrame):
    """As geopandas has it: a frame by inheritance."""


def test_a_class_is_told_by_its_package_and_its_name() -> None:
    is_frame = is_of("pandas", "DataFrame")
    assert is_frame(pd.DataFrame())
    assert is_frame(Own())
    assert not is_frame(pd.Series(dtype=float))
    assert not is_of("polars", "DataFrame")(pd.DataFrame())
    assert is_of("pandas", "DataFrame", "Series")(pd.Series(dtype=float))
