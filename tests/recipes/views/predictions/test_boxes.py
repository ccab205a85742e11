"""Predicted boxes of a run: the measures of its results."""

from typing import Any

import pytest

import netwright as nw
from netwright.core.errors import ConfigError


def test_the_view_has_the_measures_of_the_results_and_is_of_boxes_alone() -> None:
    small: dict[str, Any] = {
        "side": 16,
        "width": 8,
        "heads": 2,
        "layers": 1,
        "queries": 3,
        "epochs": 1,
    }
    run = nw.fit("detr", "shapes", n=40, quiet=True, **small)
    view = run.views()["predicted-boxes"].to_json()
    for name in ("mean_box_iou", "box_f1"):
        assert view[name] == pytest.approx(run.results["metrics"][name], abs=1e-6)
    other = nw.fit("softmax", "iris", epochs=1, quiet=True)
    with pytest.raises(ConfigError, match="predicted boxes are for boxes, this run predicts"):
        nw.inspect(other, "predicted-boxes")
