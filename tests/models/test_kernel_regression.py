"""Kernel regression: the stored mean by hand, widths that the data choose, weights, refusals."""

import re
from typing import Literal

import pytest
import torch
from sklearn import datasets
from sklearn.dummy import DummyRegressor
from sklearn.metrics import r2_score
from sklearn.neighbors import KNeighborsClassifier

from netwright.core.errors import ConfigError, UnknownNameError
from netwright.data.dataset import Split
from netwright.data.spec import DataSpec, TargetKind
from netwright.layers.attention.kernels import KERNELS, kernel_pooling
from netwright.models.kernel_regression import KernelRegression, KernelRegressionConfig, _spread
from tests.repetition import for_each

ROW = torch.tensor([0])


def spec(*shape: int, target: TargetKind = "real", outputs: int = 1) -> DataSpec:
    return DataSpec(inputs="features", input_shape=shape, target=target, num_outputs=outputs)


def learned(data: Split, what: DataSpec, **settings: object) -> tuple[KernelRegression, float]:
    """The model, and its leave-one-out error."""
    model = KernelRegression.build(KernelRegressionConfig(**settings), what)  # type: ignore[arg-type]
    (step,) = model.fit_steps(data, seed=0)
    return model.eval(), step["leave_one_out"]


def wave(rows: int) -> Split:
    numbers = torch.Generator().manual_seed(0)
    x = 5 * torch.rand(rows, 1, generator=numbers)
    noise = 0.3 * torch.randn(rows, 1, generator=numbers)
    return Split(inputs=x, targets=2 * x.sin() + x + noise)


@for_each("kernel", KERNELS)
def test_reals_are_pooled_from_the_stored_examples(kernel: str) -> None:
    data = wave(30)
    model, _ = learned(data, spec(1), kernel=kernel, width=(0.4,))
    at = torch.linspace(-1, 6, 20)[:, None]
    torch.testing.assert_close(
        model(at), kernel_pooling(at, data.inputs, data.targets, kernel, 0.4)
    )


def test_classes_have_the_shares_of_their_neighbours() -> None:
    data = Split(
        inputs=torch.tensor([[0.0], [0.2], [0.4], [9.0]]), targets=torch.tensor([0, 0, 2, 1])
    )
    model, _ = learned(data, spec(1, target="class", outputs=3), kernel="boxcar", width=(1.0,))
    shares = model(torch.tensor([[0.1], [9.0], [100.0]])).softmax(dim=1)
    by_hand = torch.tensor([[2 / 3, 0, 1 / 3], [0, 1, 0], [0.5, 0.25, 0.25]])
    torch.testing.assert_close(shares, by_hand, rtol=0, atol=1e-6)


def test_leave_one_out_by_hand() -> None:
    data = Split(
        inputs=torch.tensor([[0.0], [1.0], [1.5]]), targets=torch.tensor([[0.0], [3.0], [6.0]])
    )
    _, error = learned(data, spec(1), kernel="boxcar", width=(1.0,))
    # 0 is foretold by its neighbour as 3, 3 by both of the others as 3, 6 by its neighbour as 3.
    assert error == pytest.approx((9 + 0 + 9) / 3 / 6)


@for_each("kernel", KERNELS)
def test_the_width_that_is_chosen_is_better_than_one_much_narrower_or_wider(kernel: str) -> None:
    data, test = wave(200), wave(1000).take(torch.arange(200, 1000))

    def error(model: KernelRegression) -> float:
        return float((model(test.inputs) - test.targets).square().mean())

    chosen, _ = learned(data, spec(1), kernel=kernel)
    width = float(chosen.width)
    for factor in (0.1, 5.0):
        other, _ = learned(data, spec(1), kernel=kernel, width=(factor * width,))
        assert error(chosen) < error(other)
    assert error(chosen) < 0.13  # the noise itself has 0.09


def test_each_input_has_a_width_of_its_own_spread() -> None:
    data = wave(50)
    stretched = Split(
        inputs=torch.cat((data.inputs, 1e3 * data.inputs), dim=1), targets=data.targets
    )
    model, _ = learned(stretched, spec(2))
    assert float(model.width[1] / model.width[0]) == pytest.approx(1e3, rel=1e-4)
    constant = Split(inputs=torch.ones(5, 2), targets=torch.arange(5.0)[:, None])
    model, _ = learned(constant, spec(2))
    assert model(torch.ones(1, 2)).tolist() == [[pytest.approx(2.0)]]


@for_each("kernel", KERNELS)
def test_real_tables_are_learned_without_tuning(kernel: str) -> None:
    x, y = datasets.load_digits(return_X_y=True)
    x, y = torch.tensor(x[:900], dtype=torch.float32) / 16, torch.tensor(y[:900])
    digits, _ = learned(
        Split(inputs=x[:600].reshape(-1, 1, 8, 8), targets=y[:600]),
        DataSpec(inputs="image", input_shape=(1, 8, 8), target="class", num_outputs=10),
        kernel=kernel,
    )
    ours = float((digits(x[600:]).argmax(dim=1) == y[600:]).float().mean())
    nearest = KNeighborsClassifier(1).fit(x[:600], y[:600]).score(x[600:], y[600:])
    assert ours > nearest - (0.01 if kernel == "gaussian" else 0.06)  # the others end
    x, y = datasets.load_diabetes(return_X_y=True, as_frame=False)
    x, y = torch.tensor(x, dtype=torch.float32), torch.tensor(y[:, None], dtype=torch.float32)
    diabetes, _ = learned(Split(inputs=x[:300], targets=y[:300]), spec(10), kernel=kernel)
    assert r2_score(y[300:], diabetes(x[300:])) > 0.25
    assert DummyRegressor().fit(x[:300], y[:300]).score(x[300:], y[300:]) < 0.01


def test_a_weight_of_two_is_an_example_that_is_there_twice() -> None:
    data = wave(20)
    rows = torch.cat((torch.arange(20), torch.arange(5)))
    counted = torch.ones(20).index_fill(0, torch.arange(5), 2.0)
    weighted = Split(inputs=data.inputs, targets=data.targets, weights=counted)
    once, _ = learned(weighted, spec(1), width=(0.3,))
    twice, _ = learned(data.take(rows), spec(1), width=(0.3,))
    torch.testing.assert_close(once(data.inputs), twice(data.inputs))


@pytest.mark.parametrize("shape", ["features", "image"])
def test_widths_are_chosen_by_what_counts(shape: Literal["features", "image"]) -> None:
    data = wave(20)
    rows = torch.cat((torch.arange(20), torch.arange(5)))
    counted = torch.ones(21).index_fill(0, torch.arange(1, 6), 2.0).index_fill(0, ROW, 0.0)
    weighted = Split(
        inputs=torch.cat((torch.full((1, 1), 1e4), data.inputs)),
        targets=torch.cat((torch.zeros(1, 1), data.targets)),
        weights=counted,
    )
    what = DataSpec(inputs=shape, input_shape=(1,), target="real", num_outputs=1)
    once, _ = learned(weighted, what, kernel="boxcar")
    alone = Split(inputs=data.inputs, targets=data.targets, weights=counted[1:])
    torch.testing.assert_close(once.width, learned(alone, what, kernel="boxcar")[0].width)
    ours = _spread(data.inputs, counted[1:], is_image=shape == "image")
    torch.testing.assert_close(ours, data.inputs[rows].std(dim=0, correction=0))


def test_a_constant_input_has_no_spread_whatever_the_weights() -> None:
    weights = torch.rand(50, generator=torch.Generator().manual_seed(0))
    assert _spread(torch.full((50, 1), 0.1), weights, is_image=False).tolist() == [1.0]


def test_a_fitted_model_comes_back_from_its_state() -> None:
    data = wave(20)
    model, _ = learned(data, spec(1))
    again = KernelRegression.build(KernelRegressionConfig(), spec(1))
    again.load_state_dict(model.state_dict())
    assert torch.equal(again(data.inputs), model(data.inputs))


@pytest.mark.parametrize(
    ("settings", "error", "sentence"),
    [
        (
            {"width": (1.0, 2.0)},
            ConfigError,
            "width must be one number, or 3, one per input, got 2",
        ),
        ({"width": (-1.0,)}, ConfigError, "width[0] must be greater than 0.0, got -1.0"),
        ({"kernel": "box"}, UnknownNameError, "unknown kernel 'box'; did you mean 'boxcar'?"),
    ],
    ids=("two", "negative", "unknown"),
)
def test_refusals(settings: dict[str, object], error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=f"^{re.escape(sentence)}$"):
        KernelRegression.build(KernelRegressionConfig(**settings), spec(3))  # type: ignore[arg-type]
