r"""The pairs that skip-gram learns from: each word with the words around it.

    {(w_t, w_{t+j}) : -m <= j <= m, j != 0}

"I saw a cute grey cat playing in the garden": with m = 2, "cat" has the contexts cute, grey,
playing and in.

Shapes: T words, P pairs.
Source: Mikolov et al., "Efficient Estimation of Word Representations in Vector Space" (2013).
"""

import torch
from torch import Tensor

from netwright.core.checks import check_positive, check_shape


def window_pairs(
    words: Tensor, window: int, reaches: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Centres and contexts (P,), (P,) of a text (T,), by places, then from left to right.

    Words that are negative are in no pair, but keep their place.

    Args:
        words: by number.
        window: the farthest distance of a context, m.
        reaches: how far each centre looks (T,), at most m; None: all look as far.
    """
    check_shape("words", words, "T")
    check_positive("window", window)
    near = [step for step in range(-window, window + 1) if step]
    steps = torch.tensor(near, device=words.device)
    places = torch.arange(len(words), device=words.device)[:, None] + steps  # (T, 2 m)
    inside = (places >= 0) & (places < len(words))
    if reaches is not None:
        inside &= steps.abs() <= reaches[:, None]
    contexts = words[places.clamp(0, max(len(words) - 1, 0))]
    counted = inside & (words >= 0)[:, None] & (contexts >= 0)
    centres = words[:, None].expand_as(contexts)
    return centres[counted], contexts[counted]
