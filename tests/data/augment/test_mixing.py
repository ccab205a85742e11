"""What all that mixes examples has in common: partners, shares, targets and weights."""

import pytest
import torch
from scipy import stats

from netwright.data.augment.cutmix import CUTMIX
from netwright.data.augment.mixing import Mixing, draw_partners
from netwright.data.augment.mixup import MIXUP
from netwright.data.loading.loader import Batch
from tests.repetition import for_each

MIXING = (MIXUP, CUTMIX)


def stream(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def batch(count: int = 64, *, weights: bool = False) -> Batch:
    return Batch(
        torch.rand(count, 1, 4, 4, generator=stream(1)),
        torch.randint(5, (count,), generator=stream(2)),
        torch.rand(count, generator=stream(3)) if weights else None,
        torch.arange(count),
    )


@for_each("mixing", MIXING)
def test_examples_that_count_alike_are_mixed_as_without_weights(mixing: Mixing) -> None:
    plain = batch()
    weighed = mixing.mix(plain._replace(weights=torch.full((64,), 3.0)), 1.0, stream(), 5)
    torch.testing.assert_close(weighed.targets, mixing.mix(plain, 1.0, stream(), 5).targets)


@for_each("mixing", MIXING)
def test_an_example_of_weight_0_teaches_its_class_to_nobody(mixing: Mixing) -> None:
    plain = batch()._replace(weights=torch.tensor([0.0, 1.0]).repeat(32))
    plain = plain._replace(targets=torch.arange(64) % 2)  # class 0 counts nothing
    mixed = mixing.mix(plain, 1.0, stream(), 5)
    assert mixed.weights is not None
    counts = mixed.weights > 0
    assert 0 < int((~counts).sum()) < 32
    assert torch.equal(mixed.targets[counts, 1], torch.ones(int(counts.sum())))
    assert torch.equal(mixed.targets[~counts], torch.zeros(int((~counts).sum()), 5))


def test_partners_are_a_new_order_of_the_batch() -> None:
    places, shares = draw_partners(batch(50).inputs, 0.3, stream())
    assert places.sort().values.tolist() == list(range(50))
    assert len(torch.unique(shares)) == 50


@pytest.mark.parametrize("strength", [0.2, 1.0, 4.0])
def test_shares_are_the_larger_parts_of_the_beta_distribution(strength: float) -> None:
    shares = draw_partners(torch.zeros(4000, 1, dtype=torch.float64), strength, stream())[1]
    beta = stats.beta(strength, strength)
    assert float(shares.min()) >= 0.5
    assert stats.kstest(shares.numpy(), lambda share: 2 * beta.cdf(share) - 1).pvalue > 0.01


@for_each("mixing", MIXING)
def test_images_alone_are_mixed_the_same(mixing: Mixing) -> None:
    plain = batch()
    alone = mixing.apply(plain.inputs, 0.4, stream())
    assert torch.equal(alone, mixing.mix(plain, 0.4, stream(), 5).inputs)
