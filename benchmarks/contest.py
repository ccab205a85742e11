"""A training of some epochs by several contestants in turn, in one process.

Fairness: every contestant gets the same tensors, the same first weights (where it lets us set
them), the same optimizer and the same number of threads. It is built anew before each of its
turns, outside the clock; the clock runs over its one call that trains. The order is drawn anew in
each round (a mere rotation would leave each behind the same neighbour), the first round only warms
up. The yardstick of a round is the hand-written loop of that same round.
Shapes: N samples, B batch.
"""

import contextlib
import copy
import gc
import io
import random
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as F
from reporting import quartiles, spread
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

YARDSTICK = "by-hand"
FLOP_PER_SAMPLE = 6 * (784 * 256 + 256 * 128 + 128 * 10)  # 2 forward, 4 backward a weight


@dataclass(frozen=True, kw_only=True)
class Problem:
    """What is to be trained: the MLP 784-256-128-10.

    Args:
        inputs: images (N, 784), float32.
        labels: classes (N,), int64.
        kernel: how torch's Adam steps, "foreach" or "fused"; empty: nothing is said of it, nor of
            anything else that a library chooses by itself.
        epochs: passes over the samples.
        batch_size: samples a step.
        lr: Adam's learning rate; its other settings are torch's.
    """

    inputs: Tensor
    labels: Tensor
    kernel: str
    epochs: int = 1
    batch_size: int = 128
    lr: float = 1e-3
    _network: nn.Module = field(init=False, repr=False)

    def __post_init__(self) -> None:
        torch.manual_seed(0)
        layers = [nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU()]
        object.__setattr__(self, "_network", nn.Sequential(*layers, nn.Linear(128, 10)))

    def network(self) -> nn.Sequential:
        """A new copy with the first weights that all share."""
        return copy.deepcopy(self._network)

    @property
    def adam_settings(self) -> dict[str, Any]:
        return {"lr": self.lr, **({self.kernel: True} if self.kernel else {})}

    def adam(self, network: nn.Module) -> torch.optim.Adam:
        return torch.optim.Adam(network.parameters(), **self.adam_settings)

    def item_loader(self) -> DataLoader:
        """What tutorials show: one sample at a time, stacked by torch's default collation."""
        data = TensorDataset(self.inputs, self.labels)
        return DataLoader(data, batch_size=self.batch_size, shuffle=True)

    def batch_loader(self) -> DataLoader:
        """The quickest way through torch's DataLoader: one indexing a batch, nothing to stack."""
        data = BatchIndexed(self.inputs, self.labels)
        return DataLoader(data, batch_size=self.batch_size, shuffle=True, collate_fn=unchanged)


class BatchIndexed(Dataset):
    """Tensors that hand out a whole batch at once, through the hook DataLoader has for it."""

    def __init__(self, inputs: Tensor, labels: Tensor) -> None:
        self.inputs, self.labels = inputs, labels

    def __len__(self) -> int:
        return len(self.inputs)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        return self.inputs[index], self.labels[index]

    def __getitems__(self, indices: list[int]) -> tuple[Tensor, Tensor]:
        return self[torch.tensor(indices)]  # (B, 784), (B,)


def unchanged(batch: Any) -> Any:
    """For a collation that has nothing to do."""
    return batch


@dataclass(frozen=True)
class Turn:
    """A contestant that is ready.

    Args:
        train: the one call that is timed.
        logits: what it learned, (N, 784) -> (N, 10); for the gate.
        clean: removes what it wrote, off the clock.
    """

    train: Callable[[], Any]
    logits: Callable[[Tensor], Tensor]
    clean: Callable[[], Any] = lambda: None


@dataclass(frozen=True, kw_only=True)
class Contestant:
    """A row of the table: its name, how to get ready, and what a reader must know."""

    name: str
    prepare: Callable[[Problem], Turn]
    note: str = ""
    own_adam: bool = False  # it cannot take torch's Adam, so the kernel does not reach it


@dataclass
class Record:
    """What a contestant did, round by round."""

    cpu_s: list[float] = field(default_factory=list)
    wall_s: list[float] = field(default_factory=list)
    loss: float = float("nan")
    failure: str = ""


class Terminal(io.StringIO):
    """A terminal that nobody looks at: progress bars are drawn in full, and dropped."""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        return len(text)


@contextlib.contextmanager
def unseen() -> Iterator[None]:
    """Keep what libraries print and warn of out of our own output."""
    with contextlib.redirect_stdout(Terminal()), contextlib.redirect_stderr(Terminal()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield


def take_turn(contestant: Contestant, problem: Problem, *, threads: int, seed: int) -> Record:
    """Build, train under the clock, then measure the loss on the training data."""
    record = Record()
    with unseen():
        turn = contestant.prepare(problem)
        # Some libraries set these for the process: set them back for everybody.
        torch.set_num_threads(threads)
        torch.manual_seed(seed)
        gc.collect()
        cpu, wall = time.process_time(), time.perf_counter()
        turn.train()
        record.cpu_s.append(time.process_time() - cpu)
        record.wall_s.append(time.perf_counter() - wall)
        with torch.no_grad():
            logits = torch.as_tensor(turn.logits(problem.inputs))
            record.loss = F.cross_entropy(logits, problem.labels).item()
        turn.clean()
    return record


def run_contest(
    contestants: Sequence[Contestant], problem: Problem, *, rounds: int, threads: int
) -> dict[str, Record]:
    """Let all train in each round, in an order that changes; the first round is not counted."""
    order = random.Random(0)
    records = {contestant.name: Record() for contestant in contestants}
    for number in range(rounds + 1):
        for contestant in order.sample(contestants, len(contestants)):
            record = records[contestant.name]
            if record.failure:
                continue
            try:
                turn = take_turn(contestant, problem, threads=threads, seed=number)
            except ImportError as error:
                record.failure = f"not installed: {error}"
            except Exception as error:  # a broken peer must not take the others with it
                record.failure = f"failed: {type(error).__name__}: {error}"
            else:
                record.loss = turn.loss
                if number > 0:
                    record.cpu_s += turn.cpu_s
                    record.wall_s += turn.wall_s
        if number == 0:
            # The libraries that came in with the others are not this one's garbage to search.
            gc.collect()
            gc.freeze()
    return records


def summary(contestant: Contestant, records: dict[str, Record], samples: int) -> dict[str, Any]:
    """A row: speed, and speed relative to the hand-written loop round by round."""
    record, yardstick = records[contestant.name], records[YARDSTICK]
    row: dict[str, Any] = {"name": contestant.name, "note": contestant.note}
    if record.failure:
        return {**row, "note": record.failure.splitlines()[0]}
    ratios = [hand / own for hand, own in zip(yardstick.cpu_s, record.cpu_s, strict=True)]
    walls = [hand / own for hand, own in zip(yardstick.wall_s, record.wall_s, strict=True)]
    low, middle, high = quartiles(ratios)
    per_s = quartiles([samples / seconds for seconds in record.wall_s])[1]
    return {
        **row,
        "samples_per_s": per_s,
        "samples_per_cpu_s": quartiles([samples / seconds for seconds in record.cpu_s])[1],
        "gflop_per_s": per_s * FLOP_PER_SAMPLE / 1e9,
        "ratio": middle,
        "ratio_quartiles": [low, high],
        "spread": spread(low, high),
        "wall_ratio": quartiles(walls)[1],
        "train_loss": record.loss,
        "trained": record.loss < 1.25 * yardstick.loss,
        "rounds": len(ratios),
    }
