"""A training step of one's own: from a module and a batch to a loss, or to one for each optimizer.

    def training_step(module, batch):                      one optimizer
        return loss

    def training_step(module, batch):                      optimizer={"discriminator": ..., ...}
        yield "discriminator", loss                        its weights have moved when this goes on
        yield "generator", loss

All else is as in any run: gradients are guarded, clipped and watched before each update; every
random draw follows from the seed; a run that was stopped goes on exactly.
"""

import inspect
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from typing import Any, cast

from torch import Tensor, nn
from torch.optim import Optimizer

from netwright.core.adapted_module import AdaptedModule
from netwright.core.errors import ConfigError, ShapeError
from netwright.data.dataset import Split
from netwright.data.loading.loader import Batch
from netwright.train.callback import Hook
from netwright.train.own.optimizer_group import OptimizerGroup
from netwright.train.precision import autocast
from netwright.train.settings import TrainConfig
from netwright.train.state import TrainState
from netwright.train.step import UpdateStep

Turns = Generator[tuple[str, Tensor], None, None]
TrainingStep = Callable[[Any, Batch], Tensor | Turns]  # of the caller's own kind of module


class OwnStep(UpdateStep):
    """Takes a batch, lets the caller make losses of it, and moves the weights by them.

    Args:
        state: the run.
        config: precision, accumulation and penalties.
        hooks: event -> what is called then.
        train: all rows.
        function: the caller's.
    """

    def __init__(
        self,
        state: TrainState,
        config: TrainConfig,
        hooks: Mapping[str, list[Hook]],
        train: Split,
        function: TrainingStep,
    ) -> None:
        super().__init__(state, config, hooks, train)
        self.function, self.module = function, own_module(state.model)

    def __call__(self, batch: Batch, *, share: float, last: bool) -> dict[str, Tensor]:
        """Use one batch; see `UpdateStep`. Gives the losses that have names."""
        state = self.state
        state.skips_update = False
        batch = self._begin(batch, self.batch_start)
        state.lap("data")
        with autocast(self.precision, state.device):
            made: Any = self.function(self.module, batch)
        if inspect.isgenerator(made):
            return self._take_turns(cast(Turns, made))
        loss = check_loss(made)
        state.loss, state.is_updating = loss.detach(), last
        state.lap("forward")
        loss = loss * share if share != 1.0 else loss
        if state.scaler is not None:
            loss = state.scaler.scale(loss)
        loss.backward()  # type: ignore[no-untyped-call]
        state.lap("backward")
        state.accumulated += 1
        if last:
            self._update()
        return {}

    def _take_turns(self, turns: Turns) -> dict[str, Tensor]:
        """For each loss: gradients of its optimizer's weights alone, a look at them, its step."""
        state, losses = self.state, dict[str, Tensor]()
        state.is_updating, state.accumulated = True, 1
        with closing(turns):
            while (made := self._next(turns)) is not None:
                name, group, loss = check_turn(made, state.optimizer)
                losses[name] = state.loss = loss.detach()
                state.lap("forward")
                loss.backward(inputs=group.weights(name))  # type: ignore[no-untyped-call]
                state.lap("backward")
                for hook in self.before_update:
                    hook(state)
                state.lap("callbacks")
                if state.skips_update:
                    break
                group.step_member(name)
                group.members[name].zero_grad()
                state.lap("optimizer")
        state.loss = sum(losses.values(), start=state.loss.new_zeros(()))
        if not state.skips_update:
            state.schedule.step()
            state.step += 1
        state.forget_gradients()
        state.accumulated, state.is_updating = 0, False
        return losses

    def _next(self, turns: Turns) -> Any:
        with autocast(self.precision, self.state.device):
            return next(turns, None)


def own_module(model: nn.Module) -> nn.Module:
    """The module as its author wrote it."""
    return model.own if isinstance(model, AdaptedModule) else model


def check_loss(loss: Any, name: str = "") -> Tensor:
    """Refuse what no gradient can be taken of."""
    what = f"the loss {name!r} of training_step" if name else "training_step"
    if not isinstance(loss, Tensor):
        raise ShapeError(f"{what} must be one number as a tensor, got {type(loss).__name__}")
    if loss.numel() != 1:
        raise ShapeError(f"{what} must be one number, got shape {tuple(loss.shape)}: take its mean")
    if not loss.requires_grad:
        raise ConfigError(
            f"{what} does not depend on any parameter of the model: look for detach() and no_grad()"
        )
    return loss.reshape(())


def check_turn(made: Any, optimizer: Optimizer) -> tuple[str, OptimizerGroup, Tensor]:
    """The name of one turn, the optimizers that it is one of, and its loss."""
    if not isinstance(optimizer, OptimizerGroup):
        raise ConfigError(
            "training_step yields losses by name: give an optimizer for each, as in "
            "optimizer={'generator': ..., 'discriminator': ...}"
        )
    if not isinstance(made, tuple) or len(made) != 2 or made[0] not in optimizer.members:
        names = " or ".join(map(repr, optimizer.members))
        raise ConfigError(f"training_step must yield pairs of {names} and a loss, got {made!r:.60}")
    return made[0], optimizer, check_loss(made[1], made[0])
