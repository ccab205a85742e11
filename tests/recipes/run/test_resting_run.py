"""A run at rest says what it said, and the run that it was made from stays as it is."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import netwright as nw
from netwright.layers.convolution.folded_norm import FoldedConvolution
from netwright.recipes.run.resting_run import resting
from netwright.recipes.run.run import Run
from tests.data.images.pictures import folder_of


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    names = [f"{kind}/{place}.png" for kind in ("cat", "dog") for place in range(4)]
    return folder_of(tmp_path_factory.mktemp("pictures"), *names)


@pytest.fixture(scope="module")
def run(pictures: Path) -> Run:
    settings: dict[str, Any] = {"width": 4, "val_size": 0, "test_size": 0, "save": False}
    return nw.fit("resnet20", pictures, epochs=1, seed=0, quiet=True, device="cpu", **settings)


def test_it_says_the_same_by_folded_convolutions(run: Run, pictures: Path) -> None:
    quick = resting(run)
    assert quick is not run
    assert any(isinstance(part, FoldedConvolution) for part in quick.model.modules())
    np.testing.assert_allclose(
        quick.predict_proba(pictures), run.predict_proba(pictures), atol=1e-5
    )
    assert quick.predict(pictures).tolist() == run.predict(pictures).tolist()


def test_the_run_keeps_its_own_model(run: Run) -> None:
    before = {name: kept.clone() for name, kept in run.model.state_dict().items()}
    resting(run)
    after = run.model.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert any(isinstance(part, nn.BatchNorm2d) for part in run.model.modules())


def test_a_run_without_images_is_left_alone() -> None:
    run = nw.fit("softmax", "iris", epochs=1, seed=0, quiet=True, save=False)
    assert resting(run) is run
