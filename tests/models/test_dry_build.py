"""Models on the meta device: the same names and shapes, no memory, and a size that is compared."""

import tracemalloc

import pytest
import torch
from torch import nn

from netwright.core.errors import DataError
from netwright.data.spec import DataSpec
from netwright.models.baselines.node_arrays import NodeArrays
from netwright.models.baselines.trees import DecisionTree
from netwright.models.dry_build import build_dry, check_fits_weights, check_size
from netwright.models.mlp import MLP, MLPConfig

SPEC = DataSpec(inputs="features", input_shape=(4,), target="class", num_outputs=3)


def mlp(*hidden: int) -> MLP:
    return MLP.build(MLPConfig(hidden=hidden), SPEC)


def test_a_dry_model_has_the_names_and_shapes_of_the_real_one_and_no_content() -> None:
    dry, real = build_dry(lambda: mlp(8)).state_dict(), mlp(8).state_dict()
    assert {name: tensor.shape for name, tensor in dry.items()} == {
        name: tensor.shape for name, tensor in real.items()
    }
    assert all(tensor.is_meta for tensor in dry.values())


def test_dry_building_leaves_the_generators_and_later_models_alone() -> None:
    before = torch.get_rng_state()
    build_dry(lambda: mlp(8))
    assert torch.equal(torch.get_rng_state(), before)
    assert not next(mlp(8).parameters()).is_meta


def test_normal_numbers_are_drawn_for_tensors_that_keep_them_alone() -> None:
    drawn: list[torch.Tensor] = []

    def build() -> nn.Module:
        drawn.append(nn.init.normal_(torch.zeros(9, device="cpu")))
        drawn.append(torch.zeros(9, device="cpu").normal_())
        drawn.append(nn.init.trunc_normal_(torch.zeros(9, device="cpu")))
        table = nn.Embedding(3, 2)
        nn.init.trunc_normal_(table.weight)
        return table

    table = build_dry(build).get_parameter("weight")
    assert table.is_meta
    assert table.shape == (3, 2)
    assert all(bool(one.all()) for one in drawn)


def test_a_model_of_gigabytes_is_refused_without_them() -> None:
    tracemalloc.start()
    try:
        with pytest.raises(DataError) as refusal:
            check_size(lambda: mlp(60_000, 60_000))
        assert tracemalloc.get_traced_memory()[1] < 50e6
    finally:
        tracemalloc.stop()
    assert str(refusal.value) == (
        "the model takes 14.4 GB, at most 8 GB are allowed; if you trust it, raise "
        "NETWRIGHT_MAX_MODEL_GB"
    )


def test_a_model_of_endless_layers_is_refused_on_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETWRIGHT_MAX_TENSORS", "40")
    made = 0

    def layer() -> nn.Module:
        nonlocal made
        made += 1
        return nn.Linear(1, 1)

    with pytest.raises(DataError, match=r"^the model holds 41 weights and buffers, at most 40 "):
        check_size(lambda: nn.Sequential(*(layer() for _ in range(10**9))))
    assert made == 21


def test_what_else_is_wrong_is_told_when_it_is_built() -> None:
    def wrong() -> nn.Module:
        raise RuntimeError("something else")

    check_size(wrong)


def test_weights_of_other_shapes_or_names_do_not_fit() -> None:
    weights = mlp(8).state_dict()
    check_fits_weights(lambda: mlp(8), weights)
    with pytest.raises(RuntimeError, match="size mismatch"):
        check_fits_weights(lambda: mlp(9), weights)
    with pytest.raises(RuntimeError, match="Missing key"):
        check_fits_weights(lambda: mlp(8, 8), weights)


def test_settings_that_ask_for_far_more_than_the_weights_are_refused() -> None:
    with pytest.raises(DataError, match=r"^its settings ask for 400,\d+,\d+ numbers, its weights "):
        check_fits_weights(lambda: mlp(20_000, 20_000), mlp(8).state_dict())


def test_buffers_that_grew_with_the_data_fit() -> None:
    tree = DecisionTree.build(DecisionTree.settings(), SPEC)
    grown = {
        name: held.expand(5, *held.shape[1:]) if name.split(".")[-1] in NodeArrays.grown else held
        for name, held in tree.state_dict().items()
    }
    assert any(len(held) == 5 for held in grown.values() if held.ndim)
    check_fits_weights(lambda: DecisionTree.build(DecisionTree.settings(), SPEC), grown)
