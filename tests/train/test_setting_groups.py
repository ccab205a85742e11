"""The groups of the settings: each has its own, and each mark is on the settings that it is for."""

from dataclasses import fields

import pytest

from netwright.core.config import field_names
from netwright.train.setting_groups import (
    FineTuning,
    Hardware,
    Heeded,
    Keeping,
    Length,
    Objective,
    Optimization,
    Regularization,
    Resume,
    SequenceTraining,
    Stopping,
    Typed,
)
from netwright.train.settings import TrainConfig, settings_marked

GROUPS = (
    *(Length, Optimization, FineTuning, Objective, Regularization),
    *(SequenceTraining, Stopping, Keeping, Hardware),
)
# What checkpoints, kept members and commands of earlier versions rely on.
MARKED = {
    Resume.FREE: "max_steps max_time patience restore_best on_non_finite log_every save_every "
    "save_steps keep keep_path doctor rank_timeout workers device",
    Resume.LENGTH: "epochs max_steps",
    Resume.IF_GIVEN: "eval_every",
    Resume.STEERS: "lr weight_decay optimizer_options kernel schedule schedule_options warmup",
    Resume.REGROUPS: "optimizer unfreeze_every layer_decay penalize",
    Resume.READS: "batch_size accumulate",
    Heeded.BY_EACH_MEMBER: "max_steps patience restore_best on_non_finite",
    Heeded.BY_ANY_RULE: "max_time class_weight rank_timeout device",
    Typed.AS_OPTION: "epochs batch_size max_steps max_time optimizer lr weight_decay freeze "
    "unfreeze_every layer_decay patience eval_every precision device",
}


def test_a_config_of_training_has_the_settings_of_its_groups_in_their_order() -> None:
    names = [name for group in GROUPS for name in field_names(group)]
    assert field_names(TrainConfig) == names
    assert len(names) == len(set(names)) == 56


def test_each_group_stands_alone_with_the_same_defaults() -> None:
    whole = TrainConfig()
    for group in GROUPS:
        alone = group()
        for field in fields(group):
            assert getattr(alone, field.name) == getattr(whole, field.name)


@pytest.mark.parametrize("mark", MARKED)
def test_a_mark_is_on_these_settings(mark: Resume | Heeded | Typed) -> None:
    assert settings_marked(mark) == tuple(MARKED[mark].split())


def test_a_setting_has_one_meaning_for_a_run_that_is_resumed() -> None:
    meanings = [mark for mark in Resume if mark is not Resume.FREE]
    marked = [name for mark in meanings for name in settings_marked(mark)]
    assert len(marked) == len(set(marked))
    assert set(marked) & set(settings_marked(Resume.FREE)) == {"max_steps"}  # where it is no length
