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
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from netwright.core.devices import device_of
from netwright.core.finding import Finding
from netwright.core.outputs import Output
from netwright.core.seeding import seeded
from netwright.core.trees import count_numbers, count_rows, flat_rows, move
from netwright.data.checkup.examination import Undecided
from netwright.data.checkup.wording import counted, first_few
from netwright.data.dataset import Data
from netwright.data.loading.loader import Batch
from netwright.optimizers import eager
from netwright.recipes.fitting.prepared import Prepared
from netwright.train.tasks.catalog import task_for
from netwright.train.tasks.task import Task

MOST_ROWS = 8
MANY_TARGETS = frozenset({"tokens", "tags", "mask"})  # in one row: two rows are enough
RATES = (1e-2, 1e-3)  # the first is quick, the second is safe
STEPS = 300
BLIND_STEPS = 50  # quasi-Newton ones, for one answer to all rows
LEAST_STEPS = 5  # a head that starts at zero lets no gradient through at the first
FLAT = 1e-6  # a loss that starts below has no gradient to hand on
LEARNED = 0.1  # of the first loss: then the rows are as good as known
STUCK = 0.75  # of the loss without inputs: a model that hears them comes far below
MOST_SECONDS = 4.0  # of work, for all rates together


@dataclass(frozen=True, kw_only=True)
class OneBatch:
    """What came of learning a batch by heart.

    Args:
        rows: of the batch.
        first: the loss before the first step.
        last: the smallest one that was reached.
        blind: the least loss of one answer to all rows; 0 where the rows were learned, or where
            the loss is of more than the prediction.
        steps: that were taken at the last rate.
        is_finished: every step was taken, or fewer were enough; else time was up.
        is_contradictory: equal inputs of the batch have different targets.
        untouched: parameters that are to learn and stayed as they were.
    """

    rows: int
    first: float
    last: float
    blind: float
    steps: int
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
        # Rows of one target are learned without inputs: then the start alone can be compared with.
        blind = self.blind if self.blind > LEARNED * self.first else self.first
        return self.is_finished and not self.is_learned and not self.last <= STUCK * blind

    def answer(self) -> Finding | Undecided | None:
        """What should worry; where it is learned in part only, so much."""
        if self.is_stuck:
            return self._stuck()
        if self.untouched and self.first > FLAT:
            return Finding(
                illness="frozen-part",
                sentence=f"no gradient reaches {self._untouched_names}: {self.steps} steps left "
                f"{'it' if len(self.untouched) == 1 else 'them'} unchanged",
                fix=LOOK_THERE,
                see="reverse-mode-cost",
            )
        if self.is_learned:
            return None
        came = f"the loss went from {self.first:.3g} to {self.last:.3g}"
        if self.is_finished:
            return Undecided(f"they were partly learned, {came}")
        return Undecided(f"time was up after {counted(self.steps, 'step')}, {came}")

    @property
    def _untouched_names(self) -> str:
        return first_few([repr(one) for one in self.untouched])

    def _stuck(self) -> Finding:
        sentence = (
            f"{self.rows} rows cannot be memorised: in {STEPS} steps their loss only went from "
            f"{self.first:.3g} to {self.last:.3g}"
        )
        if self.blind:
            sentence += f", and a constant prediction has {self.blind:.3g}"
        fix = "Check that each target belongs to its input, and that the model is large enough"
        if self.is_contradictory:
            sentence += "; equal rows among them have different targets"
            fix = "Fix the targets of equal rows"
        elif self.untouched:
            sentence += f"; no gradient reaches {self._untouched_names}"
            fix = LOOK_THERE
        return Finding(
            illness="cannot-overfit", sentence=sentence, fix=fix, see="universal-approximation"
        )


LOOK_THERE = "Look between it and the loss for detach() and no_grad(), or whether it is used at all"


def overfit_one_batch(prepared: Prepared) -> OneBatch:
    """Let copies of the model learn a few rows by heart; dropout and label smoothing rest."""
    settings = replace(prepared.recipe.train, label_smoothing=0.0)
    task = task_for(prepared.data, settings, scale_targets=prepared.own.loss is None)
    task.own_loss = prepared.task.own_loss
    batch = _few_rows(prepared.data, device_of(prepared.model))
    losses: list[float] = []
    is_finished = True
    for lr in RATES:
        model, until = _at_rest(prepared.model), time.thread_time() + MOST_SECONDS / len(RATES)
        with seeded(prepared.recipe.seed):
            taken = _losses(model, batch, task, lr, until)
        losses += taken
        is_learned = min(losses) <= LEARNED * losses[0]
        is_finished &= is_learned or time.thread_time() < until
        if is_learned:
            break
    return OneBatch(
        rows=count_rows(batch.inputs),
        first=losses[0],
        last=min(losses),
        blind=0.0 if is_learned else _blind_loss(prepared.model, batch, task),
        steps=len(taken) - 1,
        is_finished=is_finished or is_learned,
        is_contradictory=_is_contradictory(batch),
        untouched=_unchanged(prepared.model, model)
        if len(taken) > LEAST_STEPS or is_finished
        else (),
    )


def _few_rows(data: Data, device: torch.device) -> Batch:
    """Rows of as many classes as can be; no more than a linear model can tell apart."""
    most = 2 if data.spec.target in MANY_TARGETS else MOST_ROWS
    first = torch.zeros(1, dtype=torch.int64, device=data.train.targets.device)
    most = min(most, count_numbers(data.train.read(first)) + 1, len(data.train))
    targets = data.train.targets.cpu()
    rows = torch.arange(most)
    if data.spec.target == "class":
        # The place of each row among those of its class: the first of every class come first.
        hot = nn.functional.one_hot(targets, data.spec.num_outputs)
        place = (hot.cumsum(dim=0) * hot).sum(dim=1)
        rows = place.argsort(stable=True)[:most]
    rows = rows.to(data.train.targets.device)
    inputs, chosen = data.train.read(rows), data.train.targets[rows]
    return Batch(move(inputs, device), chosen.to(device), None, rows)


def _at_rest(model: nn.Module) -> nn.Module:
    """A copy in which only what learning needs is at work: batch norm, as in the first step."""
    model = copy.deepcopy(model).to(device_of(model))  # cuDNN wants weights in one piece
    for part in model.modules():  # cuDNN has no backward pass of recurrences that rest
        part.training = isinstance(part, nn.RNNBase | _BatchNorm)
    return model


def _losses(model: nn.Module, batch: Batch, task: Task, lr: float, until: float) -> list[float]:
    """The loss before each step, until it is small, all steps are taken, or time is up."""
    learned = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = eager.Adam(learned, lr=lr) if learned else None
    losses: list[float] = []
    for step in range(STEPS + 1):
        loss = task.loss(model(task.inputs(batch)), batch)
        losses.append(float(loss.detach()))
        is_known = losses[-1] <= LEARNED * losses[0] and step >= LEAST_STEPS
        is_over = is_known or time.thread_time() >= until
        if is_over or optimizer is None or not loss.requires_grad:
            break
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return losses


def _blind_loss(model: nn.Module, batch: Batch, task: Task) -> float:
    """The least loss of one answer to all rows, found by a quasi-Newton method."""
    with torch.no_grad():
        outputs = _at_rest(model)(batch.inputs)
    if isinstance(outputs, Output):
        if outputs.whole is not None:
            return 0.0
        outputs = outputs.logits
    answer = nn.Parameter(torch.zeros_like(outputs[:1], dtype=torch.float32))
    optimizer = eager.LBFGS([answer], max_iter=BLIND_STEPS, line_search_fn="strong_wolfe")

    def measure() -> Tensor:
        optimizer.zero_grad()
        loss = task.loss(answer.expand_as(outputs), batch)
        loss.backward()  # type: ignore[no-untyped-call]
        return loss

    optimizer.step(measure)
    return float(measure().detach())


def _unchanged(before: nn.Module, after: nn.Module) -> tuple[str, ...]:
    """The parameters that are to learn and have not: Adam moves all that a gradient reaches."""
    learned = dict(after.named_parameters())
    return tuple(
        name
        for name, parameter in before.named_parameters()
        if parameter.requires_grad and parameter.numel() and torch.equal(parameter, learned[name])
    )


def _is_contradictory(batch: Batch) -> bool:
    """Whether two equal inputs have different targets."""
    inputs = flat_rows(batch.inputs)
    targets = batch.targets.reshape(len(inputs), -1).double()
    both = torch.cat([inputs, targets], dim=1)
    return len(torch.unique(inputs, dim=0)) < len(torch.unique(both, dim=0))
