"""The table of regularizers: every row is whole, can be set, and does what its card says."""

import re
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
import torch
from torch import Tensor

from netwright.core.config import parse
from netwright.core.seeding import generator
from netwright.models.catalog import MODELS
from netwright.recipes.fitting.fit import fit
from netwright.recipes.plan.regularizers import REGULARIZERS
from netwright.train.settings import TrainConfig
from tests.repetition import for_each

SMALL: dict[str, Any] = {"hidden": (16,), "epochs": 3, "lr": 0.01, "dropout": 0.0, "quiet": True}


def part(first: Mapping[str, Any], section: str) -> dict[str, Any]:
    sections = {name: name.partition(".") for name in first}
    return {key: first[name] for name, (own, _, key) in sections.items() if own == section}


@for_each("name", REGULARIZERS)
def test_every_row_is_whole_and_its_first_settings_are_taken(name: str) -> None:
    row = REGULARIZERS[name]
    assert row.card.sentence
    assert row.card.formula
    assert row.card.source
    for symbol in ", ".join(row.card.symbols).split(", "):
        assert re.search(re.escape(symbol) + "(?!_)", row.card.formula), symbol
    assert [field.name for field in row.settings()] == list(row.first)
    assert all(field.doc for field in row.settings())
    parse(TrainConfig, part(row.first, "train"))
    parse(MODELS.load(row.model).settings, part(row.first, "model"))


def test_the_first_settings_are_none_of_the_defaults() -> None:
    plain = TrainConfig()
    for row in REGULARIZERS.values():
        for key, value in part(row.first, "train").items():
            assert getattr(plain, key) != value


def learned(folder: Path, **settings: Any) -> dict[str, Tensor]:
    run = fit(
        "mlp",
        "digits",
        out=folder,
        **{**SMALL, "lr": 0.1},
        optimizer="sgd",
        penalize="weights",
        **settings,
    )
    return dict(run.model.named_parameters())


def test_on_real_data_l1_gives_exact_zeros_and_l2_none(tmp_path: Path) -> None:
    sparse, small = learned(tmp_path / "l1", l1=2e-3), learned(tmp_path / "l2", l2=2e-3)
    zeros = (sparse["hidden.0.0.weight"] == 0).float().mean().item()
    assert zeros > 0.1
    assert not any(bool((weight == 0).any()) for weight in small.values())
    assert not bool((sparse["hidden.0.0.bias"] == 0).any())


@pytest.mark.slow
def test_all_at_once_train_through_the_front_door_and_again_the_same(tmp_path: Path) -> None:
    everything: dict[str, Any] = {
        "l1": 1e-4,
        "weight_noise": 0.02,
        "gradient_noise": 0.001,
        "input_noise": 0.1,
        "label_noise": 0.05,
        "clip_norm": 1.0,
        "average": "exponential",
        "layer_norm": True,
    }
    one, other = (
        fit("mlp", "digits", out=tmp_path / name, **SMALL, **everything)
        for name in ("one", "other")
    )
    assert one.evaluate()["accuracy"] > 0.8
    for mine, yours in zip(one.model.parameters(), other.model.parameters(), strict=True):
        assert torch.equal(mine, yours)


def noisy_wave(rows: int, seed: int) -> tuple[Tensor, Tensor]:
    rng = generator(seed, "wave")
    x = 2 * torch.rand(rows, 1, generator=rng) - 1
    return x, torch.sin(3 * x) + 0.4 * torch.randn(rows, 1, generator=rng)


@pytest.mark.slow
@pytest.mark.covers("regularization-general")
def test_twenty_noisy_points_and_two_hundred_units_call_for_any_of_them(tmp_path: Path) -> None:
    inputs, targets = noisy_wave(20, 0)
    fresh = torch.linspace(-1, 1, 500)[:, None]

    def error(name: str, **settings: Any) -> float:
        """The mean squared distance from the wave, over first weights: searches end by chance."""
        errors = []
        for seed in range(3):
            run = fit(
                "mlp",
                (inputs.numpy(), targets.numpy()),
                **{**SMALL, "hidden": (200,), "lr": 1.0, "optimizer": "lbfgs", **settings},
                seed=seed,
                val_size=0.0,
                test_size=0.0,
                out=tmp_path / f"{name}-{seed}",
            )
            answers = torch.as_tensor(run.predict(fresh.numpy())).reshape(fresh.shape)
            errors.append(float((answers - torch.sin(3 * fresh)).square().mean()))
        return fmean(errors)

    plain = error("plain", epochs=80)  # to the end, whichever way the line searches went
    assert error("l2", epochs=40, l2=0.003) < 0.5 * plain
    assert error("early", epochs=1) < 0.5 * plain
