"""Made-up classes: without noise each point lies on its curve; noise has the size it is given."""

import math
import re
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
import torch
from hypothesis import given, settings

from netwright.core.errors import ConfigError
from netwright.data.dataset import Data, Split
from netwright.data.synthetic.classes import (
    BlobsConfig,
    CirclesConfig,
    MoonsConfig,
    SpiralsConfig,
    XorConfig,
    blob_centres,
    load_blobs,
    load_circles,
    load_moons,
    load_spirals,
    load_xor,
)
from tests.repetition import for_each

WHOLE: dict[str, Any] = {"val_size": 0, "test_size": 0}
EXACT: dict[str, Any] = {**WHOLE, "noise": 0}


@pytest.mark.covers("xor-dataset")
def test_xor_is_its_truth_table() -> None:
    train = load_xor(XorConfig(n=4, **EXACT)).train
    corners = train.inputs.int().numpy()
    assert train.inputs.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert train.targets.tolist() == np.bitwise_xor(corners[:, 0], corners[:, 1]).tolist()
    assert train.targets.tolist() == [0, 1, 1, 0]
    row = load_xor(XorConfig(n=1, **EXACT))  # of one class, but there are two
    assert row.spec.class_names == ("0", "1")


@pytest.mark.covers("xor-dataset")
def test_noisy_xor_repeats_the_corners() -> None:
    train = load_xor(XorConfig(n=4000, noise=0.1, **WHOLE)).train
    corners = train.inputs.round().clamp(0, 1).int().numpy()
    assert train.targets.tolist() == np.bitwise_xor(corners[:, 0], corners[:, 1]).tolist()
    shake = train.inputs - torch.from_numpy(corners)
    assert float(shake.std()) == pytest.approx(0.1, rel=0.05)
    assert np.unique(corners, axis=0, return_counts=True)[1].tolist() == [1000] * 4


@for_each(
    ("data", "first"),
    [
        (load_xor(XorConfig(**WHOLE)), 0.0079313),
        (load_moons(MoonsConfig(**WHOLE)), 1.0070542),
        (load_circles(CirclesConfig(**WHOLE)), -0.5575174),
        (load_spirals(SpiralsConfig(**WHOLE)), -0.8865758),
        (load_blobs(BlobsConfig(**WHOLE)), 0.5475600),
    ],
    ids=lambda data: getattr(data, "name", ""),
)
def test_the_examples_of_a_seed_stay_what_they_are(data: Data, first: float) -> None:
    assert float(data.train.inputs[0, 0]) == pytest.approx(first, abs=1e-6)


def radius_around(split: Split, label: int, centre: tuple[float, float]) -> torch.Tensor:
    points: torch.Tensor = split.inputs[split.targets == label] - torch.tensor(centre)
    return points.square().sum(dim=1).sqrt()


def test_moons_are_half_circles() -> None:
    train = load_moons(MoonsConfig(n=200, **EXACT)).train
    torch.testing.assert_close(radius_around(train, 0, (0, 0)), torch.ones(100))
    torch.testing.assert_close(radius_around(train, 1, (1, 0.5)), torch.ones(100))
    assert bool((train.inputs[train.targets == 0][:, 1] >= 0).all())  # the upper half
    assert bool((train.inputs[train.targets == 1][:, 1] <= 0.5).all())  # the lower half


def test_circles_have_their_radii() -> None:
    train = load_circles(CirclesConfig(n=200, radius=0.3, **EXACT)).train
    torch.testing.assert_close(radius_around(train, 0, (0, 0)), torch.ones(100))
    torch.testing.assert_close(radius_around(train, 1, (0, 0)), torch.full((100,), 0.3))


def test_circles_are_as_dense_on_every_side() -> None:
    train = load_circles(CirclesConfig(n=4000, **EXACT)).train
    quarters = 2 * (train.inputs[:, 0] > 0).long() + (train.inputs[:, 1] > 0).long()
    assert (quarters.bincount() / 4000).tolist() == pytest.approx([0.25] * 4, abs=0.03)


@pytest.mark.parametrize("arms", [2, 3, 5])
def test_spiral_arms_wind_with_their_radius(arms: int) -> None:
    train = load_spirals(SpiralsConfig(n=60 * arms, arms=arms, turns=2, **EXACT)).train
    radius = train.inputs.norm(dim=1)
    assert float(radius.min()) >= 0.1 - 1e-6
    assert float(radius.max()) <= 1 + 1e-6
    angle = 2 * math.pi * (2 * radius + train.targets / arms)
    curve = radius[:, None] * torch.stack((angle.cos(), angle.sin()), dim=1)
    torch.testing.assert_close(train.inputs, curve, rtol=0, atol=1e-5)
    assert train.targets.bincount().tolist() == [60] * arms


@given(
    count=st.integers(2, 12),
    features=st.integers(1, 6),
    separation=st.floats(0.1, 100),
    seed=st.integers(0, 1000),
)
@settings(deadline=None)
def test_the_nearest_centres_are_as_far_apart_as_asked(
    count: int, features: int, separation: float, seed: int
) -> None:
    random = torch.Generator().manual_seed(seed)
    centres = blob_centres(count, features, separation, random)
    assert centres.shape == (count, features)
    nearest = float(torch.nn.functional.pdist(centres).min())
    assert nearest == pytest.approx(separation)


def test_blobs_lie_around_their_centres() -> None:
    config = BlobsConfig(n=4000, centres=4, features=3, noise=0.5, **WHOLE)
    train = load_blobs(config).train
    exact = load_blobs(BlobsConfig(n=4, centres=4, features=3, **EXACT)).train.inputs
    for label in range(4):
        cloud = train.inputs[train.targets == label]
        assert len(cloud) == 1000
        torch.testing.assert_close(cloud.mean(dim=0), exact[label], rtol=0, atol=0.1)
        assert float((cloud - exact[label]).std()) == pytest.approx(0.5, rel=0.05)


def test_well_separated_blobs_are_told_apart_by_the_nearest_mean() -> None:
    # Six standard deviations between centres: the half-way plane errs once in 741 times.
    data = load_blobs(BlobsConfig(n=900))
    assert data.test is not None
    means = torch.stack([data.train.inputs[data.train.targets == k].mean(dim=0) for k in range(3)])
    guess = torch.cdist(data.test.inputs, means).argmin(dim=1)
    assert float((guess == data.test.targets).float().mean()) >= 0.97


@for_each(
    ("config", "setting", "sentence"),
    [
        (XorConfig, {"n": 0}, "n must be greater than 0, got 0"),
        (XorConfig, {"noise": -0.1}, "noise must be at least 0.0, got -0.1"),
        (MoonsConfig, {"noise": float("nan")}, "noise must be a finite number, got nan"),
        (CirclesConfig, {"radius": 1.0}, "radius must be less than 1.0, got 1.0"),
        (SpiralsConfig, {"arms": 1}, "arms must be at least 2, got 1"),
        (BlobsConfig, {"centres": 1}, "centres must be at least 2, got 1"),
        (BlobsConfig, {"separation": 0.0}, "separation must be greater than 0.0, got 0.0"),
    ],
)
def test_refuses_in_one_sentence(config: Any, setting: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        config(**setting)
