"""Arrays as data: what is inferred, that held-out rows stay unseen, and what is refused."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy.sparse import coo_matrix, csr_array
from torch import Tensor

from netwright.core.errors import ConfigError, DataError, NetwrightError, ShapeError
from netwright.data import sparse_rows
from netwright.data.array_encoder import ArrayEncoder
from netwright.data.arrays import ArraysConfig, Names, arrays_config, from_arrays
from netwright.data.dataset import Data, Split
from netwright.data.fingerprint import fingerprint
from netwright.data.loading.stored import StoredSplit
from netwright.data.raw_arrays import to_floats
from netwright.data.source import DataConfig
from tests.repetition import for_each

ALL = ArraysConfig(val_size=0, test_size=0)
RAW = ArraysConfig(val_size=0, test_size=0, standardize=False)


def features(count: int, width: int = 3) -> np.ndarray[Any, Any]:
    return np.random.default_rng(0).normal(size=(count, width))


def encoder_of(data: Data) -> ArrayEncoder:
    assert isinstance(data.preprocessor, ArrayEncoder)
    return data.preprocessor


def test_features_and_classes() -> None:
    data = from_arrays(features(100), np.arange(100) % 4 + 5)
    assert data.spec.inputs == "features"
    assert data.spec.input_shape == (3,)
    assert data.spec.target == "class"
    assert data.spec.class_names == ("5", "6", "7", "8")
    assert data.spec.feature_names == ("x0", "x1", "x2")
    assert data.spec.target_names == ("y",)
    assert data.notes == ("the targets are whole numbers: treated as 4 classes",)
    assert {name: len(split) for name, split in data.splits()} == {
        "train": 70,
        "val": 10,
        "test": 20,
    }
    assert data.train.targets.dtype is torch.int64
    assert data.train.inputs.dtype is torch.float32


def test_series_are_floats_of_three_dimensions() -> None:
    series = np.random.default_rng(0).normal(3, 2, size=(40, 5, 2))
    series[:, :, 1] = 7
    data = from_arrays(series, np.arange(40) % 2)
    assert (data.spec.inputs, data.spec.input_shape) == ("series", (5, 2))
    assert data.spec.feature_names == ()
    assert "constant in all training rows: x1" in data.notes
    learned = data.train.inputs[..., 0]  # each feature by all of its steps together
    assert learned.mean().item() == pytest.approx(0, abs=1e-6)
    assert learned.std(correction=0).item() == pytest.approx(1, abs=1e-6)
    encoder = encoder_of(data)
    offset, scale = encoder.units()
    back = encoder.encode(series).flatten(1) * scale + offset
    np.testing.assert_allclose(back, series.reshape(40, 10), atol=1e-6)
    again = ArrayEncoder.from_json(encoder.to_json())
    assert torch.equal(again.encode(series), encoder.encode(series))


def test_whole_numbers_of_two_dimensions_stay_features() -> None:
    data = from_arrays(np.arange(60).reshape(20, 3), np.arange(20) % 2)
    assert (data.spec.inputs, data.spec.input_shape) == ("features", (3,))


def test_features_and_reals() -> None:
    data = from_arrays(features(20), features(20, 2))
    assert (data.spec.target, data.spec.num_outputs) == ("real", 2)
    assert data.spec.target_names == ("y0", "y1")
    assert data.spec.class_names == ()
    assert data.train.targets.shape == (14, 2)
    named = from_arrays(features(20), features(20, 2), names=Names(classes=("low", "high")))
    assert (named.spec.num_outputs, named.spec.class_names) == (2, ())  # reals have no classes


def test_features_and_labels() -> None:
    targets = np.tile([[1, 1, 0], [0, 1, 0]], (10, 1))
    data = from_arrays(features(20), targets, names=Names(classes=("red", "old", "big")))
    assert (data.spec.target, data.spec.num_outputs) == ("labels", 3)
    assert data.spec.class_names == ("red", "old", "big")
    assert data.train.targets.dtype is torch.float32


def test_images_are_left_unscaled_unless_a_factor_is_given() -> None:
    images = np.arange(64, dtype=np.uint8).reshape(4, 1, 4, 4)
    data = from_arrays(images, [0, 1, 0, 1], config=ALL)
    assert (data.spec.inputs, data.spec.input_shape) == ("image", (1, 4, 4))
    assert data.spec.feature_names == ()
    assert data.train.inputs.tolist() == images.tolist()
    assert data.notes[1] == (
        "the images have values up to 63 and are not scaled; set factor to scale them"
    )
    config = ArraysConfig(val_size=0, test_size=0, factor=1 / 64)
    halved = from_arrays(images, [0, 1, 0, 1], config=config)
    torch.testing.assert_close(halved.train.inputs, data.train.inputs / 64)
    assert len(halved.notes) == 1


@pytest.mark.parametrize(
    ("kind", "targets", "encoded"),
    [
        ("class", [0.0, 1.0, 0.0], [0, 1, 0]),
        ("real", [3, 4, 5], [[3.0], [4.0], [5.0]]),
        ("labels", [[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]], [[1, 0], [1, 1], [0, 0]]),
    ],
)
def test_a_given_kind_is_believed_and_not_noted(kind: Any, targets: Any, encoded: Any) -> None:
    config = ArraysConfig(val_size=0, test_size=0, kind=kind)
    data = from_arrays(features(3), targets, config=config)
    assert data.spec.target == kind
    assert data.train.targets.tolist() == encoded
    assert data.notes == ()


def test_the_scale_is_that_of_the_training_rows_alone() -> None:
    inputs = features(50)
    data = from_arrays(inputs, np.arange(50) % 2)
    seen = data.train.inputs.double()
    torch.testing.assert_close(seen.mean(dim=0), torch.zeros(3).double(), rtol=0, atol=1e-6)
    torch.testing.assert_close(
        seen.std(dim=0, correction=0), torch.ones(3).double(), rtol=0, atol=1e-6
    )
    # Rows that are held out may hold anything: what the training rows become does not change.
    assert data.test is not None
    held_out = [
        int(np.abs(encoder_of(data).encode(inputs).numpy() - row.numpy()).sum(axis=1).argmin())
        for row in data.test.inputs
    ]
    inputs[held_out] = 1e6
    again = from_arrays(inputs, np.arange(50) % 2)
    assert torch.equal(again.train.inputs, data.train.inputs)
    assert encoder_of(again) == encoder_of(data)


def test_classes_keep_their_ratio_in_every_part() -> None:
    data = from_arrays(features(200), ["rare"] * 40 + ["common"] * 160)
    for _, split in data.splits():
        assert float((split.targets == 1).float().mean()) == pytest.approx(0.2, abs=0.05)


def test_given_parts_are_used_and_no_rows_held_out_for_them() -> None:
    new = features(5)
    data = from_arrays(
        features(20),
        ["a", "b"] * 10,
        config=ArraysConfig(val_size=0.1, test_size=0.5),
        validation=(new, list("abbaa")),
    )
    assert data.val is not None
    assert data.test is not None
    assert (len(data.train), len(data.val), len(data.test)) == (10, 5, 10)
    assert torch.equal(data.val.inputs, encoder_of(data).encode(new))
    assert data.val.targets.tolist() == [0, 1, 1, 0, 0]
    data = from_arrays(features(20), ["a", "b"] * 10, test=(new, list("abbaa")))
    assert data.val is not None
    assert data.test is not None
    assert (len(data.train), len(data.val), len(data.test)) == (18, 2, 5)


def test_weights_stay_with_their_rows() -> None:
    inputs = np.arange(40.0).reshape(40, 1)
    config = ArraysConfig(val_size=0.2, test_size=0.2, standardize=False)
    data = from_arrays(inputs, inputs[:, 0] * 2, config=config, weights=inputs[:, 0] * 3)
    for _, split in data.splits():
        assert split.weights is not None
        torch.testing.assert_close(split.targets, 2 * split.inputs)
        torch.testing.assert_close(split.weights, 3 * split.inputs[:, 0])


def test_a_weighted_series_is_standardised_as_if_it_stood_there_so_often() -> None:
    series = np.random.default_rng(0).normal(3, 2, size=(6, 5, 2))
    counts = np.array([3, 1, 2, 1, 4, 2])
    weighted = from_arrays(series, np.arange(6) % 2, config=ALL, weights=counts)
    repeated = from_arrays(
        series.repeat(counts, axis=0), (np.arange(6) % 2).repeat(counts), config=ALL
    )
    ours, theirs = (encoder_of(data).units() for data in (weighted, repeated))
    torch.testing.assert_close(ours, theirs)


def test_no_rows_held_out_is_no_split() -> None:
    data = from_arrays(features(4), [0, 1, 0, 1], config=ALL)
    assert (data.val, data.test) == (None, None)
    assert len(data.train) == 4


def test_constant_features_are_noted_and_harmless() -> None:
    inputs = features(10)
    inputs[:, 1] = 0.1
    data = from_arrays(inputs, np.arange(10) % 2, config=ALL)
    assert data.notes[1] == "constant in all training rows: x1"
    assert data.train.inputs[:, 1].tolist() == [0.0] * 10


def test_frames_bring_their_names() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": [1.0, 2.0, 3.0], "size": [4, 5, 7]})
    target = pandas.Series(["no", "yes", "no"], name="bought")
    data = from_arrays(frame, target, config=RAW)
    assert data.spec.feature_names == ("age", "size")
    assert data.spec.target_names == ("bought",)
    assert data.spec.class_names == ("no", "yes")
    assert encoder_of(data).columns == ("age", "size")
    assert data.train.inputs.tolist() == [[1, 4], [2, 5], [3, 7]]


def test_a_source_hands_its_division_on() -> None:
    config = arrays_config(DataConfig(val_size=0.3, test_size=0.4, split_seed=7), kind="real")
    assert config == ArraysConfig(val_size=0.3, test_size=0.4, split_seed=7, kind="real")


def test_the_split_seed_alone_decides_which_rows_are_held_out() -> None:
    def held_out(seed: int) -> Tensor:
        config = ArraysConfig(split_seed=seed, standardize=False)
        data = from_arrays(np.arange(30.0)[:, None], np.arange(30.0), config=config)
        assert data.test is not None
        inputs: Tensor = data.test.inputs
        return inputs

    assert torch.equal(held_out(3), held_out(3))
    assert not torch.equal(held_out(3), held_out(4))


def steps_of_gradient_descent(inputs: Tensor, targets: Tensor) -> int:
    """Steps at the best fixed rate until the gradient is a millionth of what it was."""
    gram = inputs.T @ inputs
    extremes = torch.linalg.eigvalsh(gram)[[0, -1]]
    rate = 2 / float(extremes.sum())
    weights = torch.zeros(inputs.shape[1], 1, dtype=torch.float64)
    start = float((inputs.T @ targets).norm())
    for step in range(100_000):
        gradient = gram @ weights - inputs.T @ targets
        if float(gradient.norm()) < 1e-6 * start:
            return step
        weights -= rate * gradient
    return 100_000


@pytest.mark.covers("feature-scaling")
def test_standardised_features_are_better_conditioned_and_learned_faster() -> None:
    inputs = features(200) * np.array([1.0, 3.0, 9.0])
    targets = inputs @ np.array([1.0, 1.0, 1.0]) - inputs.mean(axis=0).sum()
    raw, standardised = (
        from_arrays(
            inputs - inputs.mean(axis=0),
            targets,
            config=ArraysConfig(val_size=0, test_size=0, standardize=standardize),
        ).train
        for standardize in (False, True)
    )
    spread, steps = [], []
    for split in (raw, standardised):
        values = split.inputs.double()
        spread.append(float(torch.linalg.cond(values.T @ values)))
        steps.append(steps_of_gradient_descent(values, split.targets.double()))
    assert spread[0] >= 10 * spread[1]
    assert steps[0] >= 10 * steps[1]


@for_each(
    ("inputs", "targets", "options", "sentence"),
    [
        (
            np.zeros(3),
            [0, 1, 0],
            {},
            "inputs must have shape (N, F), (N, T, F) or (N, C, I, J), got (3,)",
        ),
        (
            np.zeros((3, 2, 2), np.int16),
            [0, 1, 0],
            {},
            "inputs of shape (3, 2, 2) are integers: give a series (N, T, F) as floats, or images "
            "as (N, C, I, J)",
        ),
        (np.zeros((0, 2)), [], {}, "arrays is empty, its inputs have shape (0, 2)"),
        (np.zeros((2, 0)), [0, 1], {}, "arrays is empty, its inputs have shape (2, 0)"),
        (features(3), [0, 1], {"name": "toy"}, "toy has 3 inputs but 2 targets"),
        (
            [[0.0], [float("nan")]] * 20,
            [0, 1] * 20,
            {},
            "inputs must be finite, got nan at [1, 0] (20 in all); set missing to 'mean' or 'drop'",
        ),
        (
            features(3),
            [0.5, 1.0, float("inf")],
            {},
            "targets must be finite, got inf at [2] (1 in all)",
        ),
        (features(3), [1, 1, 1], {}, "arrays has only one class in its training rows, '1'"),
        (
            features(3),
            ["a", "a", "a"],
            {"names": Names(classes=("a",))},
            "arrays has only one class in its training rows, 'a'",
        ),
        (features(3), [0, 1, 0], {"weights": [1, 2]}, "weights must have shape (3), got (2,)"),
        (
            features(3),
            [0, 1, 0],
            {"weights": [1, -1, 1]},
            "the train weights of arrays must be >= 0 and not all zero",
        ),
        (
            features(3),
            ["a", "b", "a"],
            {"test": (features(1), ["c"])},
            "test targets have an unknown label 'c' in row 0; there are a, b",
        ),
        (
            features(3),
            ["a", "b", "a"],
            {"validation": (features(1, 2), ["a"])},
            "validation inputs must have shape (N, 3), got (1, 2)",
        ),
        (
            features(3),
            ["a", "b", "a"],
            {"validation": (features(2), ["a"])},
            "arrays has 2 val inputs but 1 targets",
        ),
        (
            features(3),
            [0, 1, 0],
            {"names": Names(features=("a", "b"))},
            "there must be 3 feature names, got 2",
        ),
        (
            features(3),
            [0, 1, 0],
            {"names": Names(classes=("0", "1", "0"))},
            "class names must differ, got '0' twice",
        ),
        (
            features(2),
            [[0, 1], [1, 1]],
            {"names": Names(classes=("0", "1", "2"))},
            "there must be 2 label names, got 3",
        ),
        (
            features(3),
            [0, 1, 0],
            {"config": ArraysConfig(factor=2)},
            "factor has no effect on standardised inputs, set standardize to false",
        ),
    ],
)
def test_refuses_in_one_sentence(
    inputs: Any, targets: Any, options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(NetwrightError, match=f"^{re.escape(sentence)}$"):
        from_arrays(inputs, targets, **{"config": ALL, **options})


def test_settings_are_refused_at_the_door() -> None:
    with pytest.raises(ConfigError, match=r"^kind must be 'auto', 'class', 'labels' or 'real', "):
        ArraysConfig(kind="clas")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"^factor must be greater than 0.0, got 0.0$"):
        ArraysConfig(factor=0.0)


def test_too_few_rows_to_hold_any_out_are_refused() -> None:
    config = ArraysConfig(val_size=0.5, test_size=0.4)
    with pytest.raises(DataError, match=r"^2 rows are too few for 1 validation and 1 test$"):
        from_arrays(features(2), [0.5, 1.5], config=config)


def mapped(folder: Path, array: NDArray[Any], name: str = "x") -> NDArray[Any]:
    np.save(folder / f"{name}.npy", array)
    loaded: NDArray[Any] = np.load(folder / f"{name}.npy", mmap_mode="r")
    return loaded


MAPPED: dict[str, tuple[NDArray[Any], ArraysConfig]] = {
    "features": (np.random.default_rng(0).normal(5, 3, (50, 3)), ArraysConfig()),
    "a constant": (np.tile([[1.0, 0.1]], (50, 1)) + np.eye(50, 2), ArraysConfig()),
    "as they are": (features(50), ArraysConfig(standardize=False)),
    "images": (np.arange(200, dtype=np.uint8).reshape(50, 1, 2, 2), ArraysConfig()),
    "scaled images": (np.ones((50, 1, 2, 2), dtype=np.int16), ArraysConfig(factor=0.5)),
}


@pytest.mark.parametrize("stretch", [7, 2**22])
@pytest.mark.parametrize("kind", MAPPED)
def test_a_mapped_array_is_the_same_data_bit_for_bit_and_stays_on_disk(
    kind: str, stretch: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("netwright.data.input_profile.STRETCH", stretch)
    inputs, config = MAPPED[kind]
    targets, weights = np.arange(50) % 3, np.arange(1.0, 51.0)
    ours = from_arrays(mapped(tmp_path, inputs), targets, config=config, weights=weights)
    theirs = from_arrays(inputs, targets, config=config, weights=weights)
    assert (ours.spec, ours.notes) == (theirs.spec, theirs.notes)
    assert ours.preprocessor == theirs.preprocessor
    for (_, stored), (_, held) in zip(ours.splits(), theirs.splits(), strict=True):
        assert isinstance(stored, StoredSplit)
        assert type(held) is Split
        assert stored.inputs.dtype is torch.float32
        assert torch.equal(stored.inputs, held.inputs)
        assert torch.equal(stored.targets, held.targets)
        assert stored.weights is not None
        assert held.weights is not None
        assert torch.equal(stored.weights, held.weights)


def test_a_mapped_array_is_never_read_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("netwright.data.input_profile.STRETCH", 30)
    sizes = []

    def watched(name: str, array: NDArray[Any]) -> Tensor:
        sizes.append(array.size)
        return to_floats(name, array)

    monkeypatch.setattr("netwright.data.arrays.to_floats", watched)
    monkeypatch.setattr("netwright.data.input_profile.to_floats", watched)
    monkeypatch.setattr("netwright.data.loading.mapped_inputs.to_floats", watched)
    from_arrays(mapped(tmp_path, features(100)), np.arange(100) % 2)
    assert sizes == [30] * 10


def test_no_changed_number_of_a_mapped_array_goes_unseen(tmp_path: Path) -> None:
    inputs, targets = features(5000), np.arange(5000) % 2

    def prints(values: NDArray[Any], **settings: Any) -> dict[str, Any]:
        data = from_arrays(mapped(tmp_path, values), targets, config=replace(RAW, **settings))
        return fingerprint(data.train)

    before = prints(inputs)
    assert prints(inputs) == before
    for row in (0, 3, 2500, 4999):
        other = inputs.copy()
        other[row, -1] = np.nextafter(other[row, -1], 9)
        assert prints(other)["rows"] != before["rows"]
    assert prints(inputs, factor=10.0)["rows"] != before["rows"]
    assert prints(inputs, standardize=True)["rows"] != before["rows"]


def test_mapped_parts_that_are_given_are_known_by_their_content(tmp_path: Path) -> None:
    inputs, targets = features(20), np.arange(20) % 2

    def print_of(part: NDArray[Any]) -> Any:
        given = (mapped(tmp_path, part, "part"), targets[:5])
        data = from_arrays(inputs, targets, validation=given)
        assert data.val is not None
        return fingerprint(data.val)["rows"]

    assert print_of(inputs[:5]) == print_of(inputs[:5])
    assert print_of(inputs[:5]) != print_of(inputs[1:6])


def test_mapped_parts_that_are_given_stay_on_disk_and_are_checked(tmp_path: Path) -> None:
    inputs, targets = features(20), np.arange(20) % 2
    part = mapped(tmp_path, inputs[:5], "part")
    data = from_arrays(inputs, targets, validation=(part, targets[:5]), test=(part, targets[:5]))
    for split in (data.val, data.test):
        assert isinstance(split, StoredSplit)
        assert torch.equal(split.inputs, data.preprocessor.encode(inputs[:5]))
        assert split.targets.tolist() == [0, 1, 0, 1, 0]
    wide = mapped(tmp_path, features(5, 4), "wide")
    with pytest.raises(ShapeError, match=r"^test inputs must have shape \(N, 3\), got \(5, 4\)$"):
        from_arrays(inputs, targets, test=(wide, targets[:5]))
    gap = mapped(tmp_path, np.full((5, 3), np.nan), "gap")
    with pytest.raises(DataError, match=r"^test inputs\[0:5\] must be finite, got nan at \[0, 0\]"):
        from_arrays(inputs, targets, test=(gap, targets[:5]))


@pytest.mark.parametrize("row", [0, 19])  # whichever split it falls into
def test_a_gap_in_a_mapped_array_is_refused_at_the_door(row: int, tmp_path: Path) -> None:
    inputs = features(20)
    inputs[row, 2] = np.inf
    sentence = rf"^inputs\[0:20\] must be finite, got inf at \[{row}, 2\] \(1 in all\)$"
    with pytest.raises(DataError, match=sentence):
        from_arrays(mapped(tmp_path, inputs), np.arange(20) % 2)


def test_a_mapped_array_of_no_numbers_is_refused(tmp_path: Path) -> None:
    texts = mapped(tmp_path, np.array([["a", "b"]]))
    with pytest.raises(DataError, match=r"^inputs must be real numbers, got dtype <U1$"):
        from_arrays(texts, [1])


@pytest.mark.parametrize("part", ["validation", "test"])
def test_a_frame_that_is_given_for_a_part_must_have_the_columns_of_the_training_frame(
    part: str,
) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": [1.0, 2.0, 3.0], "size": [4, 5, 7]})
    options: dict[str, Any] = {part: (frame[["size", "age"]], [0, 1, 0])}
    sentence = rf"^{part} inputs must have the columns age, size, got size, age$"
    with pytest.raises(DataError, match=sentence):
        from_arrays(frame, [0, 1, 0], config=RAW, **options)


def test_images_with_channels_last_and_grey_bytes_are_recognised_and_said() -> None:
    images = np.random.default_rng(0).random((20, 6, 5, 3), dtype=np.float32)
    labels = np.arange(20) % 2
    last = from_arrays(images, labels)
    first = from_arrays(np.moveaxis(images, -1, 1), labels)
    assert last.spec == first.spec
    assert last.train.inputs.equal(first.train.inputs)
    assert any("(20, 6, 5, 3) have their channels last" in note for note in last.notes)
    assert last.preprocessor.encode(images).equal(first.preprocessor.encode(images))
    grey = from_arrays(
        (images[..., 0] * 255).astype(np.uint8), labels, test=(images[..., :1], labels)
    )
    assert grey.spec.input_shape == (1, 6, 5)
    assert grey.split("test").inputs.equal(torch.from_numpy(images[..., 0][:, None]))
    assert any("read as grey images" in note for note in grey.notes)


def test_a_mapped_array_of_images_with_channels_last_stays_on_disk(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.random.default_rng(0).random((20, 6, 5, 3)))
    images, labels = np.load(tmp_path / "x.npy", mmap_mode="r"), np.arange(20) % 2
    mapped, held = from_arrays(images, labels), from_arrays(np.array(images), labels)
    assert isinstance(mapped.train, StoredSplit)
    assert mapped.train.inputs.equal(held.train.inputs)


def test_missing_numbers_are_filled_with_the_mean_of_the_training_rows() -> None:
    values = np.arange(12.0).reshape(6, 2)
    values[[0, 3], [0, 1]] = np.nan
    config = ArraysConfig(missing="mean", val_size=0.0, test_size=0.0)
    data = from_arrays(values, [0, 1] * 3, config=config)
    means = np.nanmean(values, axis=0)
    whole = np.where(np.isnan(values), means, values)
    expected = (whole - whole.mean(0)) / whole.std(0)
    torch.testing.assert_close(data.train.inputs, torch.from_numpy(expected).float())
    assert "2 missing values, filled with the training mean" in data.notes
    new = data.preprocessor.encode([[np.nan, 1.0]])
    assert new[0, 0] == 0  # the mean
    assert data.preprocessor.remarks([[np.nan, 1.0]]) == (
        "1 missing values, filled with the training mean",
    )
    with pytest.raises(DataError, match="got inf"):
        data.preprocessor.encode([[np.inf, 1.0]])


def test_missing_numbers_of_a_file_are_left_to_its_owner(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", features(20))
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    with pytest.raises(ConfigError, match="missing='mean' is for arrays in memory"):
        from_arrays(mapped, [0, 1] * 10, config=ArraysConfig(missing="mean"))


def test_a_sparse_matrix_is_the_array_that_it_stands_for(monkeypatch: pytest.MonkeyPatch) -> None:
    dense = np.random.default_rng(0).random((40, 5)) * (np.arange(200).reshape(40, 5) % 3 == 0)
    labels = np.arange(40) % 2
    matrix = csr_array(dense)
    whole = from_arrays(dense, labels, test=(dense, labels))
    small = from_arrays(matrix, labels, test=(matrix, labels))
    assert small.train.inputs.equal(whole.train.inputs)
    monkeypatch.setattr(sparse_rows, "MOST_DENSE", 99)
    large = from_arrays(matrix, labels, test=(matrix, labels))
    assert isinstance(large.train, StoredSplit)
    assert isinstance(large.test, StoredSplit)
    assert large.preprocessor == whole.preprocessor
    assert large.train.inputs.equal(whole.train.inputs)
    assert whole.preprocessor.encode(coo_matrix(dense)).equal(whole.preprocessor.encode(dense))
    changed = csr_array(dense * 2)
    assert fingerprint(large.train) != fingerprint(from_arrays(changed, labels).train)
