"""Label smoothing: its targets, its gap, and what hard labels do."""

import math

import pytest
import torch
from torch.nn import functional as F

from netwright.theory.regularisation.label_smoothing import (
    LABEL_SMOOTHING,
    LabelSmoothingConfig,
    logit_gaps,
    smoothed_targets,
)
from tests.theory.costly import COSTLY_CLAIM_CHECKS


@pytest.mark.parametrize("check", COSTLY_CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(LABEL_SMOOTHING)


@pytest.mark.slow
@pytest.mark.covers("label-smoothing")
def test_best_probabilities_are_the_targets_and_their_gap_is_log_81() -> None:
    labels = torch.arange(10)
    targets = smoothed_targets(labels, 10, 0.1)
    assert targets.sum(dim=1).tolist() == pytest.approx([1] * 10)
    assert targets[3].tolist() == pytest.approx([0.9 if k == 3 else 0.1 / 9 for k in range(10)])
    logits = targets.log().requires_grad_()
    (slope,) = torch.autograd.grad(F.cross_entropy(logits, targets), logits)
    assert float(slope.abs().max()) < 1e-15
    assert float((logits[0, 0] - logits[0, 1]).detach()) == pytest.approx(math.log(81))
    verdict = LABEL_SMOOTHING.check()
    assert verdict.predicted == pytest.approx(4.394, abs=5e-4)
    assert verdict.measured == pytest.approx(4.394, abs=0.05)
    assert verdict.n == 5


def test_torchs_share_is_k_over_k_minus_one_of_ours() -> None:
    logits = torch.randn(6, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    labels = torch.arange(6) % 5
    ours = F.cross_entropy(logits, smoothed_targets(labels, 5, 0.2))
    torchs = F.cross_entropy(logits, labels, label_smoothing=0.2 * 5 / 4)
    torch.testing.assert_close(ours, torchs)


@pytest.mark.slow
@pytest.mark.parametrize(("classes", "smoothing"), [(2, 0.1), (5, 0.2)])
def test_cap_is_that_of_its_classes_and_its_share(classes: int, smoothing: float) -> None:
    verdict = LABEL_SMOOTHING.check(classes=classes, smoothing=smoothing)
    assert verdict.holds
    assert verdict.predicted == pytest.approx(math.log((1 - smoothing) * (classes - 1) / smoothing))


def test_hard_labels_ask_for_ever_larger_gaps() -> None:
    gaps = logit_gaps(LabelSmoothingConfig(), 0.0, 100, seed=0)
    assert (gaps.diff() > 0).all()
    assert gaps[-1] > 4.394
