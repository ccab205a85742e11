"""Filters and feature maps of a run: one network on images."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torch import Tensor, nn

import netwright as nw
from netwright.core.errors import ConfigError


@pytest.fixture(autouse=True)
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def pictures() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    rng = np.random.default_rng(0)
    return rng.random((40, 1, 6, 6)).astype("float32"), np.arange(40) % 2


class PastItsConvolution(nn.Module):
    """A network with a convolution that no image goes through."""

    def __init__(self) -> None:
        super().__init__()
        self.unused, self.head = nn.Conv2d(1, 2, 3), nn.Linear(36, 2)

    def forward(self, images: Tensor) -> Tensor:
        logits: Tensor = self.head(images.flatten(1))
        return logits


def test_filters_of_an_ensemble_are_not_shown_as_if_it_were_one_network(pictures: Any) -> None:
    run = nw.fit("bagging", pictures, of="cnn", members=2, epochs=1, quiet=True)
    views = run.views()
    assert not {"filters", "feature-maps"} & views.keys()


def test_a_convolution_that_nothing_goes_through_has_filters_and_no_maps(pictures: Any) -> None:
    views = nw.fit(PastItsConvolution(), pictures, epochs=1, quiet=True).views()
    assert "filters" in views
    assert "feature-maps" not in views


def test_a_network_without_convolutions_is_refused(moons_run: nw.Run) -> None:
    sentence = "^filters are of convolutions over images, mlp has none$"
    with pytest.raises(ConfigError, match=sentence):
        nw.inspect(moons_run, "filters")
