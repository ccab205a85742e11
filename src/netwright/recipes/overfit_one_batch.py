"""Learn a few rows by heart: a model that cannot do that will not learn many.

What stands in the way is seldom the task: a part that no gradient reaches, a frozen one, a loss
that does not belong to the target, or equal inputs with different targets.

Shapes: B rows of the batch.
Source: Karpathy, "A recipe for training neural networks" (2019), "overfit one batch".
"""

import copy
import time
from dataclasses import dataclass, replace

import torch
from torch import nn

from netwright.core.devices import device_of
from netwright.core.finding import Finding
from netwright.core.seeding import seeded
from netwright.data.checkup.check import first_few
from netwright.data.dataset import Data
from netwright.data.loader import Batch
from netwright.recipes.prepared import Prepared
from netwright.train.tasks.catalog import task_for
from netwright.train.tasks.task import Task

MOST_ROWS = 8
MANY_TARGETS = frozenset({"tokens", "tags", "mask"})  # in one row: two rows are enough
RATES = (1e-2, 1e-3)  # the first is quick, the second is safe
STEPS = 300
LEARNED = 0.1  # of the first loss: then the rows are as good as known
STUCK = 0.5  # of the first loss: a bias alone, which knows the targets, hardly comes below
MOST_SECONDS = 4.0  # of work, for all rates together


@dataclass(frozen=True, kw_only=True)
class OneBatch:
    """What came of learning a batch by heart.

    Args:
        rows: of the batch.
        first: the loss before the first step.
        last: the smallest one that was reached.
        is_finished: every step was taken, or fewer were enough; else time was up.
        is_contradictory: equal inputs of the batch have different targets.
        untouched: parameters that no gradient reaches, where it is stuck.
    """

    rows: int
    first: float
    last: float
    is_finished: bool
    is_contradictory: bool
    untouched: tuple[str, ...] = ()

    @property
    def is_learned(self) -> bool:
        """Whether the rows are as good as known by heart."""
        return self.last <= LEARNED * self.first

    @property
    def is_stuck(self) -> bool:
        """Whether the loss stayed, all through, where knowing no input would bring it."""
        return self.is_finished and not self.last <= STUCK * self.first  # nor is NaN any less

    def finding(self) -> Finding | None:
        """Why this should worry, where it should."""
        if not self.is_stuck:
            return None
        sentence = (
            f"{self.rows} rows cannot be learned by heart: in {STEPS} steps their loss came from "
            f"{self.first:.3g} to {self.last:.3g} only"
        )
        fix = "See that each target belongs to its input, and that the model is large enough"
        if self.is_contradictory:
            sentence += "; equal rows among them have different targets"
            fix = "Mend the targets of equal rows"
        elif self.untouched:
            sentence += f"; no gradient reaches {first_few([repr(one) for one in self.untouched])}"
            fix = "Look there for detach(), no_grad() and requires_grad=False"
        return Finding(
            illness="cannot-overfit", sentence=sentence, fix=fix, see="universal-approximation"
        )


def overfit_one_batch(prepared: Prepared) -> OneBatch:
    """Let copies of the model learn a few rows by heart; dropout and label smoothing rest."""
    settings = replace(prepared.recipe.train, label_smoothing=0.0)
    task = task_for(prepared.data, settings)
    batch = _few_rows(prepared.data, device_of(prepared.model))
    until = time.thread_time() + MOST_SECONDS
    losses: list[float] = []
    for lr in RATES:
        with seeded(prepared.recipe.seed):
            losses += _losses(_at_rest(prepared.model), batch, task, lr, until)
        if min(losses) <= LEARNED * losses[0] or time.thread_time() >= until:
            break
    tried = OneBatch(
        rows=len(batch.inputs),
        first=losses[0],
        last=min(losses),
        is_finished=time.thread_time() < until,
        is_contradictory=_is_contradictory(batch),
    )
    if not tried.is_stuck:
        return tried
    return replace(tried, untouched=_untouched(_at_rest(prepared.model), batch, task))


def _few_rows(data: Data, device: torch.device) -> Batch:
    """Rows of as many classes as can be; no more than a linear model can tell apart."""
    most = 2 if data.spec.target in MANY_TARGETS else MOST_ROWS
    most = min(most, data.spec.num_features + 1, len(data.train))
    targets = data.train.targets.cpu()
    rows = torch.arange(most)
    if data.spec.target == "class":
        # The place of each row among those of its class: the first of every class come first.
        hot = nn.functional.one_hot(targets, data.spec.num_outputs)
        place = (hot.cumsum(dim=0) * hot).sum(dim=1)
        rows = place.argsort(stable=True)[:most]
    rows = rows.to(data.train.targets.device)
    inputs, chosen = data.train.read(rows), data.train.targets[rows]
    return Batch(inputs.to(device), chosen.to(device), None, rows)


def _at_rest(model: nn.Module) -> nn.Module:
    model = copy.deepcopy(model).eval()
    for part in model.modules():  # cuDNN has no backward pass of recurrences that rest
        part.training = isinstance(part, nn.RNNBase)
    return model


def _losses(model: nn.Module, batch: Batch, task: Task, lr: float, until: float) -> list[float]:
    """The loss before each step, until it is small, all steps are taken, or time is up."""
    learned = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.Adam(learned, lr=lr) if learned else None
    losses: list[float] = []
    for _ in range(STEPS + 1):
        loss = task.loss(model(batch.inputs), batch)
        losses.append(float(loss.detach()))
        done = losses[-1] <= LEARNED * losses[0] or time.thread_time() >= until
        if done or optimizer is None or not loss.requires_grad:
            break
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return losses


def _untouched(model: nn.Module, batch: Batch, task: Task) -> tuple[str, ...]:
    """The parameters whose gradient is zero, or not there at all."""
    loss = task.loss(model(batch.inputs), batch)
    if loss.requires_grad:
        loss.backward()  # type: ignore[no-untyped-call]
    return tuple(
        name
        for name, parameter in model.named_parameters()
        if parameter.grad is None or not bool(parameter.grad.any())
    )


def _is_contradictory(batch: Batch) -> bool:
    """Whether two equal inputs have different targets."""
    inputs = batch.inputs.flatten(1).double()
    targets = batch.targets.reshape(len(inputs), -1).double()
    both = torch.cat([inputs, targets], dim=1)
    return len(torch.unique(inputs, dim=0)) < len(torch.unique(both, dim=0))
