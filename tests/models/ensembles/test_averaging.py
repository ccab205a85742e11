"""Averages: never worse than the mean member, and probabilities that come back."""

import pytest
import torch
from torch.nn import functional as F

from netwright.models.ensembles.averaging import average_outputs


def test_the_gain_over_the_mean_member_is_the_variance_among_them() -> None:
    for seed in range(50):
        numbers = torch.Generator().manual_seed(seed)
        members = int(torch.randint(1, 12, (), generator=numbers))
        answers = torch.randn(members, 30, 2, generator=numbers, dtype=torch.float64)
        targets = torch.randn(30, 2, generator=numbers, dtype=torch.float64)
        shares = torch.rand(members, generator=numbers, dtype=torch.float64)
        shares = shares / shares.sum()
        mean = average_outputs(answers, shares, "real")
        own = (shares * (answers - targets).square().mean(dim=(1, 2))).sum()
        spread = (shares * (answers - mean).square().mean(dim=(1, 2))).sum()
        together = (mean - targets).square().mean()
        assert float(own - together) == pytest.approx(float(spread), abs=1e-10), seed
        assert together <= own + 1e-12, seed


@pytest.mark.parametrize("target", ["class", "labels"])
def test_logits_give_the_mean_probabilities_back(target: str) -> None:
    logits = 3 * torch.randn(4, 9, 5, generator=torch.Generator().manual_seed(0)).double()
    shares = torch.tensor([0.1, 0.2, 0.3, 0.4]).double()
    back = torch.sigmoid if target == "labels" else lambda values: values.softmax(dim=-1)
    wanted = (shares[:, None, None] * back(logits)).sum(dim=0)
    together = average_outputs(logits, shares, target)  # type: ignore[arg-type]
    torch.testing.assert_close(back(together), wanted)


@pytest.mark.parametrize("target", ["class", "labels"])
def test_members_that_are_very_sure_leave_finite_logits(target: str) -> None:
    logits = torch.tensor([[[500.0, -500.0]], [[400.0, -400.0]]])
    together = average_outputs(logits, torch.tensor([0.5, 0.5]), target)  # type: ignore[arg-type]
    assert bool(together.isfinite().all())
    assert float(together[0, 0]) > float(together[0, 1])


def test_a_member_that_does_not_count_is_not_heard() -> None:
    logits = torch.randn(2, 3, 4, generator=torch.Generator().manual_seed(0))
    alone = average_outputs(logits, torch.tensor([1.0, 0.0]), "class")
    torch.testing.assert_close(alone, F.log_softmax(logits[0], dim=-1))
