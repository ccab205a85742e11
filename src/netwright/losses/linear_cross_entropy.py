r"""Cross-entropy of tokens straight from the vectors that score them, a few places at a time.

    z_n = W x_n + b,    l_n = log sum_v exp(z_nv) - z_{n y_n},    loss = sum_n c_n l_n
    dloss/dz_n = c_n (softmax(z_n) - onehot(y_n))

The logits z of all places are by far the largest thing in the memory of a small language model:
64 texts of 1,024 tokens with 50,257 kinds of token are 3.3 billion numbers, which the usual chain
of casts, log-softmax and its gradient holds several times over. Here a chunk of places is scored,
its logits become their own gradient in place, that is multiplied out into the gradients of x, W and
b, and the chunk is let go. The backward pass has nothing left to do but to scale them.

Softmax and sums are in float32 at least, whatever the format of the matrix products, and the
gradient of W is added up in the format of W. On CUDA, rows of zeros fill W up to a multiple of 64
in the matrix products alone: those of odd sizes are several times slower there.

Shapes: N places, D features, V kinds of token, n places of a chunk.
Source: Wijmans et al., "Cut Your Losses in Large-Vocabulary Language Models" (2024); Hsu et al.,
"Liger Kernel: Efficient Triton Kernels for LLM Training" (2024), for the chunks.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

from netwright.core.checks import check_shape
from netwright.losses.counted_targets import IGNORE_INDEX, known_classes
from netwright.losses.score_kernel import has_kernel, score_by_kernel

MOST_LOGITS = 2**24  # of a chunk on a CPU, 64 MB; as a whole they are scored as fast
MOST_ON_CUDA = 2**30  # on CUDA, 2 GB in a half format: fewer leave the device waiting
MULTIPLE = 64  # of rows of W, for matrix products of a half format on CUDA


def pays_in_parts(places: int, weight: Tensor) -> bool:
    """Whether so many places are more than one chunk, or on CUDA, where a chunk is quicker too."""
    return weight.is_cuda or places * len(weight) > MOST_LOGITS


class ScoredTokens(NamedTuple):
    """What came of scoring all places.

    Args:
        loss: the sum of amounts times losses, (); this is what has a gradient.
        told: the most probable token of each place (N,).
    """

    loss: Tensor
    told: Tensor


def linear_cross_entropy(
    vectors: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    targets: Tensor,
    amounts: Tensor | None = None,
) -> ScoredTokens:
    """The cross-entropy of all places that count, and what was thought most probable.

    Args:
        vectors: x (N, D).
        weight: W (V, D).
        bias: b (V,); None: 0.
        targets: y (N,), of which -100 does not count.
        amounts: c (N,); None: 1 each.
    """
    check_shape("vectors", vectors, "N", "D")
    check_shape("weight", weight, "V", vectors.shape[1])
    check_shape("targets", targets, vectors.shape[0])
    counts = targets != IGNORE_INDEX
    exact = torch.promote_types(vectors.dtype, torch.float32)
    amounts = counts.to(exact) if amounts is None else torch.where(counts, amounts.to(exact), 0)
    known = known_classes(targets, IGNORE_INDEX)
    device, learns = vectors.device.type, torch.is_grad_enabled()
    is_mixed = torch.is_autocast_enabled(device)
    kind = torch.get_autocast_dtype(device) if is_mixed else vectors.dtype
    with torch.autocast(device, enabled=False):
        loss, told = _LinearCrossEntropy.apply(  # type: ignore[no-untyped-call]
            vectors, weight, bias, known, amounts, kind, learns
        )
    return ScoredTokens(loss, told)


class _LinearCrossEntropy(torch.autograd.Function):
    """The loss with its gradients, which are there before the backward pass begins."""

    @staticmethod
    def forward(
        ctx: Any,
        vectors: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        targets: Tensor,
        amounts: Tensor,
        kind: torch.dtype,
        learns: bool,
    ) -> tuple[Tensor, Tensor]:
        wanted = [learns and needed for needed in ctx.needs_input_grad[:3]]
        vectors = vectors.to(kind)
        head, offsets = _in_format_of(vectors, weight, bias)
        grads = _Gradients(vectors, weight, bias, len(head), wanted)
        nats, told = torch.empty_like(amounts), torch.empty_like(targets)
        chunks = _chunks(len(vectors), head)
        room = vectors.new_empty(chunks[0].stop if chunks else 0, len(head))
        for places in chunks:
            rows = vectors[places]
            logits = room[: len(rows)]  # (n, V), filled up
            if offsets is None:
                torch.mm(rows, head.T, out=logits)
            else:
                torch.addmm(offsets, rows, head.T, out=logits)
            nats[places], told[places] = _scorer(logits, amounts)(
                logits, targets[places], amounts[places], len(weight), in_place=any(wanted)
            )
            if any(wanted):
                grads.add(places, logits, rows, head)
        ctx.save_for_backward(grads.vectors, grads.weight, grads.bias)
        ctx.mark_non_differentiable(told)
        # What does not count is left out, not multiplied by 0: it need not be finite.
        return torch.where(amounts != 0, nats * amounts, 0).sum(), told

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        factor = grads[0][None]  # a number without dimensions is rounded to a half format
        own = (None if part is None else part * factor for part in ctx.saved_tensors)
        return (*own, None, None, None, None)


def score(
    logits: Tensor, targets: Tensor, amounts: Tensor, classes: int, *, in_place: bool
) -> tuple[Tensor, Tensor]:
    """The loss of each place of a chunk, and what was thought most probable; (n,) both.

    Args:
        logits: (n, V), filled up behind; in place of them their gradient is left, if asked for.
        targets: (n,).
        amounts: (n,), 0 where a place does not count.
        classes: V without what is filled up.
        in_place: leave the gradient.
    """
    real = logits[:, :classes].to(amounts.dtype)
    told = real.argmax(dim=1)
    log_shares = real.log_softmax(dim=1)
    nats = -log_shares.gather(1, targets[:, None])[:, 0]
    if in_place:
        slopes = log_shares.exp_()
        slopes.scatter_add_(1, targets[:, None], -torch.ones_like(nats)[:, None])
        slopes.mul_(amounts[:, None]).masked_fill_(amounts[:, None] == 0, 0)
        logits[:, :classes] = slopes
        logits[:, classes:] = 0
    return nats, told


def _scorer(logits: Tensor, amounts: Tensor) -> Callable[..., tuple[Tensor, Tensor]]:
    """How a chunk is scored: by a kernel of its own where there is one."""
    is_single = amounts.dtype == torch.float32
    return score_by_kernel if is_single and has_kernel(logits.device, logits.dtype) else score


def _in_format_of(
    vectors: Tensor, weight: Tensor, bias: Tensor | None
) -> tuple[Tensor, Tensor | None]:
    """W and b as the matrix products take them."""
    fill = -len(weight) % MULTIPLE if vectors.is_cuda and vectors.dtype.itemsize == 2 else 0
    head = functional.pad(weight.to(vectors.dtype), (0, 0, 0, fill)) if fill else weight
    offsets = functional.pad(bias, (0, fill)) if bias is not None and fill else bias
    return head.to(vectors.dtype), None if offsets is None else offsets.to(vectors.dtype)


def _chunks(places: int, head: Tensor) -> list[slice]:
    """As few chunks as there may be, of the same size but for the last."""
    most = max(1, (MOST_ON_CUDA if head.is_cuda else MOST_LOGITS) // len(head))
    size = math.ceil(places / max(1, math.ceil(places / most)))
    return [slice(start, min(start + size, places)) for start in range(0, places, max(1, size))]


class _Gradients:
    """Those of x, W and b, as chunks add to them; None where one is not wanted.

    Args:
        vectors: x in the format of the matrix products, which its gradient has too.
        weight: W.
        bias: b.
        filled: rows of W with those that are filled up: products are added to all of them.
        wanted: of which of the three.
    """

    def __init__(
        self,
        vectors: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        filled: int,
        wanted: Sequence[bool],
    ) -> None:
        of_vectors, of_weight, of_bias = wanted
        self.vectors = torch.empty_like(vectors) if of_vectors else None
        self.sums = weight.new_zeros(filled, weight.shape[1]) if of_weight else None
        self.weight = None if self.sums is None else self.sums[: len(weight)]
        self.bias = torch.zeros_like(bias) if bias is not None and of_bias else None

    def add(self, places: slice, slopes: Tensor, rows: Tensor, head: Tensor) -> None:
        """Multiply the gradient of a chunk's logits out."""
        if self.vectors is not None:
            torch.mm(slopes, head, out=self.vectors[places])
        if self.bias is not None:
            self.bias += slopes.sum(dim=0, dtype=self.bias.dtype)[: len(self.bias)]
        if self.sums is None:
            return
        kind = self.sums.dtype
        if kind == slopes.dtype:
            torch.addmm(self.sums, slopes.T, rows, out=self.sums)
        elif slopes.is_cuda and kind == torch.float32:
            torch.addmm(self.sums, slopes.T, rows, out_dtype=kind, out=self.sums)
        else:
            self.sums += (slopes.T @ rows).to(kind)
