"""The groups of the settings: each has its own, and stands alone."""

from dataclasses import fields

from netwright.core.config import field_names
from netwright.train.run_setting_groups import Hardware, Keeping, Stopping
from netwright.train.setting_groups import (
    FineTuning,
    Length,
    Objective,
    Optimization,
    Regularization,
    SequenceTraining,
)
from netwright.train.settings import TrainConfig

GROUPS = (
    *(Length, Optimization, FineTuning, Objective, Regularization),
    *(SequenceTraining, Stopping, Keeping, Hardware),
)

OFF: tuple[object, ...] = (0, None, "", "none", (), {})
# The others are off where a recipe does not name them.
LEFT_OUT = {
    **{"accumulate": 1, "kernel": "auto", "schedule": "constant", "average_decay": 0.999},
    **{"smooth_over": "all", "aux_weight": 0.3, "penalize": "all"},
    **{"teacher_forcing": 1.0, "teacher_forcing_decay": "linear", "monitor": "val/loss"},
    **{"on_non_finite": "stop", "keep": 2, "keep_path": 24, "doctor": True},
    **{
        "precision": "fp32",
        "capture": "auto",
        "onednn": "auto",
        "parallel": "auto",
        "rank_timeout": 600.0,
        "device": "auto",
    },
}


def test_a_config_of_training_has_the_settings_of_its_groups_in_their_order() -> None:
    names = [name for group in GROUPS for name in field_names(group)]
    assert field_names(TrainConfig) == names
    assert len(names) == len(set(names)) == 68


def test_each_group_stands_alone_with_the_same_defaults() -> None:
    whole = TrainConfig()
    for group in GROUPS:
        alone = group()
        for field in fields(group):
            assert getattr(alone, field.name) == getattr(whole, field.name)


def test_a_setting_that_a_recipe_leaves_out_means_what_it_always_meant() -> None:
    given = vars(TrainConfig())
    assert {name: value for name, value in given.items() if value not in OFF} == LEFT_OUT
