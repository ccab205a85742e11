"""Scores of attention: their variance, what the softmax makes of it, and the Gaussian kernel."""

import math

import pytest
import torch
from torch.autograd.functional import jacobian

from netwright.core.seeding import generator
from netwright.layers.attention.attention_scores import dot_scores
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.attention.attention_scores import (
    DOT_VARIANCE,
    GAUSSIAN_ATTENTION,
    DotVarianceConfig,
    draw_vectors,
    jacobian_trace,
)
from netwright.theory.claims import Claim


@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("claim", [DOT_VARIANCE, GAUSSIAN_ATTENTION], ids=["variance", "gaussian"])
def test_keeps_the_claim_contract(claim: Claim, check) -> None:  # type: ignore[no-untyped-def]
    check(claim)


@pytest.mark.slow
@pytest.mark.covers("sqrt-d-variance")
def test_unscaled_scores_of_512_features_saturate_the_softmax() -> None:
    verdict = DOT_VARIANCE.check()
    unscaled, scaled = (finding.measured for finding in verdict.findings[-2:])
    assert unscaled == pytest.approx(0.10, abs=0.03)
    assert scaled == pytest.approx(0.96, abs=0.01)
    for finding in verdict.findings[:3]:
        assert finding.measured == pytest.approx(1, abs=0.03), finding.what
    rng = generator(0, "test")
    queries, keys = (draw_vectors(DotVarianceConfig(), (200, n), 512, rng) for n in (1, 64))
    assert dot_scores(queries, keys).softmax(dim=-1).amax(dim=-1).mean() == pytest.approx(
        0.93, abs=0.02
    )


@pytest.mark.covers("dot-product-from-gaussian")
def test_keys_of_one_length_give_equal_weights_and_others_do_not() -> None:
    assert GAUSSIAN_ATTENTION.check(size="full").measured < 1e-12
    assert GAUSSIAN_ATTENTION.check(equal_norms=False).measured > 0.1


def test_vectors_have_variance_one_and_the_mean_that_is_asked_for() -> None:
    for centred, mean in ((True, 0.0), (False, 1.0)):
        drawn = draw_vectors(DotVarianceConfig(centred=centred), (400,), 100, generator(0, "draw"))
        assert drawn.mean().item() == pytest.approx(mean, abs=0.02)
        assert drawn.var().item() == pytest.approx(1, abs=0.03)


def test_the_trace_is_that_of_the_jacobian() -> None:
    scores = torch.tensor([[[0.3, -1.0, 2.0]]], dtype=torch.float64)
    by_autograd = jacobian(lambda row: row.softmax(dim=0), scores[0, 0])  # type: ignore[no-untyped-call]
    assert jacobian_trace(scores) == pytest.approx(by_autograd.trace().item())
    assert jacobian_trace(torch.zeros(1, 1, 64)) == pytest.approx(1 - 1 / 64)


def test_a_scale_of_d_turns_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    def over_d(queries, keys):  # type: ignore[no-untyped-def]
        return dot_scores(queries, keys) / queries.shape[-1]

    monkeypatch.setattr("netwright.theory.attention.attention_scores.scaled_dot_scores", over_d)
    assert not DOT_VARIANCE.check().holds


def test_a_scaled_product_is_not_the_gaussian_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    def scaled(queries, keys):  # type: ignore[no-untyped-def]
        return dot_scores(queries, keys) / math.sqrt(queries.shape[-1])

    monkeypatch.setattr("netwright.theory.attention.attention_scores.dot_scores", scaled)
    assert not GAUSSIAN_ATTENTION.check().holds
