"""The array encoder: what it computes, that it never changes its input, and what it refuses."""

import json
import re
from dataclasses import replace
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from torch import Tensor

from netwright.core.errors import DataError, ShapeError
from netwright.data.array_encoder import ArrayEncoder
from netwright.data.input_profile import measure_features
from tests.repetition import for_each

NUMBERS = st.floats(-1e6, 1e6, allow_subnormal=False)
STANDARDISED = ArrayEncoder(
    input_shape=(2,), target="real", num_outputs=1, mean=(1.0, -2.0), scale=(2.0, 0.5)
)
PAIR = ArrayEncoder(input_shape=(2,), target="real", num_outputs=1)
PLAIN = ArrayEncoder(input_shape=(4,), target="class", num_outputs=2, class_names=("no", "yes"))


def matrices(rows: int) -> st.SearchStrategy[Tensor]:
    row = st.lists(NUMBERS, min_size=3, max_size=3)
    return st.lists(row, min_size=rows, max_size=12).map(
        lambda values: torch.tensor(values, dtype=torch.float64)
    )


def test_standardised_by_hand() -> None:
    # (3 - 1) / 2 = 1 and (-1 + 2) / 0.5 = 2; the mean itself goes to 0.
    assert STANDARDISED.encode([[3, -1], [1, -2]]).tolist() == [[1, 2], [0, 0]]


def test_bytes_are_brought_to_the_unit_interval() -> None:
    images = np.arange(256, dtype=np.uint8).reshape(1, 1, 16, 16)
    encoder = ArrayEncoder(input_shape=(1, 16, 16), target="class", num_outputs=2, factor=1 / 255)
    pixels = encoder.encode(images)
    torch.testing.assert_close(pixels.flatten(), torch.arange(256) / 255)
    assert (float(pixels.min()), float(pixels.max())) == (0.0, 1.0)


@given(matrices(rows=2))
@settings(deadline=None)
def test_training_rows_get_mean_zero_and_spread_one(values: Tensor) -> None:
    profile = measure_features([values])
    encoded = (values - profile.mean) / profile.scale
    spread = encoded.std(dim=0, correction=0)
    constant = (values == values[0]).all(dim=0)
    torch.testing.assert_close(encoded[:, constant], torch.zeros_like(encoded[:, constant]))
    moved = values.std(dim=0, correction=0) > 1e-6 * values.abs().amax(dim=0).clamp(min=1e-300)
    torch.testing.assert_close(spread[moved], torch.ones_like(spread[moved]), rtol=1e-6, atol=1e-6)
    assert bool((encoded[:, moved].mean(dim=0).abs() < 1e-6).all())


def test_a_constant_feature_becomes_exactly_zero() -> None:
    # Rounded, the mean of three times 0.1 is not 0.1, and their spread is 1.4e-17.
    values = torch.full((3, 1), 0.1, dtype=torch.float64)
    assert float(values.std(correction=0)) > 0
    profile = measure_features([values])
    assert (profile.mean.item(), profile.scale.item()) == (0.1, 1.0)


def test_a_spread_too_small_to_square_is_left_alone() -> None:
    profile = measure_features([torch.tensor([[0.0], [1e-200]], dtype=torch.float64)])
    assert profile.scale.item() == 1.0


def test_seconds_survive_beside_a_large_mean() -> None:
    times = np.array([[1_700_000_000.0], [1_700_000_001.0], [1_700_000_002.0]])
    encoder = ArrayEncoder(input_shape=(1,), target="real", num_outputs=1)
    fitted = encoder.standardised(measure_features([torch.from_numpy(times)]))
    # The spread of 0, 1, 2 is the root of 2/3; float32 would have made all three times equal.
    wanted = torch.tensor([-1.0, 0.0, 1.0]) * 1.5**0.5
    torch.testing.assert_close(fitted.encode(times).flatten(), wanted)


@for_each("dtype", [np.float16, np.float32, np.float64, np.int64, np.uint8, np.bool])
def test_the_input_is_never_changed(dtype: Any) -> None:
    source = np.ones((3, 2), dtype=dtype)
    before = source.copy()
    for encoder in (STANDARDISED, ArrayEncoder(input_shape=(2,), target="real", num_outputs=1)):
        encoded = encoder.encode(source)
        encoded += 1
        assert encoded.dtype is torch.float32
        np.testing.assert_array_equal(source, before)


def test_read_only_and_strided_memory_is_fine() -> None:
    source = np.arange(8.0).reshape(2, 4)
    source.flags.writeable = False
    assert PLAIN.encode(source).tolist() == source.tolist()
    assert PLAIN.encode(source[::-1, ::-1]).tolist() == source[::-1, ::-1].tolist()
    assert PLAIN.encode(torch.arange(8.0).reshape(4, 2).T).tolist() == [[0, 2, 4, 6], [1, 3, 5, 7]]


@given(
    mean=st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=4).map(tuple),
    factor=st.floats(1e-300, 1e300),
    names=st.lists(st.text(), max_size=3).map(tuple),
)
def test_json_gives_the_same_encoder_back(
    mean: tuple[float, ...], factor: float, names: tuple[str, ...]
) -> None:
    encoder = ArrayEncoder(
        input_shape=(len(mean),),
        target="class",
        num_outputs=len(names),
        class_names=names,
        mean=mean,
        scale=mean,
        factor=factor,
        columns=names,
    )
    assert ArrayEncoder.from_json(json.loads(json.dumps(encoder.to_json()))) == encoder


def test_targets_follow_their_kind() -> None:
    assert PLAIN.encode_targets(["yes", "no"]).tolist() == [1, 0]
    assert STANDARDISED.encode_targets([1, 2]).tolist() == [[1.0], [2.0]]
    labels = ArrayEncoder(input_shape=(2,), target="labels", num_outputs=2)
    assert labels.encode_targets([[0, 1]]).tolist() == [[0.0, 1.0]]


@for_each(
    ("source", "error", "sentence"),
    [
        (np.zeros(4), ShapeError, "inputs must have shape (N, 4), got (4,)"),
        (np.zeros((2, 3)), ShapeError, "inputs must have shape (N, 4), got (2, 3)"),
        (np.zeros((2, 4, 1)), ShapeError, "inputs must have shape (N, 4), got (2, 4, 1)"),
        (
            [[0, 0, float("nan"), 0]],
            DataError,
            "inputs must be finite, got nan at [0, 2] (1 in all)",
        ),
        (
            [[0, 0, 0, 1e300]],
            DataError,
            "inputs as float32 must be finite, got inf at [0, 3] (1 in all)",
        ),
        (np.zeros((1, 4), complex), DataError, "inputs must be real numbers, got dtype complex128"),
        (np.full((1, 4), None), DataError, "inputs must be real numbers, got dtype object"),
    ],
)
def test_refuses_in_one_sentence(source: Any, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=f"^{re.escape(sentence)}$"):
        PLAIN.encode(source)


def test_refuses_a_spread_beyond_all_numbers() -> None:
    values = torch.tensor([[1e200], [-1e200]], dtype=torch.float64)
    sentence = r"^the scale of the training inputs must be finite, got inf at \[0\] \(1 in all\)$"
    with pytest.raises(DataError, match=sentence):
        measure_features([values])


def test_a_frame_must_have_the_columns_that_were_learned_from() -> None:
    pandas = pytest.importorskip("pandas")
    encoder = ArrayEncoder(input_shape=(2,), target="real", num_outputs=1, columns=("a", "b"))
    frame = pandas.DataFrame({"a": [1.0], "b": [2.0]})
    assert encoder.encode(frame).tolist() == [[1, 2]]
    assert encoder.encode(frame.to_numpy()).tolist() == [[1, 2]]  # no names: the order is trusted
    with pytest.raises(DataError, match=r"^inputs must have the columns a, b, got b, a$"):
        encoder.encode(frame[["b", "a"]])


def test_decoding_undoes_the_standardisation() -> None:
    raw = torch.tensor([[1.0, 200.0], [3.0, 400.0], [8.0, 900.0]])
    plain = ArrayEncoder(input_shape=(2,), target="real", num_outputs=1)
    encoder = plain.standardised(measure_features([raw.double()]))
    assert encoder.decode(encoder.encode(raw))[1] == {"x0": "3", "x1": "400"}
    offset, scale = encoder.units()
    torch.testing.assert_close(encoder.encode(raw).double() * scale + offset, raw.double())


def test_decoding_undoes_the_factor_and_knows_columns() -> None:
    encoder = ArrayEncoder(
        input_shape=(2,), target="real", num_outputs=1, factor=1 / 16, columns=("a", "b")
    )
    assert encoder.decode(torch.tensor([[0.5, 1.0]])) == [{"a": "8", "b": "16"}]


def test_units_without_standardisation_are_the_factor_undone_in_double_precision() -> None:
    encoder = ArrayEncoder(input_shape=(2, 1), target="real", num_outputs=1, factor=0.3)
    offset, scale = encoder.units()
    assert offset.dtype is torch.float64
    assert (offset.tolist(), scale.tolist()) == ([0, 0], [1 / 0.3] * 2)


def test_what_training_gives_is_taken_back_from_a_file() -> None:
    for encoder in (STANDARDISED, PLAIN, STANDARDISED.filling((1.0, 2.0))):
        encoder.check_numbers()
    replace(STANDARDISED, input_shape=(3, 2)).check_numbers()  # a series has them a feature


@for_each(
    ("changes", "sentence"),
    [
        ({"input_shape": (-2,)}, "input_shape of a saved encoder must be positive, got -2"),
        ({"input_shape": (10**9,)}, "an example holds 1,000,000,000 numbers"),
        ({"mean": (1.0,)}, "mean of a saved encoder must have 2 entries, got 1"),
        ({"scale": ()}, "scale of a saved encoder must have 2 entries, got 0"),
        ({"scale": (1.0, 0.0)}, "scale of a saved encoder must be positive, got 0"),
        ({"fill": (1.0,)}, "fill of a saved encoder must have 2 entries, got 1"),
        ({"columns": ("a",)}, "columns of a saved encoder must have 2 entries, got 1"),
        ({"factor": 0.0}, "factor of a saved encoder must be positive, got 0"),
    ],
)
def test_numbers_that_no_training_gives_are_refused(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(DataError, match=f"^{sentence}"):
        replace(STANDARDISED, **changes).check_numbers()


def test_remarks_name_numbers_far_outside_the_training_range() -> None:
    rows = torch.tensor([[0.0, 5], [2, 5]], dtype=torch.float64)
    for fitted in (PAIR.standardised, PAIR.ranging):
        encoder = fitted(measure_features([rows]))
        assert encoder.remarks([[1, 5], [3, 5]]) == ()
        assert encoder.remarks([[9, 5], [1, 5.5]]) == (
            "x0: 1 row lies far outside the training range 0 to 2, up to 9",
            "x1: 1 row differs from 5, the only value in training",
        )
    named = replace(encoder, columns=("a", "b"))
    assert named.remarks([[9, 5]])[0].startswith("a: 1 row")
    assert named.remarks([[9, 5]], ("length", "width"))[0].startswith("length: 1 row")
    gaps = encoder.filling((1.0, 5.0)).remarks([[float("nan"), 5], [9, 5]])
    assert [said[:2] for said in gaps] == ["1 ", "x0"]
    with pytest.raises(ShapeError):
        encoder.remarks([[1, 2, 3]])


def test_an_encoder_of_an_older_run_has_no_range_and_no_remarks() -> None:
    values = STANDARDISED.to_json()
    del values["low"], values["high"]
    assert ArrayEncoder.from_json(values) == STANDARDISED
    assert STANDARDISED.remarks([[1e9, 0]]) == ()
