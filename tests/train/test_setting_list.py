"""The list of the settings: all of them, each with its group and what it does."""

from netwright.core.config import field_names
from netwright.train.setting_list import SETTINGS
from netwright.train.settings import TrainConfig


def test_every_setting_is_there_in_the_order_of_the_groups() -> None:
    assert list(SETTINGS) == [f"train.{name}" for name in field_names(TrainConfig)]


def test_a_setting_says_its_group_and_what_it_does() -> None:
    assert SETTINGS["train.l1"].sentence.startswith("regularization: L1 penalty")
    assert SETTINGS["train.freeze"].sentence.startswith("fine tuning: freeze the model")
