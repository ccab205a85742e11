"""Trials handed out to processes: never one too many, never twice, those of the dead again."""

import itertools
from collections.abc import Mapping
from pathlib import Path

import pytest

from netwright.recipes.search.space import Value
from netwright.recipes.search.trial_desk import TrialDesk, Tried
from tests.recipes.search.search_plans import plan

DONE = Tried(value=1.0, notes={"seconds": 0.5})


def states(desk: TrialDesk) -> list[str]:
    return [trial.state.name for trial in desk.study.trials]


def take(desk: TrialDesk) -> tuple[int, Mapping[str, Value]]:
    taken = desk.take()
    assert taken is not None
    return taken[0].number, taken[1]


def test_trials_in_the_hands_of_others_count_so_there_is_never_one_too_many(tmp_path: Path) -> None:
    with TrialDesk(tmp_path, plan(trials=2)) as one, TrialDesk(tmp_path, plan(trials=2)) as other:
        first, second = one.take(), other.take()
        assert first is not None
        assert second is not None
        assert one.take() is other.take() is None
        one.finish(first[0], DONE)
        other.finish(second[0], Tried(value=None, notes={"why": "pruned"}))
        assert one.take() is None
        assert states(one) == ["COMPLETE", "PRUNED"]
        assert one.study.trials[1].user_attrs["why"] == "pruned"


@pytest.mark.parametrize("storage", ["journal", "sqlite"])
def test_the_trial_of_a_dead_process_is_handed_out_again(tmp_path: Path, storage: str) -> None:
    with TrialDesk(tmp_path, plan(storage=storage)) as dead:
        number, settings = take(dead)
    # The block is left with the trial running; a kill leaves the file too, which nobody holds.
    (tmp_path / "locks" / dead.process).touch()
    with TrialDesk(tmp_path, plan(storage=storage)) as other:
        assert take(other) == (number + 1, settings)
        assert states(other) == ["FAIL", "RUNNING"]


def test_a_living_process_keeps_its_trial(tmp_path: Path) -> None:
    with TrialDesk(tmp_path, plan()) as one, TrialDesk(tmp_path, plan()) as other:
        _, settings = take(one)
        assert take(other)[1] != settings
        assert states(other) == ["RUNNING", "RUNNING"]


def test_a_trial_that_was_killed_before_it_had_an_owner_is_handed_out_again(tmp_path: Path) -> None:
    with TrialDesk(tmp_path, plan(trials=1)) as desk:
        desk.study.ask()
        number, settings = take(desk)
        assert (number, list(settings)) == (1, ["train.lr", "model.dropout"])
        assert states(desk) == ["FAIL", "RUNNING"]


def test_what_is_given_back_is_tried_next(tmp_path: Path) -> None:
    with TrialDesk(tmp_path, plan()) as desk:
        taken = desk.take()
        assert taken is not None
        desk.give_back(taken[0])
        assert take(desk) == (1, taken[1])


@pytest.mark.parametrize("sampler", ["random", "tpe"])
def test_settings_depend_on_seed_number_and_history_alone(tmp_path: Path, sampler: str) -> None:
    def tried(name: str, *, fresh: bool, seed: int = 0) -> list[dict[str, Value]]:
        (tmp_path / name).mkdir()
        planned = plan(trials=14, sampler=sampler, seed=seed)
        found, desk = [], TrialDesk(tmp_path / name, planned)
        for _ in range(14):
            desk = TrialDesk(tmp_path / name, planned) if fresh else desk
            taken = desk.take()
            assert taken is not None
            desk.finish(taken[0], Tried(value=float(taken[1]["model.dropout"]), notes={}))
            found.append(taken[1])
        return found

    alone = tried("alone", fresh=False)
    assert tried("by many processes", fresh=True) == alone
    assert tried("other seed", fresh=False, seed=1) != alone


def test_a_grid_is_tried_once_each_and_ends_by_itself(tmp_path: Path) -> None:
    planned = plan(["model.hidden=1..3", "train.lr=0.1|0.2"], sampler="grid", trials=50)
    seen = []
    with TrialDesk(tmp_path, planned) as desk:
        first = desk.take()
        assert first is not None
        desk.give_back(first[0])  # it comes again, and is still tried once
        while (taken := desk.take()) is not None:
            seen.append(tuple(taken[1].values()))
            desk.finish(taken[0], DONE)
    assert seen[0] == tuple(first[1].values())
    assert sorted(seen) == list(itertools.product((1, 2, 3), ("0.1", "0.2")))


@pytest.mark.parametrize("sampler", ["random", "tpe"])
def test_the_same_settings_are_handed_out_once_and_an_exhausted_space_ends(
    tmp_path: Path, sampler: str
) -> None:
    planned = plan(["model.hidden=1..4", "train.lr=0.1|0.2|0.3"], sampler=sampler, trials=50)
    seen: list[tuple[Value, ...]] = []
    with TrialDesk(tmp_path, planned) as desk, TrialDesk(tmp_path, planned) as other:
        held = other.take()  # in the hands of another process: not handed out either
        assert held is not None
        while (taken := desk.take()) is not None:
            assert not desk.is_exhausted or len(seen) == 10
            seen.append(tuple(taken[1].values()))
            desk.finish(taken[0], Tried(value=float(taken[1]["model.hidden"]), notes={}))
        assert desk.is_exhausted
        other.give_back(held[0])
        assert not desk.is_exhausted
        assert take(desk)[1] == held[1]
    assert sorted([*seen, tuple(held[1].values())]) == list(
        itertools.product((1, 2, 3, 4), ("0.1", "0.2", "0.3"))
    )


def test_a_vast_grid_is_not_built(tmp_path: Path) -> None:
    space = [f"model.{name}=1..1000000" for name in ("hidden",)] + ["train.epochs=1..1000000000"]
    with TrialDesk(tmp_path, plan(space, sampler="grid")) as desk:
        assert take(desk)[1] != take(desk)[1]
        assert not desk.is_exhausted
