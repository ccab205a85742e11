"""Masked tokens: some places of a text are chosen, covered, and to be found again.

    chosen 15 % of the tokens;   of these 80 % become [MASK], 10 % another token, 10 % stay
    targets: the true token where one was chosen, IGNORED elsewhere

Who sees a token that was chosen does not know whether it is the true one, so the model must have an
opinion on every place. Special tokens are never chosen. What was masked can be told from inputs and
targets together: so masks are drawn anew without the text being kept a second time.

Shapes: B batch, F tokens with [CLS] and [SEP].
Source: Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers" (2018), section 3.1;
Taylor, "Cloze Procedure" (1953).
"""

import torch
from torch import Tensor

from netwright.data.spec import IGNORED
from netwright.data.text.tokenizer import SPECIALS

CHOSEN = 0.15  # of all tokens
MASKED, OTHER = 0.8, 0.1  # of those chosen; the rest stays as it is


def mask_tokens(tokens: Tensor, mask: int, random: torch.Generator) -> tuple[Tensor, Tensor]:
    """Texts (B, F) -> inputs and targets (B, F) each.

    Args:
        tokens: as they are.
        mask: the number of [MASK]; all tokens have a smaller one.
        random: draws; on the device of the tokens.
    """
    chance, kind = torch.rand((2, *tokens.shape), generator=random, device=tokens.device)
    others = torch.randint(
        len(SPECIALS), mask, tokens.shape, generator=random, device=tokens.device
    )
    chosen = (chance < CHOSEN) & (tokens >= len(SPECIALS))
    inputs = tokens.masked_fill(chosen & (kind < MASKED), mask)
    is_other = chosen & (kind >= MASKED) & (kind < MASKED + OTHER)
    return torch.where(is_other, others, inputs), tokens.masked_fill(~chosen, IGNORED)


def unmask_tokens(inputs: Tensor, targets: Tensor) -> Tensor:
    """The texts that were masked (B, F)."""
    return torch.where(targets == IGNORED, inputs, targets)


def mask_again(
    inputs: Tensor, targets: Tensor, *, mask: int, random: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Other places of the same examples; what is to be said at [CLS], place 0, stays.

    Args:
        inputs: (B, F).
        targets: of places, and at place 0 whether the second text follows the first.
        mask: the number of [MASK].
        random: draws; on the device of the inputs.
    """
    first = inputs[:, :1]  # [CLS] is not covered, its target is no token
    texts = torch.cat((first, unmask_tokens(inputs[:, 1:], targets[:, 1:])), dim=1)
    masked, places = mask_tokens(texts, mask, random)
    return masked, torch.cat((targets[:, :1], places[:, 1:]), dim=1)
