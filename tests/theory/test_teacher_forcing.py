"""Teacher forcing: its steps are independent, its errors compound when it runs by itself."""

import pytest
import torch

from netwright.core.seeding import generator
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.teacher_forcing import (
    CHAOTIC,
    TEACHER_FORCING,
    draw_sequences,
    errors_by_step,
    forced,
    free,
    new_network,
)


@pytest.mark.covers("exposure-bias")
@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(TEACHER_FORCING)


def test_fed_the_truth_each_step_has_its_own_gradient() -> None:
    truth = draw_sequences(CHAOTIC, 5, 6, generator(0, "test"))
    weights = new_network(generator(1, "test"))
    together = torch.autograd.grad(
        (forced(weights, truth) - truth[1:]).square().sum(), list(weights.values())
    )
    alone = [
        torch.autograd.grad(
            (forced(weights, truth[t : t + 2]) - truth[t + 1]).square().sum(),
            list(weights.values()),
        )
        for t in range(6)
    ]
    for whole, parts in zip(together, zip(*alone, strict=True), strict=True):
        torch.testing.assert_close(whole, torch.stack(parts).sum(dim=0))


def test_one_step_is_the_same_both_ways_and_the_second_is_fed_the_first() -> None:
    truth = draw_sequences(CHAOTIC, 5, 2, generator(0, "test"))
    weights = new_network(generator(1, "test"))
    told, alone = forced(weights, truth), free(weights, truth)
    torch.testing.assert_close(told[0], alone[0])
    torch.testing.assert_close(alone[1], forced(weights, torch.stack([alone[0], truth[2]]))[0])
    assert (told[1] - alone[1]).abs().max() > 1e-3


def test_values_follow_the_map() -> None:
    truth = draw_sequences(CHAOTIC, 400, 5, generator(0, "test"))
    missed = errors_by_step(1 - CHAOTIC * truth[:-1].square(), truth)
    assert truth.shape == (6, 400, 1)
    assert missed.sqrt().max() < 0.011  # the noise, of which the edge takes a little


def test_without_a_teacher_nothing_is_learned_sooner(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netwright.theory.teacher_forcing.forced", free)
    assert not TEACHER_FORCING.check().holds
