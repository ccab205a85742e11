"""Teacher forcing: its steps are independent, its errors compound when it runs by itself."""

import pytest
import torch

from netwright.core.seeding import generator
from netwright.theory.sequences.teacher_forcing import (
    CHAOTIC,
    TEACHER_FORCING,
    draw_sequences,
    errors_by_step,
    forced,
    free,
    growth,
    new_network,
    train,
    true_map,
    true_path,
)
from tests.theory.costly import COSTLY_CLAIM_CHECKS


@pytest.mark.covers("exposure-bias")
@pytest.mark.parametrize("check", COSTLY_CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(TEACHER_FORCING)


def test_fed_the_truth_each_step_has_its_own_gradient() -> None:
    truth = draw_sequences(CHAOTIC, 5, 6, generator(0, "test"))
    weights = {
        name: part.requires_grad_() for name, part in new_network(generator(1, "test")).items()
    }
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
    missed = errors_by_step(true_map(CHAOTIC, truth[:-1]), truth[1:])
    assert truth.shape == (6, 400, 1)
    assert missed.sqrt().max() < 0.011  # the noise, of which the edge takes a little


def test_the_true_map_by_itself_begins_at_the_truth_and_then_goes_its_own_way() -> None:
    truth = draw_sequences(CHAOTIC, 5, 3, generator(0, "test"))
    once = 1 - CHAOTIC * truth[0] ** 2
    path = true_path(CHAOTIC, truth)
    torch.testing.assert_close(path[0], once)
    torch.testing.assert_close(path[1], 1 - CHAOTIC * once**2)
    assert path.shape == truth[1:].shape


def test_growth_is_that_of_the_fifth_step_over_the_first() -> None:
    assert growth(torch.tensor([[2.0, 9, 9, 9, 6, 9], [1.0, 9, 9, 9, 5, 9]])).tolist() == [3, 5]


def test_tries_learn_side_by_side_as_each_would_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netwright.theory.sequences.teacher_forcing.MOST_UPDATES", 20)
    rngs = [generator(seed, "test") for seed in range(2)]
    truth = torch.stack([draw_sequences(CHAOTIC, 8, 4, rng) for rng in rngs])
    networks = [new_network(rng) for rng in rngs]
    starts = {name: torch.stack([one[name] for one in networks]) for name in networks[0]}
    both, updates = train(forced, 0.05, starts, truth)
    second = {name: part[1:] for name, part in starts.items()}
    alone, by_itself = train(forced, 0.05, second, truth[1:])
    assert updates[1:].tolist() == by_itself.tolist()
    torch.testing.assert_close(both["weight_ho"][1:], alone["weight_ho"], rtol=0, atol=1e-3)


def test_a_perfect_network_makes_no_mistakes_where_the_truth_is_lost() -> None:
    truth = draw_sequences(CHAOTIC, 200, 10, generator(0, "test"))
    path = true_path(CHAOTIC, truth)
    assert growth(errors_by_step(path, truth[1:])[None]).item() > 50  # chaos, and no exposure bias
    assert errors_by_step(path, path).max() == 0


@pytest.mark.slow
def test_without_a_teacher_nothing_is_learned_sooner(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netwright.theory.sequences.teacher_forcing.forced", free)
    assert not TEACHER_FORCING.check().holds
