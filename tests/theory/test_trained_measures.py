"""Training for a claim: models by name, by gradients or by a rule of their own."""

import pytest
import torch

from netwright.core.seeding import generator
from netwright.data.catalog import load
from netwright.theory.sequences.simple_models import SimpleModelsConfig, series_data
from netwright.theory.trained_measures import build_named, trained_measures


def test_the_seed_gives_the_first_weights() -> None:
    data = series_data(SimpleModelsConfig(), generator(0, "test"))
    first, again, other = (
        next(build_named("mlp", data, seed=seed, hidden=(3,)).parameters()) for seed in (1, 1, 2)
    )
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


@pytest.mark.parametrize("name", ["least-squares", "linear-regression"])
def test_a_line_is_found_by_its_own_rule_and_by_gradients(name: str) -> None:
    data = series_data(SimpleModelsConfig(), generator(0, "test"))
    model = build_named(name, data, seed=0)
    found = trained_measures(model, data, seed=0, train={"lr": 3e-2, "epochs": 3})
    inputs, targets = data.train.inputs.flatten(1), data.train.targets
    wanted = torch.linalg.lstsq(inputs, targets).solution.squeeze(1)
    torch.testing.assert_close(model.affine.weight[0].detach(), wanted, rtol=0, atol=0.03)  # type: ignore[union-attr,index]
    test = data.split("test")
    by_hand = (model(test.inputs) - test.targets).square().mean().sqrt().item()
    assert found["rmse"] == pytest.approx(by_hand, rel=1e-3)


def test_no_more_steps_are_taken_than_asked_for() -> None:
    data = series_data(SimpleModelsConfig(), generator(0, "test"))
    model = build_named("linear-regression", data, seed=0)
    before = model.state_dict()["affine.bias"].clone()
    trained_measures(
        model, data, seed=0, train={"optimizer": "sgd", "lr": 1e-9, "max_steps": 1, "epochs": 50}
    )
    assert (model.state_dict()["affine.bias"] - before).abs().max() < 1e-7


@pytest.mark.slow
@pytest.mark.covers("transformer-easier-than-rnn")
def test_a_transformer_recalls_the_first_of_50_tokens_where_a_recurrent_network_guesses() -> None:
    data = load("recall", length=50, n=2000, val_size=0, test_size=0.2, seed=0)
    train = {"lr": 3e-3, "batch_size": 32, "epochs": 20, "max_steps": 150, "clip_norm": 1.0}
    settings = {
        "gpt": {"layers": 1, "heads": 2, "width": 32},
        "elman": {"hidden": 102, "embedding": 32},
    }
    models = {name: build_named(name, data, seed=0, **own) for name, own in settings.items()}
    counts = [sum(part.numel() for part in model.parameters()) for model in models.values()]
    assert counts[1] == pytest.approx(counts[0], rel=0.02)
    found = {
        name: trained_measures(model, data, seed=0, train=train)["accuracy"]
        for name, model in models.items()
    }
    assert found["gpt"] >= 0.95
    assert found["elman"] <= 0.25  # one of 8 symbols
