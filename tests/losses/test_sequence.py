"""Cross-entropy of tokens: the mean over those that count, of each text by itself."""

import math

import torch
from torch.nn import functional as F

from netwright.losses.sequence import token_cross_entropy

# At every place the softmax gives the three tokens 1/2, 1/4 and 1/4.
LOGITS = torch.tensor([math.log(2), 0.0, 0.0]).expand(2, 3, 3)


def test_each_text_is_the_mean_over_its_own_tokens_that_count() -> None:
    targets = torch.tensor([[0, 1, 2], [0, 0, -100]])
    losses = token_cross_entropy(LOGITS, targets)
    torch.testing.assert_close(losses, torch.tensor([5 / 3, 1.0]) * math.log(2))
    assert torch.equal(token_cross_entropy(LOGITS, targets, "mean"), losses.mean())


def test_a_text_in_which_nothing_counts_has_no_loss_and_no_gradient() -> None:
    logits = LOGITS.clone().requires_grad_()
    losses = token_cross_entropy(logits, torch.tensor([[-100, -100, -100], [0, 0, 0]]))
    (gradient,) = torch.autograd.grad(losses.sum(), logits)
    assert losses[0] == 0
    assert gradient[0].abs().max() == 0 < gradient[1].abs().max()


def test_smoothing_is_torchs() -> None:
    logits = torch.randn(2, 5, 4, generator=torch.Generator().manual_seed(0))
    targets = torch.tensor([[0, 1, 2, 3, 3], [1, 1, 0, -100, -100]])
    for row, loss in enumerate(token_cross_entropy(logits, targets, smoothing=0.2)):
        wanted = F.cross_entropy(logits[row], targets[row], label_smoothing=0.2)
        torch.testing.assert_close(loss, wanted)


def test_weights_of_tokens_are_torchs_in_each_text() -> None:
    logits = torch.randn(3, 5, 4, generator=torch.Generator().manual_seed(0))
    targets = torch.tensor([[0, 1, 2, 3, 3], [1, 1, 0, 9, 9], [9, 9, 9, 9, 9]])
    weights = torch.tensor([0.5, 3.0, 2.0, 0.0])
    losses = token_cross_entropy(logits, targets, class_weights=weights, ignore_index=9)
    for row in range(2):
        wanted = F.cross_entropy(logits[row], targets[row], weights, ignore_index=9)
        torch.testing.assert_close(losses[row], wanted)
    assert losses[2] == 0
    unweighted = token_cross_entropy(logits, targets, "sum", ignore_index=9)
    each = [F.cross_entropy(logits[row], targets[row], ignore_index=9) for row in range(2)]
    torch.testing.assert_close(unweighted, each[0] + each[1])
