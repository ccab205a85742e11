r"""Muon: momentum whose step has all singular values near 1.

The polynomial p(s) = a s + b s^3 + c s^5, applied a few times to a matrix (X <- a X + b X X'X +
c X X'X X'X), acts on its singular values alone. Five rounds bring all from 0.002 to 1 near 1 (0.68
to 1.21), and stretch smaller ones up to 485 times: U S V' becomes nearly U V', by products only.

Shapes: N matrices of one shape, R rows, C columns, R <= C.
Source: Jordan et al., "Muon: An Optimizer for Hidden Layers in Neural Networks" (2024);
Liu et al., "Muon is Scalable for LLM Training" (2025), arXiv 2502.16982.
"""

import math
from collections import defaultdict
from typing import Any, ClassVar, Literal, get_args

import torch
from torch import Tensor
from torch.optim.adamw import adamw
from torch.optim.optimizer import ParamsT

from netwright.core.card import Card
from netwright.core.checks import check_fraction, check_not_negative, check_positive
from netwright.core.errors import ConfigError
from netwright.optimizers.foreach_optimizer import ForeachOptimizer, step_along
from netwright.optimizers.optimizer import OptimizerEntry

COEFFICIENTS = (3.4445, -4.7750, 2.0315)  # a, b, c: the steepest start that still ends near 1
SMALLEST_NORM = 1e-7
ADAM_EPS = 1e-8

AdjustRate = Literal["original", "match_rms_adamw"]


def orthogonalized(matrices: Tensor, steps: int = 5) -> Tensor:
    """Matrices (N, R, C), R <= C, with singular values near 1 and the same singular vectors."""
    a, b, c = COEFFICIENTS
    # No singular value is above the root of the sum of their squares.
    lengths = matrices.norm(dim=(-2, -1), keepdim=True).clamp(min=SMALLEST_NORM)
    matrices = matrices / lengths
    for _ in range(steps):
        gram = matrices @ matrices.mT  # (N, R, R)
        gram = torch.baddbmm(gram, gram, gram, beta=b, alpha=c)
        matrices = torch.baddbmm(matrices, gram, matrices, beta=a)
    return matrices


def rate_factor(rows: int, columns: int, adjust: AdjustRate) -> float:
    """What makes a rate suit all shapes: the factor of lr for a matrix (rows, columns)."""
    if adjust == "original":
        return math.sqrt(max(1.0, rows / columns))
    return 0.2 * math.sqrt(max(rows, columns))


class Muon(ForeachOptimizer):
    """Orthogonalised momentum for matrices, AdamW for all other parameters.

    Kernels count as matrices, flattened from their second dimension on. Biases and gains form a
    group of their own, whose `lr` starts at `adam_lr`: schedules move both.

    Args:
        params: parameters, or groups of them.
        lr: the learning rate of matrices.
        momentum: how long the running mean of gradients remembers; the step looks ahead.
        weight_decay: the pull toward zero, apart from the gradient.
        ns_steps: how often the polynomial is applied.
        adjust_lr_fn: how lr follows the shape: "original" sqrt(max(1, rows / columns)), or
            "match_rms_adamw" 0.2 sqrt(max(rows, columns)), with which a rate for AdamW fits.
        adam_lr: the learning rate of all other parameters.
        adam_betas: their `betas`.
        maximize: step up the gradient instead of down.
    """

    steps_on_device: ClassVar[bool] = True

    def __init__(  # noqa: PLR0913 - torch's own, and three of AdamW
        self,
        params: ParamsT,
        lr: float = 0.02,
        *,
        momentum: float = 0.95,
        weight_decay: float = 0.0,
        ns_steps: int = 5,
        adjust_lr_fn: AdjustRate = "original",
        adam_lr: float = 3e-4,
        adam_betas: tuple[float, float] = (0.9, 0.95),
        maximize: bool = False,
    ) -> None:
        for name, value in (("lr", lr), ("adam_lr", adam_lr), ("weight_decay", weight_decay)):
            check_not_negative(name, value)
        check_positive("ns_steps", ns_steps)
        check_fraction("momentum", momentum)
        for index, beta in enumerate(adam_betas):
            check_fraction(f"adam_betas[{index}]", beta)
        if adjust_lr_fn not in get_args(AdjustRate):
            known = " or ".join(map(repr, get_args(AdjustRate)))
            raise ConfigError(f"adjust_lr_fn must be {known}, got {adjust_lr_fn!r}")
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "weight_decay": weight_decay,
            "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
            "adam_lr": adam_lr,
            "adam_betas": adam_betas,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Take a group as two: its matrices, and all else at the rate of AdamW."""
        params = param_group["params"]
        params = [params] if isinstance(params, Tensor) else list(params)
        settings = {**self.defaults, **param_group}
        for rate, is_matrix in (("lr", True), ("adam_lr", False)):
            chosen = [param for param in params if (_tensor(param).ndim >= 2) == is_matrix]
            if chosen:
                super().add_param_group({**settings, "params": chosen, "lr": settings[rate]})

    def new_state(self, weight: Tensor) -> dict[str, Any]:
        """The momentum of a matrix, or AdamW's moments, from 0."""
        if weight.ndim >= 2:
            return {"momentum_buffer": torch.zeros_like(weight)}
        moments = {name: torch.zeros_like(weight) for name in ("exp_avg", "exp_avg_sq")}
        return {"step": torch.zeros((), device=weight.device), **moments}

    def update(
        self,
        group: dict[str, Any],
        weights: list[Tensor],
        gradients: list[Tensor],
        states: list[dict[str, Any]],
    ) -> None:
        """Matrices by Muon; a group of other parameters by torch's AdamW."""
        step = muon_step if weights[0].ndim >= 2 else _adamw_step
        step(group, weights, gradients, states)


def muon_step(
    group: dict[str, Any],
    weights: list[Tensor],
    gradients: list[Tensor],
    states: list[dict[str, Any]],
) -> None:
    """Step along the momentum, looking ahead, with all singular values brought near 1."""
    means = [state["momentum_buffer"] for state in states]
    torch._foreach_lerp_(means, gradients, 1 - group["momentum"])
    aheads = torch._foreach_lerp(gradients, means, group["momentum"])  # Nesterov's look-ahead
    alike: dict[Any, list[tuple[Tensor, Tensor]]] = defaultdict(list)
    for weight, ahead in zip(weights, aheads, strict=True):
        matrix = ahead.flatten(1)
        wide = matrix if matrix.shape[0] <= matrix.shape[1] else matrix.mT
        alike[wide.shape, wide.device, wide.dtype].append((weight, wide))
    for pairs in alike.values():
        stack = torch.stack([wide for _, wide in pairs])  # (N, R, C)
        turned = orthogonalized(stack.to(_working_dtype(stack)), group["ns_steps"])
        for (weight, _), wide in zip(pairs, turned.to(stack.dtype), strict=True):
            rows, columns = weight.flatten(1).shape
            step = wide if rows <= columns else wide.mT
            factor = rate_factor(rows, columns, group["adjust_lr_fn"])
            step_along([weight], [step.reshape(weight.shape)], group["lr"] * factor)


def _adamw_step(
    group: dict[str, Any],
    weights: list[Tensor],
    gradients: list[Tensor],
    states: list[dict[str, Any]],
) -> None:
    beta1, beta2 = group["adam_betas"]
    adamw(
        weights,
        gradients,
        [state["exp_avg"] for state in states],
        [state["exp_avg_sq"] for state in states],
        [],
        [state["step"] for state in states],
        foreach=True,
        capturable=weights[0].is_cuda,  # the count is read on the device, as the rate may be
        amsgrad=False,
        beta1=beta1,
        beta2=beta2,
        lr=group["lr"],
        weight_decay=0.0,  # done already
        eps=ADAM_EPS,
        maximize=False,  # the gradients are negated already
    )


def _tensor(param: Any) -> Tensor:
    """A parameter, which may come with its name before it."""
    tensor: Tensor = param[1] if isinstance(param, tuple) else param
    return tensor


def _working_dtype(stack: Tensor) -> torch.dtype:
    """The step is rough anyhow: bfloat16 where it is fast, but no less than float32 elsewhere."""
    if stack.is_cuda and stack.dtype != torch.float64:
        return torch.bfloat16
    return torch.promote_types(stack.dtype, torch.float32)


MUON = OptimizerEntry(
    make=Muon,
    whole_matrices=True,
    lr=0.02,
    card=Card(
        sentence="Momentum for matrices with all singular values of its step brought near 1; "
        "AdamW for biases and gains.",
        formula=r"m \leftarrow \mu m + (1-\mu) G, \quad X = (1-\mu) G + \mu m, \quad"
        r" X \leftarrow \frac{X}{\|X\|_F}, \quad 5\times:\;"
        r" X \leftarrow a X + b X X^\top X + c X (X^\top X)^2, \quad"
        r" W \leftarrow W - \eta \sqrt{\max(1, R/C)}\, X",
        symbols={
            "W": "a weight matrix (R, C); a kernel is flattened from its second dimension on",
            "G": "the gradient of the loss at W",
            "m": "a running mean of G, from 0",
            r"\mu": "`momentum`, 0.95",
            r"\eta": "the learning rate, `lr`; biases and gains have their own, `adam_lr`",
            "a, b, c": "3.4445, -4.7750, 2.0315",
        },
        source="Jordan et al. (2024), Muon: An Optimizer for Hidden Layers in Neural Networks",
        misprint="Often called exact orthogonalisation; five rounds leave singular values between "
        "about 0.7 and 1.2. It is meant for hidden layers: in practice embeddings and the last "
        "layer stay with AdamW.",
    ),
    code=(orthogonalized, muon_step),
)
