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


def test_a_config_of_training_has_the_settings_of_its_groups_in_their_order() -> None:
    names = [name for group in GROUPS for name in field_names(group)]
    assert field_names(TrainConfig) == names
    assert len(names) == len(set(names)) == 57


def test_each_group_stands_alone_with_the_same_defaults() -> None:
    whole = TrainConfig()
    for group in GROUPS:
        alone = group()
        for field in fields(group):
            assert getattr(alone, field.name) == getattr(whole, field.name)
