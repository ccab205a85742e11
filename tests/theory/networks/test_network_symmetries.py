"""Symmetries of networks: rewritten and permuted weights, by hand and by count."""

import re

import pytest
import torch

from netwright.core.errors import ConfigError
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.networks import network_symmetries
from netwright.theory.networks.network_symmetries import (
    PERMUTATIONS,
    REWRITINGS,
    TANH_SIGMOID,
    affine_maps,
    permuted,
    random_net,
    rewritten,
)
from tests.repetition import for_each


@pytest.mark.parametrize("claim", [TANH_SIGMOID, PERMUTATIONS], ids=["tanh", "permutations"])
@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check, claim) -> None:  # type: ignore[no-untyped-def]
    check(claim)


@pytest.mark.covers("tanh-sigmoid-identity")
@for_each("activation", ["tanh", "sigmoid"])
@for_each("hidden", [(), (5,), (7, 3, 4)])
def test_rewritten_network_has_the_same_outputs(hidden: tuple[int, ...], activation: str) -> None:
    net = random_net(3, hidden, activation, seed=1)
    other = rewritten(net)
    assert other.config.activation == REWRITINGS[activation].psi  # type: ignore[attr-defined]
    x = torch.randn(50, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(other(x), net(x), rtol=0, atol=1e-12)


def test_one_tanh_unit_rewritten_by_hand() -> None:
    net = random_net(1, (1,), "tanh", seed=0)
    hidden, head = affine_maps(net)
    with torch.no_grad():
        for layer, (weight, bias) in zip((hidden, head), ((3.0, 1.0), (5.0, 2.0)), strict=True):
            layer.weight.fill_(weight)
            layer.bias.fill_(bias)
    hidden, head = affine_maps(rewritten(net))
    # 5 tanh(3x + 1) + 2 = 10 sigma(6x + 2) - 3
    assert (hidden.weight.item(), hidden.bias.item()) == (6, 2)
    assert (head.weight.item(), head.bias.item()) == (10, -3)


def test_rewriting_there_and_back_gives_the_weights_again() -> None:
    net = random_net(2, (4, 3), "tanh", seed=2)
    for old, new in zip(affine_maps(net), affine_maps(rewritten(rewritten(net))), strict=True):
        torch.testing.assert_close(new.weight, old.weight)
        torch.testing.assert_close(new.bias, old.bias)


def test_a_wrong_shift_turns_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = REWRITINGS["tanh"]._replace(shift=1)
    monkeypatch.setitem(network_symmetries.REWRITINGS, "tanh", wrong)
    assert not TANH_SIGMOID.check().holds


@pytest.mark.covers("permutation-symmetry")
def test_swapped_units_are_swapped_rows_and_columns() -> None:
    net = random_net(2, (3,), "relu", seed=0)
    old = dict(net.named_parameters())
    new = permuted(old, [(2, 0, 1)])
    assert torch.equal(new["hidden.0.0.weight"][0], old["hidden.0.0.weight"][2])
    assert torch.equal(new["hidden.0.0.bias"][1], old["hidden.0.0.bias"][0])
    assert torch.equal(new["head.weight"][:, 2], old["head.weight"][:, 1])
    x = torch.randn(20, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    outputs = torch.func.functional_call(net, new, x)
    torch.testing.assert_close(outputs, net(x), rtol=0, atol=1e-12)


@pytest.mark.covers("equivalent-configurations")
def test_three_units_in_two_layers_have_36_equal_sets_of_weights() -> None:
    verdict = PERMUTATIONS.check()
    assert (verdict.predicted, verdict.measured) == (36, 36)
    assert [finding.measured for finding in verdict.findings[1:]] == [0, 0]
    assert verdict.findings[2].n == sum((1, 2**2, 6**2))


@pytest.mark.parametrize(("units", "layers"), [(1, 3), (2, 3), (3, 1)])
def test_layers_multiply_the_orders(units: int, layers: int) -> None:
    assert PERMUTATIONS.check(units=units, layers=layers).holds


def test_more_orders_than_can_be_tried_are_refused() -> None:
    sentence = "units and layers must give at most 50,000 orders, (n!)^l, got 1,679,616"
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        PERMUTATIONS.check(units=3, layers=8)
    with pytest.raises(ConfigError, match=r"^units must be at most 8, got 30$"):
        PERMUTATIONS.check(units=30)
    with pytest.raises(ConfigError, match=r"^layers must be at most 15, got 20$"):
        PERMUTATIONS.check(layers=20)


def test_permuting_one_side_alone_turns_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    def rows_only(weights, orders):  # type: ignore[no-untyped-def]
        return {**permuted(weights, orders), "head.weight": weights["head.weight"]}

    monkeypatch.setattr(network_symmetries, "permuted", rows_only)
    assert not PERMUTATIONS.check().holds
