"""DETR: what it says is a set, and it learns to find shapes."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch

import netwright as nw
from netwright.core.errors import ConfigError, ShapeError
from netwright.core.seeding import seeded
from netwright.data.catalog import load
from netwright.data.spec import DataSpec
from netwright.models.model import check_fits
from netwright.models.vision.detr import DETR, DETRConfig
from netwright.testing.model_contract import MODEL_CHECKS, Build
from netwright.train.settings import TrainConfig
from netwright.train.tasks.catalog import task_for
from tests.repetition import for_each

SPEC = DataSpec(
    inputs="image",
    input_shape=(3, 9, 14),
    target="boxes",
    num_outputs=2,
    class_names=("a", "b"),
)
SMALL: dict[str, Any] = {"queries": 3, "layers": 1, "heads": 2, "width": 8}


def detr(**settings: Any) -> DETR:
    with seeded(0):
        return DETR.build(DETRConfig(**{**SMALL, **settings}), SPEC).eval()


@for_each("check", MODEL_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_model_contract(check: Callable[[Build], None]) -> None:
    check(lambda: DETR.build(DETRConfig(**SMALL, dropout=0.1), SPEC))


def test_queries_have_no_order() -> None:
    model, images = detr(queries=4, layers=2), torch.randn(2, 3, 9, 14)
    said, order = model(images), [2, 0, 3, 1]
    assert said.shape == (2, 4, 7)
    with torch.no_grad():
        model.queries.copy_(model.queries[:, order])
    torch.testing.assert_close(model(images), said[:, order])


def test_a_query_looks_at_the_others() -> None:
    model, images = detr(), torch.randn(1, 3, 9, 14)
    said = model(images)
    with torch.no_grad():
        model.queries[:, 0] = -model.queries[:, 0]
    assert not torch.allclose(model(images)[:, 1:], said[:, 1:])


def test_other_sizes_and_heads_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ShapeError, match="positions for images of 9 x 14, got 9 x 9"):
        detr()(torch.zeros(1, 3, 9, 9))
    with pytest.raises(ConfigError, match="heads"):
        DETRConfig(width=10, heads=4)


def test_data_of_another_target_is_refused_and_so_is_another_loss() -> None:
    with pytest.raises(ConfigError, match="detr predicts boxes, got a target of kind 'class'"):
        check_fits(DETR, "detr", replace(SPEC, target="class"))
    with pytest.raises(ConfigError, match="boxes are trained by set-prediction"):
        task_for(load("shapes", n=20, side=16), TrainConfig(loss="cross-entropy"))


def test_it_learns_some_images_by_heart() -> None:
    settings: dict[str, Any] = {"n": 8, "side": 16, "val_size": 0, "test_size": 0, "objects": 1}
    model: dict[str, Any] = {"layers": 1, "width": 32, "queries": 3, "lr": 3e-3, "batch_size": 8}
    run = nw.fit("detr", "shapes", epochs=100, quiet=True, device="cpu", **settings, **model)
    assert run.results["metrics"]["mean_box_iou"] > 0.6
    assert run.results["baseline"]["mean_box_iou"] < 0.3


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.covers("detr")
def test_it_finds_shapes_in_images_that_it_has_not_seen() -> None:
    run = nw.fit("detr", "shapes", epochs=20, quiet=True, device="cpu", save=False)
    assert run.results["split"] == "test"
    assert run.results["metrics"]["mean_box_iou"] > 0.7
    assert run.results["metrics"]["box_f1"] > 0.8
