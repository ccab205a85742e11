"""Dividing rows: each row once, each class its share, and what held-out error is good for."""

import re

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings
from torch import Tensor

from netwright.core.errors import ConfigError, DataError
from netwright.data.split import hold_out, k_folds
from tests.repetition import for_each

labels = st.lists(st.integers(0, 5), min_size=12, max_size=80).map(torch.tensor)


def everything(parts: tuple[Tensor, ...]) -> list[int]:
    return sorted(torch.cat(parts).tolist())


@pytest.mark.covers("train-val-test-split")
@given(
    count=st.integers(12, 200),
    sizes=st.sampled_from([(0.1, 0.2), (0.0, 0.3), (0.25, 0.0), (0.0, 0.0), (0.4, 0.5)]),
    seed=st.integers(0, 2**40),
)
@settings(deadline=None)
def test_the_parts_are_disjoint_exhaustive_and_reproducible(
    count: int, sizes: tuple[float, float], seed: int
) -> None:
    val_size, test_size = sizes
    parts = hold_out(count, val_size=val_size, test_size=test_size, seed=seed)
    assert everything(parts) == list(range(count))  # each row once: nothing shared, nothing lost
    assert [len(part) for part in parts[1:]] == [round(count * val_size), round(count * test_size)]
    again = hold_out(count, val_size=val_size, test_size=test_size, seed=seed)
    assert all(torch.equal(one, other) for one, other in zip(parts, again, strict=True))


def test_the_rows_that_a_seed_holds_out_are_the_same_in_every_version() -> None:
    # Otherwise a run that is evaluated later is tested on rows that it learned from.
    classes = torch.tensor([0] * 13 + [1] * 7 + [2] * 5)
    parts = hold_out(25, val_size=0.2, test_size=0.2, seed=3)
    assert [part.tolist() for part in parts[1:]] == [[3, 15, 21, 23, 24], [0, 8, 17, 18, 19]]
    parts = hold_out(25, val_size=0.2, test_size=0.2, seed=3, classes=classes)
    assert [part.tolist() for part in parts[1:]] == [[5, 7, 17, 19, 24], [0, 3, 8, 18, 21]]
    (_, plain), *_ = k_folds(25, k=5, seed=3)
    assert plain.tolist() == [0, 5, 10, 20, 21]
    (_, stratified), *_ = k_folds(25, k=5, seed=3, classes=classes)
    assert stratified.tolist() == [0, 2, 11, 19, 21]


def test_another_seed_holds_out_other_rows() -> None:
    _, _, first = hold_out(100, val_size=0, test_size=0.5, seed=0)
    _, _, second = hold_out(100, val_size=0, test_size=0.5, seed=1)
    assert not torch.equal(first, second)


@pytest.mark.covers("train-val-test-split")
@for_each("seed", range(10))
def test_stratified_parts_keep_the_ratios_of_the_classes(seed: int) -> None:
    # 10 classes of 100 rows each and one of 200; a tenth and a fifth of each, to within two rows.
    classes = torch.arange(1200) % 12 % 11
    train, val, test = hold_out(1200, val_size=0.1, test_size=0.2, seed=seed, classes=classes)
    assert everything((train, val, test)) == list(range(1200))
    total = classes.bincount()
    assert total.tolist() == [200] + 10 * [100]
    for rows, share in ((train, 0.7), (val, 0.1), (test, 0.2)):
        assert float((classes[rows].bincount() - share * total).abs().max()) <= 2


@for_each("seed", range(20))
def test_a_class_of_three_rows_is_not_held_out_whole(seed: int) -> None:
    classes = torch.tensor([0] * 60 + [1] * 3)
    train, _, _ = hold_out(63, val_size=0.1, test_size=0.2, seed=seed, classes=classes)
    assert 1 in classes[train]


@pytest.mark.covers("k-fold-cv")
@given(classes=labels, k=st.integers(2, 12), seed=st.integers(0, 2**40), stratified=st.booleans())
@settings(deadline=None)
def test_folds_partition_the_rows(classes: Tensor, k: int, seed: int, stratified: bool) -> None:
    count = len(classes)
    folds = k_folds(count, k, seed=seed, classes=classes if stratified else None)
    assert len(folds) == k
    assert everything(tuple(held for _, held in folds)) == list(range(count))
    for learned, held in folds:
        assert everything((learned, held)) == list(range(count))
        assert len(held) in {count // k, -(-count // k)}


@given(classes=labels, k=st.integers(2, 12), seed=st.integers(0, 2**40))
@settings(deadline=None)
def test_every_fold_has_its_share_of_every_class_to_within_one_row(
    classes: Tensor, k: int, seed: int
) -> None:
    for _, held in k_folds(len(classes), k, seed=seed, classes=classes):
        for label in range(6):
            share = int((classes == label).sum()) / k
            assert abs(int((classes[held] == label).sum()) - share) < 1


def test_folds_depend_on_the_seed_alone() -> None:
    first, same, other = (k_folds(30, 3, seed=seed)[0][1] for seed in (5, 5, 6))
    assert torch.equal(first, same)
    assert not torch.equal(first, other)


def test_folds_of_one_class_are_those_without_classes() -> None:
    # Rows of one class keep their random order: not every sort leaves equals where they are.
    same = torch.zeros(100, dtype=torch.int64)
    plain, one_class = (k_folds(100, 3, seed=0, classes=classes) for classes in (None, same))
    for (_, ours), (_, theirs) in zip(plain, one_class, strict=True):
        assert torch.equal(ours, theirs)


def least_squares(inputs: Tensor, targets: Tensor) -> Tensor:
    weights: Tensor = torch.linalg.solve(inputs.T @ inputs, inputs.T @ targets)
    return weights


def drawn(count: int, features: int, seed: int) -> tuple[Tensor, Tensor]:
    """Gaussian inputs; targets with weights 1, 2, 3 ... and noise of standard deviation 1."""
    random = torch.Generator().manual_seed(seed)
    inputs = torch.randn(count, features, generator=random, dtype=torch.float64)
    noise = torch.randn(count, generator=random, dtype=torch.float64)
    return inputs, inputs @ torch.arange(1.0, features + 1, dtype=torch.float64) + noise


@pytest.mark.covers("k-fold-cv")
def test_as_many_folds_as_rows_is_leave_one_out_and_equals_press() -> None:
    # For least squares the error on a row left out is r_i / (1 - h_ii), from a single fit.
    inputs, targets = drawn(20, 3, seed=0)
    folds = k_folds(20, 20, seed=0)
    assert all(len(held) == 1 for _, held in folds)
    errors = torch.empty(20, dtype=torch.float64)
    for learned, held in folds:
        weights = least_squares(inputs[learned], targets[learned])
        errors[held] = targets[held] - inputs[held] @ weights
    hat = inputs @ torch.linalg.solve(inputs.T @ inputs, inputs.T)
    residuals = targets - inputs @ least_squares(inputs, targets)
    torch.testing.assert_close(errors, residuals / (1 - hat.diagonal()), rtol=0, atol=1e-8)


@pytest.mark.covers("expected-risk")
def test_held_out_error_estimates_the_risk_and_training_error_is_optimistic() -> None:
    # Risk of weights w under y = v x + noise: |w - v|^2 + 1, exactly.
    inputs, targets = drawn(4000, 10, seed=1)
    train, _, test = hold_out(4000, val_size=0, test_size=0.99, seed=0)
    weights = least_squares(inputs[train], targets[train])
    truth = torch.arange(1.0, 11, dtype=torch.float64)
    risk = float((weights - truth).square().sum()) + 1
    held = (targets[test] - inputs[test] @ weights).square()
    standard_error = float(held.std()) / len(held) ** 0.5
    assert abs(float(held.mean()) - risk) < 2 * standard_error
    assert float((targets[train] - inputs[train] @ weights).square().mean()) < risk


@pytest.mark.covers("validation-error")
def test_held_out_error_of_a_fixed_model_is_unbiased() -> None:
    # The model w = 0 has risk 1 + 1 = 2; the mean over 400 data sets lies within 3 of its errors.
    errors = []
    for seed in range(400):
        _, targets = drawn(50, 1, seed)
        _, val, _ = hold_out(50, val_size=0.2, test_size=0, seed=seed)
        errors.append(float(targets[val].square().mean()))
    estimate = torch.tensor(errors, dtype=torch.float64)
    assert abs(float(estimate.mean()) - 2) < 3 * float(estimate.std()) / 400**0.5


@pytest.mark.parametrize(
    ("count", "val_size", "test_size", "error", "sentence"),
    [
        (9, 0.5, 0.5, ConfigError, "val_size + test_size must be less than 1, got 0.5 + 0.5"),
        (1, 0.4, 0.55, DataError, "1 rows are too few for 0 validation and 1 test"),
        (2, 0.3, 0.6, DataError, "2 rows are too few for 1 validation and 1 test"),
    ],
)
def test_refuses_to_leave_nothing_to_learn_from(
    count: int, val_size: float, test_size: float, error: type[Exception], sentence: str
) -> None:
    with pytest.raises(error, match=f"^{re.escape(sentence)}$"):
        hold_out(count, val_size=val_size, test_size=test_size, seed=0)


@pytest.mark.parametrize("k", [1, 0, 6])
def test_refuses_folds_that_cannot_be(k: int) -> None:
    with pytest.raises(ConfigError, match=f"^k must lie between 2 and the 5 rows, got {k}$"):
        k_folds(5, k, seed=0)


def test_groups_are_held_out_whole() -> None:
    groups = torch.arange(60) // 3
    parts = hold_out(60, val_size=0.1, test_size=0.2, seed=1, groups=groups)
    assert [len(part) for part in parts] == [42, 6, 12]
    held = [set(groups[part].tolist()) for part in parts]
    assert sum(map(len, held)) == len(set.union(*held))
    train, val, test = hold_out(60, val_size=0.0, test_size=0.2, seed=1, groups=groups)
    assert (len(train), len(val), len(test)) == (48, 0, 12)


def test_folds_hold_groups_as_a_whole_and_each_row_once() -> None:
    groups = torch.arange(30) // 3
    folds = k_folds(30, 5, seed=0, groups=groups)
    assert torch.cat([held for _, held in folds]).sort().values.equal(torch.arange(30))
    for learned, held in folds:
        assert len(held) == 6
        assert not set(groups[learned].tolist()) & set(groups[held].tolist())
        assert torch.cat([learned, held]).sort().values.equal(torch.arange(30))
