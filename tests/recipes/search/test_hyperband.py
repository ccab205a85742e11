"""Brackets by place, and the most epochs by the first complete trial."""

import optuna
from optuna.trial import TrialState, create_trial

from netwright.recipes.search.hyperband import NO_BRACKET, build_hyperband
from netwright.recipes.search.trial_place import PLACE
from tests.repetition import for_each


def study_of(*epochs: int) -> optuna.Study:
    """A study of complete trials that took so many epochs."""
    study = optuna.create_study(study_name="netwright")
    for last in epochs:
        reports = {epoch: 1.0 for epoch in range(1, last + 1)}
        study.add_trial(create_trial(value=1.0, intermediate_values=reports))
    return study


def test_the_first_complete_trial_tells_the_most_epochs() -> None:
    assert build_hyperband(study_of(9, 50), min_resource=2)._max_resource == 10
    assert build_hyperband(study_of(), min_resource=2)._max_resource == "auto"


@for_each("number", range(8))
def test_a_trial_made_again_is_in_the_bracket_of_its_place(number: int) -> None:
    study = study_of(40)
    ours = build_hyperband(study, min_resource=2)
    reference = optuna.pruners.HyperbandPruner(min_resource=2, max_resource=41)
    trial = create_trial(value=1.0, user_attrs={PLACE: number})
    ours.prune(study, trial)
    placed = create_trial(value=1.0)
    placed.number = number
    reference.prune(study, placed)
    trial.number = number + 5
    assert ours._get_bracket_id(study, trial) == reference._get_bracket_id(study, placed)


def test_what_was_interrupted_is_in_no_bracket() -> None:
    study = study_of(40)
    failed = create_trial(state=TrialState.FAIL)
    assert build_hyperband(study, min_resource=2)._get_bracket_id(study, failed) == NO_BRACKET
