"""What is missing is dropped, or filled with a mean; what cannot be is refused."""

import numpy as np
import pytest
import torch

from netwright.core.errors import ConfigError, DataError
from netwright.data.missing_values import complete_rows, filled, means_of_present

GAPS = np.array([[1.0, np.nan], [3.0, 4.0], [5.0, 8.0], [np.nan, 0.0]])


def test_rows_with_a_gap_in_inputs_targets_or_weights_are_dropped_together() -> None:
    targets, weights = np.array([1.0, 2.0, np.nan, 4.0]), np.arange(4)
    (inputs, kept, amounts), note = complete_rows("data", (GAPS, targets, weights))
    assert inputs.tolist() == [[3.0, 4.0]]
    assert kept.tolist() == [2.0]
    assert amounts.tolist() == [1]
    assert note == "3 of the 4 rows of data were dropped, a value is missing"


def test_rows_without_a_gap_stay_as_they_are() -> None:
    parts = (np.zeros((3, 2)), ["a", "b", "c"])
    assert complete_rows("data", parts) == (parts, "")
    uneven = (GAPS, [1, 2])
    assert complete_rows("data", uneven) == (uneven, "")


def test_nothing_left_is_refused() -> None:
    with pytest.raises(DataError, match="a value is missing in each of the 4 rows of test"):
        complete_rows("test", (GAPS, np.full(4, np.nan)))


def test_the_mean_is_that_of_what_is_there_in_the_training_rows() -> None:
    values = torch.from_numpy(GAPS)
    means = means_of_present(values, torch.tensor([0, 1]))
    assert means == (2.0, 4.0)
    assert filled(values, means).tolist() == [[1, 4], [3, 4], [5, 8], [2, 0]]
    series = values.reshape(2, 2, 2)
    assert means_of_present(series, torch.tensor([0, 1])) == (3.0, 4.0)


def test_a_feature_without_a_value_and_images_are_refused() -> None:
    with pytest.raises(DataError, match="feature 1 has no value in any training row"):
        means_of_present(torch.from_numpy(GAPS), torch.tensor([0]))
    with pytest.raises(ConfigError, match="not for images"):
        means_of_present(torch.zeros(2, 1, 4, 4), torch.tensor([0]))
