"""Attention rollout of a run: vision transformers have it, other models are refused."""

from typing import Any

import numpy as np
import pytest

import netwright as nw
from netwright.core.errors import ConfigError
from netwright.inspection.inside.attention_rollout import AttentionRollout

TINY: dict[str, Any] = {"layers": 2, "heads": 1, "width": 8, "patch": 3, "epochs": 1}


@pytest.mark.parametrize("pool", ["class", "mean"])
def test_a_vision_transformer_has_it_in_its_report(pool: str) -> None:
    rng = np.random.default_rng(0)
    pictures = rng.random((40, 3, 8, 6)).astype("float32"), np.arange(40) % 2
    run = nw.fit("vit", pictures, pool=pool, save=False, quiet=True, **TINY)
    view = run.views()["attention-rollout"]
    assert isinstance(view, AttentionRollout)
    assert view.by_token == (pool == "class")
    for one in view.images:
        assert np.shape(one.shares) == (3, 2)
        assert np.sum(one.shares) == pytest.approx(1)
    assert {one.words for one in view.images} <= {"0", "1"}


def test_other_models_are_refused(moons_run: nw.Run) -> None:
    with pytest.raises(ConfigError, match=r"^attention rollout is of a vision transformer over"):
        nw.inspect(moons_run, "attention-rollout")
