r"""Has training come to its end? What is left of the gradient, and whether the loss still falls.

The loss of a model whose outputs are linear in its weights is convex where the loss is convex in
the outputs. All of its least values lie where the gradient over all rows is 0, so what is left of
it says how far training has come, in parts of the gradient at weights of 0:

    left = |\nabla L(w)| / |\nabla L(0)|,    L(w) = mean loss over all rows + \lambda / 2 |w|^2

Other losses have no such measure. A run of theirs that ended with its last epoch had more to learn
where the training loss, and the validation loss with it, still fell in the last quarter by a share
of all that it had fallen.

Source: Boyd and Vandenberghe, "Convex Optimization" (2004), section 9.1.2, for the gradient.
"""

import math
from collections.abc import Mapping
from contextlib import closing
from statistics import fmean

import torch
from torch import Tensor, nn
from torch.func import functional_call

from netwright.core.devices import device_of
from netwright.core.finding import Finding
from netwright.data.dataset import Split
from netwright.data.loading.worker_loader import build_loader
from netwright.losses.penalty import penalized
from netwright.train.settings import TrainConfig
from netwright.train.tasks.task import Task
from netwright.train.update_shares import UpdateShares
from netwright.train.watching.history import History

AT_ONCE = 4096  # rows whose gradient is taken together
CONVERGED = 1e-4  # of the gradient: what is left of it at the optimum
CLEARLY_LEFT = 0.02  # of the gradient: more is told as a finding
SURE = 0.05  # mean log loss of rows that are all right
FEWEST_EPOCHS = 8  # before so many nothing is said of a loss that falls
STILL_FALLING = 0.1  # share of its whole fall that a loss falls in the last quarter
ILLNESS = "not-converged"  # beside verdicts, too


def gradient_left(model: nn.Module, task: Task, train: Split, config: TrainConfig) -> float:
    """The length of the gradient over all rows, in parts of that at weights of 0.

    Weights, gradients and draws stay as they are.
    """
    weights = {name: weight.detach() for name, weight in model.named_parameters()}
    origin = {name: torch.zeros_like(weight) for name, weight in weights.items()}
    here, there = (_gradient_length(model, task, train, config, at) for at in (weights, origin))
    return here / there if there else here


def _gradient_length(
    model: nn.Module, task: Task, train: Split, config: TrainConfig, at: Mapping[str, Tensor]
) -> float:
    weights = {name: weight.clone().requires_grad_() for name, weight in at.items()}
    is_pulled = {id(weight) for weight in penalized(model, config.penalize)}
    slopes = [
        config.l2 * at[name] if id(weight) in is_pulled else torch.zeros_like(at[name])
        for name, weight in model.named_parameters()
    ]
    rows = train.to(device_of(model))
    size = min(AT_ONCE, len(rows))
    loader = build_loader(rows, size, shuffle=False, workers=config.workers, persistent=False)
    shares = UpdateShares(loader, task, accumulate=len(loader)).of_epoch(0)
    with closing(loader):
        for batch, share in zip(loader.epoch(0), shares, strict=True):
            loss = share * task.loss(functional_call(model, weights, (batch.inputs,)), batch)
            torch._foreach_add_(slopes, torch.autograd.grad(loss, list(weights.values())))
    return math.sqrt(sum(float(slope.double().square().sum()) for slope in slopes))


def not_converged_convex(left: float, epochs: int) -> Finding | None:
    """A convex loss that ended away from its least value; the weights say little yet."""
    if left <= CLEARLY_LEFT:
        return None
    return Finding(
        illness=ILLNESS,
        sentence=f"training has not converged: {left:.0%} of the gradient remains after {epochs} "
        "epochs, although this loss is convex and has an optimum",
        fix="Omit optimizer, lr and batch_size, so that a solver finds the optimum, or train for "
        "more epochs or with a higher learning rate",
        see="convex-local-global",
    )


def no_finite_optimum(history: History) -> Finding | None:
    """A search that ended where every training row is told right, and all are sure of it."""
    right, loss = (
        [row.value for row in history if (row.split, row.name) == ("train", name)]
        for name in ("accuracy", "loss")
    )
    if not right or right[-1] < 1 or loss[-1] > SURE:
        return None
    return Finding(
        illness="separable-classes",
        sentence="the training rows are perfectly separable, so the loss has no minimum: it was "
        f"{loss[-1]:.2g} and would keep falling as the weights grow",
        fix="Regularise, so that an optimum exists and probabilities stay calibrated: "
        "--set train.l2=0.001",
        see="convex-local-global",
    )


def not_converged(history: History) -> Finding | None:
    """Losses that still fell clearly when the last epoch was over."""
    told = []
    for split in ("train", "val"):
        losses = [row.value for row in history if (row.split, row.name) == (split, "loss")]
        if not losses and split == "val":
            continue
        quarter = len(losses) // 4
        if len(losses) < FEWEST_EPOCHS:
            return None
        before, now = fmean(losses[-2 * quarter : -quarter]), fmean(losses[-quarter:])
        if before - now < STILL_FALLING * (losses[0] - now) or before <= now:
            return None
        told.append(f"the {split} loss from {before:.3g} to {now:.3g}")
    return Finding(
        illness=ILLNESS,
        sentence=f"training has not converged: averaged over the last quarter of the epochs, "
        f"{' and '.join(told)}, against the quarter before",
        fix="Train for more epochs, or with a higher learning rate: --find-lr suggests one",
        see="step-size",
    )
