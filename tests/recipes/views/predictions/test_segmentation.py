"""Masks over their images, of a run."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import netwright as nw
from netwright.recipes.views.predictions.segmentation import BATCH
from netwright.train.evaluate import predict
from netwright.train.tasks.task import Task
from tests.data.images.pair_pictures import write_pairs


def test_masks_are_predicted_a_few_images_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pairs = write_pairs(tmp_path / "cells", range(40))
    settings: dict[str, Any] = {"size": (4,), "depth": 1, "width": 2, "test_size": 0.5}
    run = nw.fit("unet", pairs, epochs=1, quiet=True, **settings)
    sizes = []

    def counted(model: nn.Module, inputs: torch.Tensor, task: Task) -> torch.Tensor:
        sizes.append(len(inputs))
        return predict(model, inputs, task)

    monkeypatch.setattr("netwright.recipes.views.subject.predict", counted)
    view = run.views()["segmentation"].to_json()
    assert sizes == [BATCH, BATCH, 4]
    names = run.spec.class_names
    wanted = [run.results["metrics"][f"dice/{name}"] for name in names]
    assert view["dice"] == pytest.approx(wanted)
