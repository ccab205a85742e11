"""Every name is a tracker, and says which package it needs."""

import pytest

from netwright.core.errors import UnknownNameError
from netwright.train.settings import TrainConfig
from netwright.train.trackers.catalog import TRACKERS
from netwright.train.trackers.tracker import Tracker


def test_every_name_is_a_tracker_of_a_package() -> None:
    packages = {name: TRACKERS.load(name).package for name in TRACKERS}
    assert packages == {"tensorboard": "tensorboard", "wandb": "wandb", "mlflow": "mlflow"}
    assert all(issubclass(TRACKERS.load(name), Tracker) for name in TRACKERS)


def test_settings_take_one_name_or_several() -> None:
    assert TrainConfig().track == ()
    names: object = "wandb, mlflow"
    assert TrainConfig(track=names).track == ("wandb", "mlflow")  # type: ignore[arg-type]
    with pytest.raises(
        UnknownNameError, match=r"^unknown tracker 'wandv'; did you mean 'wandb'\?$"
    ):
        TrainConfig(track=("mlflow", "wandv"))
