"""The race: the best of the rates, tables, pages, and who may take part."""

from pathlib import Path

import pytest
import torch

from netwright.core.errors import ConfigError, UnknownNameError
from netwright.theory.optimizers.optimizer_path import optimizer_path
from netwright.theory.optimizers.optimizer_race import CLOSE, GUESTS, RACERS, race_page, run_race
from netwright.theory.optimizers.surfaces import RAVINE
from tests.browser import check_fits
from tests.repetition import for_each


@pytest.mark.slow
@pytest.mark.covers("optimizer-comparison")
def test_all_get_close_on_an_ill_conditioned_quadratic_and_the_table_has_their_steps() -> None:
    names = ("sgd", "momentum", "nesterov", "adagrad", "adadelta", "rmsprop", "adam", "nadam")
    race = run_race("ravine", names, steps=300)
    assert [lap.name for lap in race.laps] == list(names)
    assert all(lap.close_after is not None for lap in race.laps)
    steps = [int(row["steps to 0.001"]) for row in race.rows()]
    assert steps == sorted(steps)


def test_a_lap_is_the_path_of_its_optimizer_at_its_rate() -> None:
    (lap,) = run_race("ravine", ["adam"], steps=30).laps
    start = torch.tensor(RAVINE.start, dtype=torch.float64)
    alone = optimizer_path("adam", RAVINE.gradient, start, lr=lap.lr, steps=30)
    assert torch.allclose(lap.path, alone, atol=1e-9)
    assert lap.value == pytest.approx(float(RAVINE.value(alone[-1])))


def test_steps_are_counted_until_it_stays_close() -> None:
    (lap,) = run_race("ravine", ["adam"]).laps
    assert lap.close_after is not None
    heights = RAVINE.value(lap.path)
    assert heights[lap.close_after :].max() < CLOSE <= heights[lap.close_after - 1]


def test_no_rate_of_the_grid_is_better_than_the_chosen_one() -> None:
    (best,) = run_race("ravine", ["sgd"], steps=100).laps
    assert best.value is not None
    for lr in (best.lr / 2, best.lr * 1.3):
        (other,) = run_race("ravine", ["sgd"], steps=100, rates={"sgd": lr}).laps
        assert other.lr == lr
        assert other.value is None or other.value >= best.value


def test_newton_jumps_onto_the_bottom_of_a_quadratic_and_toward_a_saddle() -> None:
    (on_ravine,) = run_race("ravine", ["newton"], steps=5).laps
    (on_saddle,) = run_race("saddle", ["newton"], steps=5).laps
    assert on_ravine.close_after == 1
    assert on_saddle.path[-1].norm() < 1e-6


def test_a_run_that_is_thrown_out_is_told_and_not_drawn_to_infinity() -> None:
    race = run_race("rosenbrock", ["sgd", "adam"], steps=50, rates={"sgd": 1.0})
    assert race.laps[0].value is None
    assert race.rows()[-1]["final value"] == "diverged"
    assert race.view.descents[0].value is None


def test_a_run_that_ends_above_its_start_ran_away() -> None:
    (lap,) = run_race("ravine", ["sgd"], steps=3, rates={"sgd": 0.1}).laps
    assert RAVINE.value(lap.path)[-1] > RAVINE.value(lap.path)[0]
    assert lap.value is None


def test_six_race_unless_others_are_asked_for() -> None:
    assert len(RACERS) == 6
    assert not set(RACERS) & set(GUESTS)


@pytest.mark.slow
def test_the_page_has_each_surface_with_its_picture_and_says_how_rates_were_chosen(
    tmp_path: Path,
) -> None:
    races = [run_race(name, ["sgd", "adam"], steps=20) for name in ("saddle", "ravine")]
    page = race_page(races, steps=20)
    assert page.count("data:image/svg+xml") == 2
    assert "<h2>Saddle</h2>" in page
    assert "no one is handicapped" in page
    assert "A step of L-BFGS holds several evaluations" in page
    file = tmp_path / "race.html"
    file.write_text(page, encoding="utf-8")
    check_fits(file)


@for_each("name", GUESTS)
def test_guests_race_when_they_are_asked(name: str) -> None:
    assert run_race("ravine", [name], steps=20).laps[0].value is not None


def test_who_cannot_race_is_refused() -> None:
    with pytest.raises(UnknownNameError, match=r"^unknown optimizer 'adan'; did you mean 'adam'\?"):
        run_race("ravine", ["adan"])
    with pytest.raises(ConfigError) as refusal:
        run_race("ravine", ["muon"])
    assert str(refusal.value) == (
        "muon does not race: it works on matrices or on rows of data, not on a place"
    )
    with pytest.raises(ConfigError, match=r"^lr is given for adam, which does not take part$"):
        run_race("ravine", ["sgd"], rates={"adam": 1.0})
    with pytest.raises(UnknownNameError, match=r"^unknown surface 'ravin'; did you mean 'ravine'"):
        run_race("ravin")
