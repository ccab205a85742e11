"""scikit-learn's data: sizes, names and order, and that a linear rule learns the irises."""

import numpy as np
import pytest
import torch
from sklearn import datasets
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from netwright.data.array_encoder import ArrayEncoder
from netwright.data.bundled import (
    BREAST_CANCER,
    DIABETES,
    DIGITS,
    IRIS,
    LINNERUD,
    WINE,
    FeaturesConfig,
)
from netwright.data.source import DataConfig, Source

WHOLE = FeaturesConfig(val_size=0, test_size=0, standardize=False)


@pytest.mark.parametrize(
    ("source", "rows", "features", "classes"),
    [
        (IRIS, 150, 4, ("setosa", "versicolor", "virginica")),
        (WINE, 178, 13, ("class_0", "class_1", "class_2")),
        (BREAST_CANCER, 569, 30, ("malignant", "benign")),
    ],
)
def test_tables_of_classes(
    source: Source, rows: int, features: int, classes: tuple[str, ...]
) -> None:
    data = source.load(FeaturesConfig())
    assert sum(len(split) for _, split in data.splits()) == rows
    assert data.spec.input_shape == (features,)
    assert data.spec.class_names == classes
    assert len(data.spec.feature_names) == features
    assert all(type(name) is str for name in data.spec.feature_names)
    torch.testing.assert_close(
        data.train.inputs.mean(dim=0), torch.zeros(features), rtol=0, atol=1e-5
    )
    assert data.notes == ()


def test_classes_have_the_indices_of_scikit_learn() -> None:
    train = BREAST_CANCER.load(WHOLE).train
    table = datasets.load_breast_cancer()
    assert train.targets.tolist() == table.target.tolist()
    np.testing.assert_allclose(train.inputs.numpy(), table.data, rtol=1e-6)


@pytest.mark.covers("dataset-iris-figure")
def test_a_linear_rule_learns_the_irises() -> None:
    data = IRIS.load(FeaturesConfig(test_size=0.5))
    assert data.test is not None
    assert data.spec.feature_names[2] == "petal length (cm)"
    rule = LinearDiscriminantAnalysis().fit(data.train.inputs.numpy(), data.train.targets.numpy())
    assert rule.score(data.test.inputs.numpy(), data.test.targets.numpy()) >= 0.95


def test_digits_are_images_in_the_unit_interval() -> None:
    data = DIGITS.load(DataConfig())
    assert (data.spec.inputs, data.spec.input_shape) == ("image", (1, 8, 8))
    assert data.spec.class_names == tuple("0123456789")
    assert [len(split) for _, split in data.splits()] == [1258, 180, 359]
    assert (float(data.train.inputs.min()), float(data.train.inputs.max())) == (0.0, 1.0)
    sixteenths = 16 * data.train.inputs
    assert torch.equal(sixteenths, sixteenths.round())
    raw = datasets.load_digits()
    encoded = data.preprocessor.encode(raw.images[:5, None])
    np.testing.assert_array_equal(encoded.numpy()[:, 0], raw.images[:5] / 16)
    assert data.preprocessor.encode_targets(raw.target[:5]).tolist() == raw.target[:5].tolist()


def test_diabetes_comes_in_its_own_units() -> None:
    data = DIABETES.load(WHOLE)
    assert (data.spec.target, data.spec.target_names) == ("real", ("progression",))
    assert data.spec.feature_names[:2] == ("age", "sex")
    age = data.train.inputs[:, 0]
    assert (len(age), float(age.min()), float(age.max())) == (442, 19.0, 79.0)
    assert (float(data.train.targets.min()), float(data.train.targets.max())) == (25.0, 346.0)


def test_linnerud_has_three_reals() -> None:
    data = LINNERUD.load(WHOLE)
    assert data.spec.num_outputs == 3
    assert data.spec.feature_names == ("Chins", "Situps", "Jumps")
    assert data.spec.target_names == ("Weight", "Waist", "Pulse")
    assert data.train.inputs[0].tolist() == [5, 162, 60]
    assert data.train.targets[0].tolist() == [191, 36, 50]


def test_features_are_standardised_unless_told_otherwise() -> None:
    data = WINE.load(FeaturesConfig())
    assert isinstance(data.preprocessor, ArrayEncoder)
    assert len(data.preprocessor.mean) == 13
    assert float(WINE.load(WHOLE).train.inputs.max()) == 1680.0
