"""A module says how many classes there are; a model that wants all rows at once is refused."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn
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


class PerPlace(nn.Module):
    """Says one number of each whole number of a row (B, T), or K of them (B, T, K)."""

    def __init__(self, outputs: int) -> None:
        super().__init__()
        self.numbers = nn.Embedding(7, outputs)

    def forward(self, x: Tensor) -> Tensor:
        return self.numbers(x).squeeze(-1)  # type: ignore[no-any-return]


def test_columns_of_0_and_1_beside_whole_inputs_are_labels_unless_asked() -> None:
    whole = torch.arange(60).reshape(12, 5) % 7
    batches = DataLoader(TensorDataset(whole, whole % 2), batch_size=4)
    assert nw.fit(PerPlace(1), batches, **TRAIN).spec.target == "labels"
    sentence = (
        r"shape \(4, 5\) for the 5 labels of batches, got \(4, 5, 2\): give kind='tags' for one "
        r"target a token, kind='tokens' for the next token"
    )
    with pytest.raises(nw.NetwrightError, match=sentence):
        nw.fit(PerPlace(2), batches, **TRAIN)
    assert nw.fit(PerPlace(2), batches, kind="tags", **TRAIN).spec.target == "tags"
    with pytest.raises(nw.NetwrightError, match=r"got \(4, 5, 2\): give kind='tags'"):
        nw.fit(PerPlace(2), DataLoader(TensorDataset(whole % 2, whole % 2), 4), **TRAIN)
    with pytest.raises(nw.NetwrightError, match=r"for the 5 labels of arrays, got \(4, 5, 2\)$"):
        nw.fit(
            nn.Sequential(nn.Linear(4, 10), nn.Unflatten(1, (5, 2))),
            (torch.randn(12, 4), whole % 2),
            batch_size=4,
            **TRAIN,
        )
