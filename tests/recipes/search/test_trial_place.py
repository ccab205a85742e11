"""The place of a trial: noted, or in older searches its number."""

import optuna

from netwright.recipes.search.trial_place import PLACE, next_place, place_of


def trial(number: int, place: int | None = None) -> optuna.trial.FrozenTrial:
    noted = {} if place is None else {PLACE: place}
    made = optuna.trial.create_trial(value=1.0, user_attrs=noted)
    made.number = number
    return made


def test_a_place_is_what_was_noted_else_the_number() -> None:
    assert place_of(trial(3, place=2)) == 2
    assert place_of(trial(3)) == 3


def test_the_next_place_is_behind_all_others() -> None:
    assert next_place([]) == 0
    assert next_place([trial(0), trial(2, place=1)]) == 2
    assert next_place([trial(0), trial(4)]) == 5  # an older search, in which some were interrupted
