"""One batch through a training step of the user's own before anything is written.

Shapes: B batch.
"""

import copy
import inspect

import torch
from torch import Tensor, nn

from netwright.core.errors import ConfigError, NetwrightError, ShapeError
from netwright.core.seeding import seeded
from netwright.data.dataset import Data
from netwright.recipes.fitting.first_batch import FirstBatch, first_batch_of, try_first_batch
from netwright.train.own_step import TrainingStep, check_loss, check_turn, own_module
from netwright.train.tasks.task import Task


def why_unmeasured(model: nn.Module, data: Data, task: Task, rows: int) -> str:
    """Why the model says nothing of inputs that could be measured; empty where it does.

    A module with a step of its own need not be one: a generator and a discriminator are two.
    """
    try:
        try_first_batch(model, data, task, rows)
    except NetwrightError as refusal:
        return str(refusal)
    return ""


def try_first_step(
    model: nn.Module,
    data: Data,
    step: TrainingStep,
    optimizer: torch.optim.Optimizer,
    rows: int,
) -> FirstBatch:
    """Take the losses of one batch and their gradients; nothing moves, and buffers stay.

    Args:
        model: what is tried.
        data: what it is to learn from.
        step: the user's.
        optimizer: one, or one for each loss.
        rows: of the batch.
    """
    batch = first_batch_of(model, data, rows)
    before = copy.deepcopy(model.state_dict())
    modes = [(part, part.training) for part in model.modules()]
    model.train()
    total = 0.0
    try:
        with seeded(0):
            made = step(own_module(model), batch)
            if inspect.isgenerator(made):
                for turn in made:
                    name, group, loss = check_turn(turn, optimizer)
                    total += _tried(loss, group.weights(name), f"of {name!r}")
            else:
                learned = [weight for part in optimizer.param_groups for weight in part["params"]]
                total += _tried(check_loss(made), learned, "of its optimizer")
    except NetwrightError:
        raise
    except Exception as error:  # whatever a user's step raises, it is told as one sentence
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ShapeError(f"training_step fails on the first batch: {reason}") from error
    finally:
        model.load_state_dict(before)
        for part, training in modes:
            part.training = training
    parameters = sum(parameter.numel() for parameter in model.parameters())
    return FirstBatch(rows=len(batch.rows), layers=(), parameters=parameters, loss=total)


def _tried(loss: Tensor, weights: list[Tensor], whose: str) -> float:
    """The value of a loss; refused where it moves none of the weights that it is for."""
    gradients = torch.autograd.grad(loss, weights, allow_unused=True)
    if all(gradient is None for gradient in gradients):
        raise ConfigError(f"the loss of training_step does not depend on any parameter {whose}")
    return float(loss.detach())
