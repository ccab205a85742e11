"""A module says how many classes there are; a model that wants all rows at once is refused."""

from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import netwright as nw
from netwright.core.errors import ConfigError
from netwright.data.batches.split import SourceSplit
from tests.data.batches.loaders import noisy_loader, rows

TRAIN: dict[str, Any] = {"epochs": 1, "quiet": True, "save": False, "device": "cpu"}


def test_a_module_with_more_outputs_has_more_classes() -> None:
    unnamed = DataLoader(TensorDataset(*rows()), batch_size=4)
    run = nw.fit(nn.Linear(3, 5), unnamed, validation=unnamed, **TRAIN)
    assert run.spec.class_names == ("0", "1", "2", "3", "4")
    for _, split in run.data.splits():
        assert isinstance(split, SourceSplit)
        assert split.outputs == 5
    assert run.predict_proba(torch.zeros(1, 3)).shape == (1, 5)


def test_a_module_with_too_few_outputs_is_refused_by_its_shape() -> None:
    with pytest.raises(nw.NetwrightError, match=r"must have shape .* got"):
        nw.fit(nn.Linear(3, 1), noisy_loader(), **TRAIN)


def test_a_model_of_all_rows_is_refused() -> None:
    with pytest.raises(ConfigError, match="random-forest learns from all rows at once, a DataLoad"):
        nw.fit("random-forest", noisy_loader(), quiet=True, save=False)
