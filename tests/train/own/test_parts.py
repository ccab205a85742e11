"""The record of what a caller hands over in person."""

import pytest
import torch
from torch import nn

from netwright.core.errors import ConfigError
from netwright.train.own.parts import (
    NO_PARTS,
    OwnParts,
    check_beside,
    check_copied,
    take_all_own,
    take_own,
)


def test_by_default_nothing_is_handed_over() -> None:
    assert OwnParts() == NO_PARTS
    assert NO_PARTS.names == {}


def test_names_of_tables_stay_settings_and_objects_are_taken() -> None:
    loss = nn.HuberLoss()
    own, rest = take_own({"loss": loss, "lr": 0.1}, output="logits")
    assert own == OwnParts(loss=loss, output="logits")
    assert rest == {"lr": 0.1}
    assert own.names == {"loss": "HuberLoss()"}  # which output it is changes nothing
    settings = {"loss": "huber", "schedule": None}
    assert take_own(settings) == (NO_PARTS, settings)


def test_what_is_no_loss_is_refused_at_once() -> None:
    with pytest.raises(ConfigError, match="give an instance"):
        take_own({"loss": nn.HuberLoss})
    with pytest.raises(ConfigError, match="parameter_groups must be a function of the module"):
        take_own({}, parameter_groups=[3])


def test_settings_of_a_named_loss_do_not_go_with_ones_own() -> None:
    own = OwnParts(loss=nn.HuberLoss())
    for setting in ("label_smoothing", "loss_options", "class_weight"):
        with pytest.raises(ConfigError, match=f"{setting} is not supported with your own loss"):
            check_beside(own, {setting: 0.1})
    with pytest.raises(ConfigError, match="loss_options is not supported with your own loss"):
        check_beside(own, {"loss_options": {"delta": 2.0}})
    check_beside(own, {"lr": 0.1})
    check_beside(NO_PARTS, {"label_smoothing": 0.1})


def test_all_objects_are_taken_from_among_settings() -> None:
    own, rest = take_all_own({"loss": "model", "output": 1, "metrics": {"most": max}, "lr": 0.1})
    assert (own.loss, own.output, list(own.metrics), rest) == ("model", 1, ["most"], {"lr": 0.1})
    assert own.names == {"loss": "model"}
    assert own.wants_whole
    assert not OwnParts(loss=max, output=1).wants_whole
    assert take_all_own({}) == (NO_PARTS, {})


def test_an_optimizer_of_one_module_is_refused_where_others_are_trained() -> None:
    sgd = torch.optim.SGD(nn.Linear(1, 1).parameters())
    for own in (
        OwnParts(optimizer=sgd),
        OwnParts(optimizer={"head": sgd}),
        OwnParts(schedule=torch.optim.lr_scheduler.StepLR(sgd, 1)),
        OwnParts(schedule=(torch.optim.lr_scheduler.StepLR(sgd, 1), "epoch")),
    ):
        with pytest.raises(ConfigError, match="that of one module, but search trains new ones"):
            check_copied(own, "search")
    check_copied(OwnParts(optimizer=torch.optim.SGD), "search")
