"""Gradient boosting: every stage helps, and long trainings are forewarned of."""

from dataclasses import replace

import pytest
import torch

from netwright.data.dataset import Split
from netwright.models.baselines.gradient_boosting import GradientBoosting, GradientBoostingConfig
from tests.models.baselines.fitted import spec_of, table


@pytest.mark.covers("gradient-boosting")
def test_every_stage_lowers_the_error_and_stumps_add_up_to_a_sine() -> None:
    x = torch.linspace(0, 2 * torch.pi, 200)[:, None]
    data = Split(inputs=x, targets=x.sin())
    config = GradientBoostingConfig(max_depth=1)
    model = GradientBoosting.build(config, spec_of(1, target="real", outputs=1))
    errors = []
    for step in model.fit_steps(data, seed=0):
        errors.append(step["loss"])
        now = (model(x) - data.targets).square().mean().item()
        assert now == pytest.approx(step["loss"], rel=1e-5)  # as far as it has come
    assert len(errors) == config.stages / GradientBoosting.stages_a_step
    by_stage = model.start + model.trees(x)[..., 0].cumsum(dim=1)  # (N, stages)
    falling = (by_stage - data.targets).square().mean(dim=0)
    assert bool((falling.diff() < 0).all())
    torch.testing.assert_close(
        falling[GradientBoosting.stages_a_step - 1 :: GradientBoosting.stages_a_step],
        torch.tensor(errors),
    )
    assert 1 - errors[-1] / float(data.targets.var(correction=0)) > 0.95


def test_hours_of_boosting_are_forewarned_of() -> None:
    """MNIST: ten trees a stage, each sorting 60,000 rows by 784 inputs at each of three depths."""
    data, spec = table("iris")
    images = replace(spec, input_shape=(784,), num_outputs=10, class_names=tuple("0123456789"))
    assert GradientBoosting(GradientBoostingConfig(), spec).forewarning(len(data)) == ""
    told = GradientBoosting(GradientBoostingConfig(), images).forewarning(60_000)
    assert "1,000 trees: about 71 minutes" in told
