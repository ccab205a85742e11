"""Several optimizers, each of its own weights, that are saved, scheduled and watched as one.

    {"generator": Adam(...), "discriminator": SGD(...)}

Groups of parameters and what is remembered of each weight are shared: the group has those of all,
one optimizer after the other, and its state is that of one optimizer with as many groups.
"""

from collections.abc import Callable, Mapping
from typing import Any

from torch import Tensor
from torch.optim import Optimizer

from netwright.core.errors import ConfigError


class OptimizerGroup(Optimizer):
    """Optimizers by name.

    Args:
        members: name -> optimizer; no weight is in two of them.
    """

    def __init__(self, members: Mapping[str, Optimizer]) -> None:
        self.members = dict(members)
        groups = [group for one in self.members.values() for group in one.param_groups]
        first, *others = (one.defaults for one in self.members.values())
        shared = {name for name in first if all(name in other for other in others)}
        try:  # schedules look among the defaults for momentum
            super().__init__(groups, {name: first[name] for name in first if name in shared})
        except ValueError:  # torch says it of groups, which the caller has not made
            names = " and ".join(self.members)
            raise ConfigError(f"a parameter is in two of the optimizers {names}") from None
        for one in self.members.values():
            self.state.update(one.state)
        self._share()

    def step(self, closure: Callable[[], Any] | None = None) -> None:  # type: ignore[override]
        """Let each move its weights."""
        for one in self.members.values():
            one.step()

    def step_member(self, name: str) -> None:
        """Let one move its weights."""
        self.members[name].step()
        self._opt_called = True  # torch's schedules ask the optimizer that they move

    def load_state_dict(self, state_dict: Any) -> None:
        """Take back what `state_dict` gave, in every member."""
        super().load_state_dict(state_dict)
        self._share()

    def weights(self, name: str) -> list[Tensor]:
        """Those that a member moves."""
        groups = self.members[name].param_groups
        return [weight for group in groups for weight in group["params"]]

    def owner(self, weight: Tensor) -> Optimizer:
        """The member that moves a weight."""
        return next(
            one
            for name, one in self.members.items()
            if any(weight is part for part in self.weights(name))
        )

    def _share(self) -> None:
        """The members have the group's own lists: what is changed in one is changed in both."""
        place = 0
        for one in self.members.values():
            count = len(one.param_groups)
            one.param_groups, one.state = self.param_groups[place : place + count], self.state
            place += count
