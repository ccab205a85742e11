"""The perceptron: straight boundaries, separable flowers, XOR told apart, and parity of answers."""

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from sklearn.datasets import load_iris
from torch import Tensor

from netwright.core.config import parse
from netwright.core.errors import ConfigError, RunError
from netwright.core.seeding import seeded
from netwright.data.catalog import load
from netwright.data.dataset import Split
from netwright.data.spec import DataSpec
from netwright.layers.threshold import heaviside
from netwright.models.neurons.perceptron import AveragedPerceptron, Perceptron, PerceptronConfig
from netwright.models.neurons.separability import widest_plane, with_ones
from netwright.testing.learner_contract import LEARNER_CHECKS
from netwright.testing.model_contract import MODEL_CHECKS
from tests.repetition import for_each

CORNERS = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])


def spec(width: int, classes: int = 2) -> DataSpec:
    return DataSpec(inputs="features", input_shape=(width,), target="class", num_outputs=classes)


def fitted(
    data: Split, classes: int = 2, kind: type[Perceptron] = Perceptron, **settings: Any
) -> tuple[Perceptron, list[dict[str, float]]]:
    model = kind.build(parse(kind.settings, settings), spec(data.inputs.shape[1], classes))
    return model, list(model.fit_steps(data, seed=0))


def accuracy(model: Perceptron, data: Split) -> float:
    with torch.no_grad():
        return float((model(data.inputs).argmax(dim=1) == data.targets).double().mean())


def grid() -> Tensor:
    axis = torch.linspace(-1, 1, 120, dtype=torch.float64)
    return torch.cartesian_prod(axis, axis)


@for_each("kind", [Perceptron, AveragedPerceptron])
@for_each("check", MODEL_CHECKS + LEARNER_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_contracts(kind: type[Perceptron], check: Callable[[Any], None]) -> None:
    check(lambda: kind.build(parse(kind.settings, {"epochs": 20}), spec(4, 3)))


@pytest.mark.covers("perceptron")
def test_answer_flips_where_the_sum_crosses_minus_the_bias() -> None:
    model = Perceptron.build(PerceptronConfig(), spec(2)).double()
    numbers = torch.Generator().manual_seed(0)
    with torch.no_grad():
        model.scores.weight.copy_(torch.randn(1, 2, generator=numbers))
        model.scores.bias.copy_(torch.randn(1, generator=numbers) / 4)
    sums = (grid() @ model.scores.weight[0]).detach()
    fires = model(grid()).argmax(dim=1) == 1
    assert torch.equal(fires, sums > -model.scores.bias.item())
    assert 0 < int(fires.sum()) < 14_400
    # One straight line: the corners of either side hold no point of the other.
    for side in (fires, ~fires):
        inside = sums[side]
        between = (sums >= inside.min()) & (sums <= inside.max())
        assert torch.equal(between, side)


@pytest.mark.slow
@pytest.mark.covers("perceptron-2d-demo")
def test_random_perceptron_on_a_grid_is_learned_without_an_error() -> None:
    numbers = torch.Generator().manual_seed(1)
    weight = torch.randn(2, 1, generator=numbers, dtype=torch.float64)
    bias = torch.randn(1, generator=numbers, dtype=torch.float64)
    answers = heaviside(grid() @ weight + bias)
    assert answers.shape == (14_400, 1)
    assert set(answers.flatten().tolist()) == {0.0, 1.0}
    data = Split(inputs=grid(), targets=answers[:, 0].long())
    model = Perceptron.build(PerceptronConfig(epochs=1000), spec(2)).double()
    *_, last = model.fit_steps(data, seed=0)
    assert last["mistakes"] == 0
    assert last["separable"] == 1
    assert accuracy(model, data) == 1


@pytest.mark.covers("perceptron-algorithm")
def test_blobs_are_learned_within_the_bound() -> None:
    numbers = torch.Generator().manual_seed(0)
    x = torch.randn(100, 2, generator=numbers)
    signs = torch.arange(100) % 2 * 2 - 1
    x = x + 3.0 * signs[:, None]
    data = Split(inputs=x, targets=(signs > 0).long())
    model, steps = fitted(data)
    wide = with_ones(x)
    bound = wide.square().sum(dim=1).max() / widest_plane(wide, signs).margin ** 2
    assert accuracy(model, data) == 1
    assert steps[-1]["mistakes"] == 0
    assert 0 < steps[-1]["updates"] <= int(bound)
    assert steps[-1]["updates"] == sum(step["mistakes"] for step in steps)


def test_setosa_is_separable_from_the_rest_of_the_irises() -> None:
    x, y = load_iris(return_X_y=True)
    data = Split(inputs=torch.tensor(x).float(), targets=torch.tensor(y == 0).long())
    model, steps = fitted(data)
    assert steps[-1]["separable"] == 1
    assert accuracy(model, data) == 1


def test_xor_is_told_apart_in_bounded_time() -> None:
    data = Split(inputs=CORNERS, targets=torch.tensor([0, 1, 1, 0]))
    model, steps = fitted(data, epochs=30)
    assert len(steps) == 30
    assert all(step["mistakes"] > 0 for step in steps)
    assert steps[-1]["separable"] == 0
    assert all("separable" not in step for step in steps[:-1])
    assert "cannot separate" in model.own_views(data)["hyperplane"].caption
    assert accuracy(model, data) >= 0.5  # of all passes the best


def test_iris_has_one_row_a_class() -> None:
    train = load("iris").train
    model, steps = fitted(train, classes=3)
    assert model.scores.weight.shape == (3, 4)
    assert steps[-1]["separable"] == 0  # two of the three overlap
    assert accuracy(model, train) > 0.9


def test_stopped_early_it_says_that_a_plane_exists() -> None:
    x = torch.linspace(-1, 1, 40)[:, None] + 0.9
    data = Split(inputs=x, targets=(x[:, 0] > 1.4).long())
    model, steps = fitted(data, epochs=1)
    assert steps[-1]["mistakes"] > 0
    assert steps[-1]["separable"] == 1
    assert "more passes find it" in model.own_views(data)["hyperplane"].caption


def test_too_much_data_for_a_linear_program_is_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netwright.models.neurons.perceptron.MOST_NUMBERS", 7)
    data = Split(inputs=CORNERS, targets=torch.tensor([0, 1, 1, 0]))
    model, steps = fitted(data, epochs=3)
    assert "separable" not in steps[-1]
    assert "is unknown" in model.own_views(data)["hyperplane"].caption


def test_a_linear_program_that_is_given_up_leaves_it_open(monkeypatch: pytest.MonkeyPatch) -> None:
    def give_up(*_: object) -> bool:
        raise RunError("the linear program has no solution: Numerical difficulties.")

    monkeypatch.setattr("netwright.models.neurons.perceptron.is_separable", give_up)
    data = Split(inputs=CORNERS, targets=torch.tensor([0, 1, 1, 0]))
    model, steps = fitted(data, epochs=3)
    assert "separable" not in steps[-1]
    assert model.verdict == "no pass was free of mistakes in 3"


def test_verdict_says_whether_a_plane_is_enough() -> None:
    gate = Split(inputs=CORNERS, targets=torch.tensor([0, 1, 1, 1]))
    xor = Split(inputs=CORNERS, targets=torch.tensor([0, 1, 1, 0]))
    assert Perceptron.build(PerceptronConfig(), spec(2)).verdict == ""
    model, steps = fitted(gate)
    assert model.verdict == (f"the data is linearly separable: pass {len(steps)} had no mistake")
    assert fitted(gate, epochs=1)[0].verdict == (
        "the data is linearly separable: no pass was free of mistakes in 1, more of them find it"
    )
    next(model.fit_steps(xor, seed=0))  # what another fit found is forgotten
    assert model.verdict == "no pass was free of mistakes in 1"
    assert fitted(xor, epochs=5)[0].verdict == (
        "the data is not linearly separable: every pass makes mistakes"
    )
    three = Split(inputs=torch.eye(3), targets=torch.arange(3))
    model, steps = fitted(three, classes=3)
    assert model.verdict == (
        f"one plane per class separates the data: pass {len(steps)} had no mistake"
    )
    line = Split(inputs=torch.tensor([[-1.0], [0.0], [1.0]]), targets=torch.arange(3))
    assert fitted(line, classes=3)[0].verdict == (
        "one plane per class cannot separate the data: every pass makes mistakes"
    )


def test_of_the_averaged_no_pass_is_kept() -> None:
    data = Split(inputs=CORNERS, targets=torch.tensor([0, 1, 1, 1]))
    model, _ = fitted(data, kind=AveragedPerceptron)
    assert model.kept_step is None
    caption = model.own_views(data)["hyperplane"].caption
    assert "The mean of the weights of all passes answers." in caption
    assert fitted(data)[0].kept_step is not None


def test_weight_of_zero_leaves_an_example_out_and_others_scale_its_step() -> None:
    data = Split(
        inputs=torch.tensor([[1.0], [-2.0], [5.0]]),
        targets=torch.tensor([1, 0, 0]),
        weights=torch.tensor([0.5, 1.0, 0.0]),
    )
    model, steps = fitted(data)
    assert steps[-1]["mistakes"] == 0
    kept = Split(inputs=data.inputs[:2], targets=data.targets[:2])
    assert accuracy(model, kept) == 1
    first = Split(inputs=data.inputs[:1], targets=data.targets[:1], weights=torch.tensor([0.5]))
    model, _ = fitted(first)
    assert (model.scores.weight.item(), model.scores.bias.item()) == (0.5, 0.5)


def test_averaging_wavers_less_on_noisy_labels() -> None:
    numbers = torch.Generator().manual_seed(0)
    x = torch.randn(600, 20, generator=numbers)
    rule = torch.randn(20, generator=numbers)
    truth = Split(inputs=x, targets=(x @ rule > 0).long())
    noisy = torch.where(torch.rand(600, generator=numbers) < 0.2, 1 - truth.targets, truth.targets)
    seen = Split(inputs=x[:400], targets=noisy[:400])
    unseen = Split(inputs=x[400:], targets=truth.targets[400:])
    plain, _ = fitted(seen, epochs=10)
    averaged, _ = fitted(seen, kind=AveragedPerceptron, epochs=10)
    assert accuracy(averaged, unseen) > accuracy(plain, unseen)


def test_what_it_learned_is_in_its_state() -> None:
    data = Split(inputs=CORNERS, targets=torch.tensor([0, 1, 1, 1]))
    model, _ = fitted(data)
    other = Perceptron.build(PerceptronConfig(), spec(2))
    assert other.own_views(data) == {}
    other.load_state_dict(model.state_dict())
    assert torch.equal(other(CORNERS), model(CORNERS))
    assert other.own_views(data)["hyperplane"].to_json() == (
        model.own_views(data)["hyperplane"].to_json()
    )


def test_another_seed_visits_in_another_order() -> None:
    with seeded(0):
        data = Split(inputs=torch.randn(50, 3), targets=torch.randint(2, (50,)))
    runs = []
    for seed in (0, 1):
        model = Perceptron.build(PerceptronConfig(epochs=5), spec(3))
        runs.append([step["mistakes"] for step in model.fit_steps(data, seed)])
    assert runs[0] != runs[1]


def test_no_pass_at_all_is_refused() -> None:
    sentence = "epochs must be greater than 0, got 0"
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        PerceptronConfig(epochs=0)
