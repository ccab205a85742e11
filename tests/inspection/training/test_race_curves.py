"""The race: the same start and batches for all, the best of a grid, and the model stays."""

import pytest
import torch
from torch import Tensor, nn

from netwright.data.loading.loader import Batch
from netwright.inspection.training.race_curves import Lap, RaceCurves, Racer, measure_race
from netwright.optimizers.catalog import OPTIMIZERS
from netwright.optimizers.optimizer import build_optimizer


def batches(count: int) -> list[Batch]:
    rows = torch.arange(2)
    return [
        Batch(torch.full((2, 1), 1.0 + i % 2), torch.ones(2, 1), None, rows) for i in range(count)
    ]


def line() -> nn.Linear:
    """Predicts 3 x before it has learned."""
    net = nn.Linear(1, 1, bias=False)
    with torch.no_grad():
        net.weight.fill_(3.0)
    return net


def squared_error(model: nn.Module, batch: Batch) -> Tensor:
    return nn.functional.mse_loss(model(batch.inputs), batch.targets)


def race(steps: int = 8, *, few_rates: bool = False, **usual: float) -> RaceCurves:
    def entrant(name: str) -> tuple[float, object]:
        entry = OPTIMIZERS.load(name)
        return usual[name], lambda model, lr: build_optimizer(entry, model, lr=lr)

    entrants = {name: entrant(name) for name in usual}
    return measure_race(
        line(),
        squared_error,
        batches(steps),
        entrants,  # type: ignore[arg-type]
        few_rates=few_rates,
    )


def test_a_lap_worked_by_hand() -> None:
    """On x = 1 w = 3 has loss 4 and slope 4; on x = 2 w = 2.6 has loss 4.2^2."""
    lap = race(2, sgd=0.1).racers[0].laps[1]
    assert lap.lr == pytest.approx(0.1)
    assert lap.losses == pytest.approx((4.0, 4.2**2))
    assert lap.result == pytest.approx(4.2**2)  # the last quarter of two updates is one


def test_all_begin_with_the_same_loss_and_the_best_comes_first() -> None:
    view = race(sgd=0.01, momentum=0.001, adam=0.03)
    assert {lap.losses[0] for racer in view.racers for lap in racer.laps} == {4.0}
    results = [racer.best.result for racer in view.racers]
    assert results == sorted(results)  # type: ignore[type-var]
    for racer in view.racers:
        assert racer.best.result == min(lap.result for lap in racer.laps if lap.result is not None)
        assert [lap.lr for lap in racer.laps] == sorted(lap.lr for lap in racer.laps)


def test_a_short_race_has_two_rates_each_and_no_more() -> None:
    (racer,) = race(few_rates=True, sgd=1e-6).racers
    assert [lap.lr for lap in racer.laps] == pytest.approx([1e-6, 10**0.5 * 1e-6])


def test_the_grid_grows_toward_the_better_end_and_no_further_than_six_rates() -> None:
    (slow,), (quick,), (fits,) = (race(sgd=lr).racers for lr in (1e-6, 1e3, 0.1))
    assert [len(racer.laps) for racer in (slow, quick, fits)] == [6, 6, 4]
    assert slow.best is slow.laps[-1]
    assert slow.best.lr == pytest.approx(1e-4)
    assert quick.laps[0].lr == pytest.approx(1e3 * 10**-1.5)
    assert fits.best not in (fits.laps[0], fits.laps[-1])


@pytest.mark.slow
def test_one_that_runs_away_has_no_result_and_comes_last() -> None:
    view = race(16, sgd=1e9, adam=0.1)
    assert [racer.name for racer in view.racers] == ["adam", "sgd"]
    assert view.racers[1].best.result is None
    assert view.table_rows()[1]["loss"] == "diverged"
    assert view.image("png").startswith(b"\x89PNG")


def test_the_model_stays_as_it_is_and_dropout_is_the_same_for_all() -> None:
    net = nn.Sequential(line(), nn.Dropout(0.5)).eval()
    entry = OPTIMIZERS.load("sgd")

    def build(model: nn.Module, lr: float) -> torch.optim.Optimizer:
        return build_optimizer(entry, model, lr=lr)

    before = torch.get_rng_state()
    entrants = {"one": (0.01, build), "other": (0.01, build)}
    view = measure_race(net, squared_error, batches(6), entrants, seed=5)
    assert view.racers[0].laps == view.racers[1].laps
    assert [weight.item() for weight in net.parameters()] == [3.0]
    assert not net.training
    assert all(weight.grad is None for weight in net.parameters())
    assert torch.equal(torch.get_rng_state(), before)


def test_a_race_in_which_no_one_moves_decides_nothing() -> None:
    noise = Lap(lr=0.1, losses=(2.0, 2.1, 1.9, 2.0, 1.95), result=1.95)
    falls = Lap(lr=0.1, losses=(2.0, 1.8, 1.7, 1.5, 1.4), result=1.4)
    idle, quick = Racer(name="sgd", laps=(noise,)), Racer(name="adam", laps=(falls,))
    nobody = RaceCurves(racers=(idle,), steps=5, rows=8)
    assert (
        "None of them is lower at the end than 2, where all began, by more than the noise between "
        "batches: the race is undecided." in nobody.caption
    )
    one = RaceCurves(racers=(quick, idle), steps=5, rows=8)
    assert "adam is lowest, at 1.4 with a learning rate of 0.1. " in one.caption
    assert " Hardly lower than the starting loss: sgd." in one.caption


def test_says_the_rules_and_who_won() -> None:
    laps = (
        Lap(lr=0.1, losses=(2.0, 1.5, 1.0), result=1.0),
        Lap(lr=1.0, losses=(2.0,), result=None),
    )
    view = RaceCurves(racers=(Racer(name="sgd", laps=laps),), steps=2, rows=32)
    assert "2 updates on the same batches of 32 in the same order" in view.caption
    assert (
        "sgd is lowest, at 1 with a learning rate of 0.1, the lowest that was tried."
        in view.caption
    )
    row = {"optimizer": "sgd", "best lr": "0.1", "loss": "1", "rates tried": "0.1, 1"}
    assert view.table_rows() == [row]
    lost = RaceCurves(racers=(Racer(name="sgd", laps=laps[1:]),), steps=2, rows=32)
    assert "All of them diverged." in lost.caption
    assert lost.image("png").startswith(b"\x89PNG")
