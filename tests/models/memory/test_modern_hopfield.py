"""The modern Hopfield model: contracts, the kernel it is, weights as copies, and real digits."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from netwright.data.bundled import load_digits
from netwright.data.dataset import Split
from netwright.data.files.idx import read_idx
from netwright.data.source import DataConfig
from netwright.data.spec import DataSpec
from netwright.inspection.drawing.pictures import pixels_of
from netwright.layers.attention.hopfield import hopfield_retrieval
from netwright.models.memory.modern_hopfield import (
    ModernHopfield,
    ModernHopfieldConfig,
    left_out_distances,
)
from netwright.testing.learner_contract import LEARNER_CHECKS
from netwright.testing.model_contract import MODEL_CHECKS
from tests.repetition import for_each

CLASSES = DataSpec(inputs="features", input_shape=(5,), target="class", num_outputs=3)
REALS = DataSpec(inputs="features", input_shape=(5,), target="real", num_outputs=2)


@for_each("check", MODEL_CHECKS + LEARNER_CHECKS, ids=lambda check: check.__name__)
@for_each("spec", [CLASSES, REALS], ids=["class", "real"])
def test_keeps_the_contracts(spec: DataSpec, check: Callable[[Any], None]) -> None:
    check(lambda: ModernHopfield.build(ModernHopfieldConfig(), spec))


def test_probabilities_are_those_of_a_gaussian_kernel() -> None:
    numbers = torch.Generator().manual_seed(0)
    x, y = torch.randn(20, 5, generator=numbers), torch.arange(20) % 3
    model = ModernHopfield.build(ModernHopfieldConfig(beta=0.7), CLASSES)
    list(model.fit_steps(Split(inputs=x, targets=y), 0))
    queries = torch.randn(4, 5, generator=numbers)
    kernel = (-0.35 * torch.cdist(queries, x).square()).exp()
    mass = torch.stack([kernel[:, y == c].sum(dim=1) for c in range(3)], dim=1)
    expected = mass / mass.sum(dim=1, keepdim=True)
    torch.testing.assert_close(model(queries).softmax(dim=1), expected)


def test_a_weight_is_so_many_copies() -> None:
    numbers = torch.Generator().manual_seed(0)
    x, y = torch.randn(6, 5, generator=numbers), torch.randn(6, 2, generator=numbers)
    times = torch.tensor([0, 1, 2, 1, 0, 3])
    weighted, copied = (
        ModernHopfield.build(ModernHopfieldConfig(beta=1.0), REALS) for _ in range(2)
    )
    list(weighted.fit_steps(Split(inputs=x, targets=y, weights=times.float()), 0))
    copies = times.nonzero().flatten().repeat_interleave(times[times > 0])
    list(copied.fit_steps(Split(inputs=x[copies], targets=y[copies]), 0))
    queries = torch.randn(4, 5, generator=numbers)
    torch.testing.assert_close(weighted(queries), copied(queries))


def test_patterns_far_from_0_lose_no_digits() -> None:
    numbers = torch.Generator().manual_seed(0)
    x, y = torch.randn(60, 5, generator=numbers) + 1e3, torch.arange(60) % 3
    queries = torch.randn(20, 5, generator=numbers) + 1e3
    single = ModernHopfield.build(ModernHopfieldConfig(), CLASSES)
    double = ModernHopfield.build(ModernHopfieldConfig(), CLASSES).double()
    list(single.fit_steps(Split(inputs=x, targets=y), 0))
    list(double.fit_steps(Split(inputs=x.double(), targets=y), 0))
    assert single.beta.item() == pytest.approx(double.beta.item(), rel=1e-5)
    expected = double(queries.double()).softmax(dim=1)
    torch.testing.assert_close(single(queries).softmax(dim=1).double(), expected, rtol=0, atol=1e-5)
    # The kernel itself, without a centre.
    kernel = (-double.beta / 2 * torch.cdist(queries.double(), x.double()).square()).exp()
    mass = torch.stack([kernel[:, y == c].sum(dim=1) for c in range(3)], dim=1)
    torch.testing.assert_close(expected, mass / mass.sum(dim=1, keepdim=True), rtol=0, atol=1e-6)
    opened = ModernHopfield.build(ModernHopfieldConfig(), CLASSES)
    opened.load_state_dict(single.state_dict())
    assert torch.equal(opened(queries), single(queries))


def test_pictures_are_shown_as_they_were_stored() -> None:
    data = load_digits(DataConfig()).train.take(torch.arange(5))
    model = ModernHopfield.build(ModernHopfieldConfig(beta=10.0), load_digits(DataConfig()).spec)
    list(model.fit_steps(data, 0))
    shown = model.own_views(data)["recalled-patterns"].to_json()
    assert shown["stored"][0] == [list(row) for row in pixels_of(data.inputs[0])]
    assert shown["recalled"][0] == shown["stored"][0]
    assert shown["disturbed"][0] != shown["stored"][0]


def test_a_left_out_pattern_is_infinitely_far_from_itself() -> None:
    patterns = torch.tensor([[0.0], [1.0], [3.0]])
    rows, distances = left_out_distances(patterns, torch.Generator().manual_seed(0))
    expected = torch.tensor([[math.inf, 1, 9], [1, math.inf, 4], [9, 4, math.inf]])
    torch.testing.assert_close(distances, expected[rows])
    _, alone = left_out_distances(patterns[:1], torch.Generator().manual_seed(0))
    assert alone.tolist() == [[0.0]]


def test_beta_is_the_best_on_left_out_examples() -> None:
    data = load_digits(DataConfig())
    assert data.test is not None
    model = ModernHopfield.build(ModernHopfieldConfig(), data.spec)
    steps = list(model.fit_steps(data.train, 0))
    best = min(steps, key=lambda step: step["loss"])
    assert model.beta.item() == pytest.approx(best["beta"])
    assert steps[0]["loss"] > best["loss"] < steps[-1]["loss"]
    right = model(data.test.inputs).argmax(dim=1) == data.test.targets
    assert right.float().mean() >= 0.97
    (view,) = model.own_views(data.test).values()
    assert view.to_json()["num_recalled"] > 150


@pytest.mark.slow
def test_a_hundred_thousand_real_digits_are_retrieved_from_noise(
    real_data: Callable[[str], Path],
) -> None:
    images = torch.from_numpy(read_idx(real_data("mnist/train-images-idx3-ubyte.gz")).copy())
    numbers = torch.Generator().manual_seed(0)
    digits = torch.where(images.flatten(1) > 127, 1.0, -1.0)
    copies = digits[:40_000] * torch.where(
        torch.rand(40_000, 784, generator=numbers) < 0.1, -1.0, 1.0
    )
    stored = torch.cat((digits, copies))
    rows = torch.randperm(100_000, generator=numbers)[:256]
    queries = stored[rows] + 0.3 * torch.randn(256, 784, generator=numbers)
    recalled = hopfield_retrieval(queries, stored, 1.0).sign()
    assert (recalled == stored[rows]).all(dim=1).float().mean() >= 0.99
