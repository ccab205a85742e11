"""Label smoothing: both forms, each the other with another eps."""

import pytest
import torch

from netwright.core.errors import ConfigError
from netwright.core.seeding import generator
from netwright.losses.classification import cross_entropy
from netwright.losses.smoothing import as_torch_smoothing
from tests.repetition import for_each


@for_each("classes", [2, 3, 10])
@for_each("amount", [0.0, 0.1, 0.4])
@for_each("over", ["all", "others"])
def test_the_smoothed_loss_is_that_of_the_soft_targets(
    classes: int, amount: float, over: str
) -> None:
    rng = generator(classes)
    logits = torch.randn(20, classes, generator=rng, dtype=torch.float64)
    right = torch.randint(classes, (20,), generator=rng)
    soft = torch.full((20, classes), amount / classes, dtype=torch.float64)
    soft[torch.arange(20), right] += 1 - amount
    if over == "others":
        soft[:] = amount / (classes - 1)
        soft[torch.arange(20), right] = 1 - amount
    smoothing = as_torch_smoothing(amount, classes, over)  # type: ignore[arg-type]
    torch.testing.assert_close(
        cross_entropy(logits, right, smoothing=smoothing),
        cross_entropy(logits, soft),
        rtol=0,
        atol=1e-14,
    )


def test_more_than_all_alike_is_refused() -> None:
    assert as_torch_smoothing(0.5, 2, "others") == 1.0
    with pytest.raises(
        ConfigError, match=r"at most 0\.5 for 2 classes, which is the uniform distribution, got 0"
    ):
        as_torch_smoothing(0.6, 2, "others")
