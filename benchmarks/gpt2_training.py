"""How fast GPT-2 is trained on CUDA, beside nanoGPT: tokens a second, memory, loss.

Measured: GPT-2 of 124 million weights without dropout, texts of 1,024 tokens, bfloat16. Tokens are
the words of WikiText-2 by how often they occur, in the vocabulary of GPT-2's size.

    nanoGPT    its network, whose vocabulary is filled up to 50,304, and the loop of its train.py:
               torch.compile, autocast, fused AdamW that decays matrices alone, gradients cut at
               length 1, a loss read every 10 updates. Its batches come from the device here
    netwright  `fit` as it is, in memory, compiled and not: progress, history, the share of right
               tokens, the doctor, the guard against numbers that are not finite; the same settings

All begin with the same weights and read the same batches in the same order. In each round all take
a turn, in an order drawn anew. The clock runs over wall seconds and waits for the device at both
ends. What is compiled is compiled before, in a turn of a few updates; what a run of netwright tells
as its seconds of compiling, which are no training, is off the clock. Memory is the most that was
allocated in a turn, without the weights of the others.

    ratio = median over rounds of (seconds of nanoGPT / seconds of the contestant)

The gate: losses of texts that were not learned from are equal afterwards, to 0.05. They are not the
same numbers: nanoGPT has 47 tokens more, and another form of the GELU.

`--nanogpt FOLDER` is a checkout of nanoGPT; only its model.py is read. `--small` is a try of a few
seconds on a CPU.
"""

import argparse
import copy
import gc
import importlib.util
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from contest import unseen
from reporting import Row, add_json_option, quartiles, show, spread
from torch import Tensor, nn

from netwright.core.seeding import generator
from netwright.data.array_encoder import ArrayEncoder
from netwright.data.dataset import Data
from netwright.data.loading.windows import WindowSplit
from netwright.data.spec import DataSpec
from netwright.data.text.published import ARTICLES, read_published
from netwright.recipes.fitting.fit import prepare
from netwright.recipes.fitting.gradient_fit import gradient_fit
from netwright.recipes.fitting.prepared import RunContext

YARDSTICK = "nanoGPT"
FILL = 64
LR, DECAY, BETAS, LONGEST = 3e-4, 0.1, (0.9, 0.95), 1.0
TRIED = 4  # updates before the first round
SCORED = 16  # texts of the gate
TOLERANCE = 0.05
COLUMNS = {
    "by": ("name", ""),
    "tokens/s": ("tokens_per_s", ",.0f"),
    "ms a step": ("ms", ".2f"),
    "ratio": ("ratio", ".3f"),
    "quartiles": ("spread", ""),
    "GiB": ("gib", ".1f"),
    "s before": ("first_s", ".1f"),
    "loss after": ("loss", ".4f"),
    "remarks": ("remarks", ""),
}


class Setting(NamedTuple):
    """The network, and how much it reads."""

    vocabulary: int
    layers: int
    heads: int
    width: int
    window: int
    batch_size: int


GPT2 = Setting(50257, 12, 12, 768, 1024, 64)
SMALL = Setting(5003, 2, 2, 32, 32, 4)


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--nanogpt", type=Path, metavar="FOLDER", help="a checkout of nanoGPT")
    options.add_argument("--rounds", type=int, default=3, help="rounds (3)")
    options.add_argument("--steps", type=int, default=100, help="updates a turn (100)")
    options.add_argument("--only", help="contestants beside nanoGPT: a,b")
    options.add_argument("--small", action="store_true", help="a small network on the CPU")
    add_json_option(options)
    return options


@dataclass(frozen=True, kw_only=True)
class Problem:
    """What is learned.

    Args:
        setting: of network and texts.
        train: windows to learn from, on the device, in steps of a turn.
        held: windows to score, (inputs, targets).
    """

    setting: Setting
    train: WindowSplit
    held: tuple[Tensor, Tensor]

    @property
    def device(self) -> torch.device:
        return self.train.stream.device

    @property
    def half(self) -> Any:
        """In bfloat16; on a CPU, where this is only tried out, as it is."""
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda")


def pose(setting: Setting, steps: int, device: str) -> Problem:
    """As many windows of WikiText-2 as make so many updates; they overlap where there are few."""
    words = read_published("wikitext-2", ARTICLES["train"]).split()
    numbers = {word: rank for rank, (word, _) in enumerate(Counter(words).most_common())}
    last = setting.vocabulary - 1
    stream = torch.tensor([min(numbers[word], last) for word in words], device=device)
    window, count = setting.window, steps * setting.batch_size
    held, stream = stream[: SCORED * window + 1], stream[SCORED * window :]
    stride = min(window, (len(stream) - 1 - window) // (count - 1))
    stream = stream[: (count - 1) * stride + window + 1]
    return Problem(
        setting=setting,
        train=WindowSplit(stream=stream, window=window, stride=stride),
        held=(held[:-1].view(SCORED, window), held[1:].view(SCORED, window)),
    )


class Turn(NamedTuple):
    """A contestant that is ready.

    Args:
        train: so many updates, or all, from the first weights on; gives seconds off the clock.
        network: what it trains.
        loss: of texts (B, T) and what follows each place.
    """

    train: Callable[[int | None], float]
    network: nn.Module
    loss: Callable[[Tensor, Tensor], Tensor]


def netwright(problem: Problem, first: Mapping[str, Tensor], *, compiles: bool) -> Turn:
    """What `fit` does between loading the data and measuring the result, kept in memory."""
    setting = problem.setting
    shape = (setting.window,)
    spec = DataSpec(
        inputs="tokens",
        input_shape=shape,
        target="tokens",
        num_outputs=setting.vocabulary,
        vocab_size=setting.vocabulary,
    )
    encoder = ArrayEncoder(input_shape=shape, target="class", num_outputs=setting.vocabulary)
    prepared = prepare(
        "gpt",
        Data(name="wikitext-2", spec=spec, train=problem.train, preprocessor=encoder),
        layers=setting.layers,
        heads=setting.heads,
        width=setting.width,
        epochs=1,
        batch_size=setting.batch_size,
        optimizer="adamw",
        optimizer_options={"betas": list(BETAS)},
        kernel="fused",
        lr=LR,
        weight_decay=DECAY,
        penalize="weights",
        clip_norm=LONGEST,
        precision="bf16-mixed" if problem.device.type == "cuda" else "fp32",
        compile=compiles,
        device=problem.device.type,
    )
    network = prepared.model
    start = copy.deepcopy(dict(first) or network.state_dict())

    def train(steps: int | None) -> float:
        network.load_state_dict(start)
        limited = replace(prepared.recipe.train, max_steps=steps)
        recipe = replace(prepared.recipe, train=limited)
        return gradient_fit(replace(prepared, recipe=recipe), RunContext()).compile_seconds

    def loss(tokens: Tensor, targets: Tensor) -> Tensor:
        return F.cross_entropy(network(tokens).flatten(0, 1).float(), targets.flatten())

    return Turn(train, network, loss)


def nanogpt(problem: Problem, first: Mapping[str, Tensor], *, checkout: Path) -> Turn:
    """Its network and its loop."""
    source = importlib.util.spec_from_file_location("nanogpt_model", checkout / "model.py")
    theirs = importlib.util.module_from_spec(source)
    sys.modules["nanogpt_model"] = theirs  # a dataclass looks itself up
    source.loader.exec_module(theirs)
    setting, device = problem.setting, problem.device
    network = theirs.GPT(
        theirs.GPTConfig(
            block_size=setting.window,
            vocab_size=setting.vocabulary + -setting.vocabulary % FILL,
            n_layer=setting.layers,
            n_head=setting.heads,
            n_embd=setting.width,
        )
    )
    with torch.no_grad():
        own = network.transformer.state_dict()
        for name, weight in first.items():
            own[name][: len(weight)] = weight
    network.to(device)
    start = copy.deepcopy(network.state_dict())
    run = torch.compile(network) if device.type == "cuda" else network
    windows = problem.train
    order = torch.randperm(len(windows), generator=generator(0, "order", 0)).to(device)

    def train(steps: int | None) -> float:
        network.load_state_dict(start)
        network.train()
        optimizer = network.configure_optimizers(DECAY, LR, BETAS, device.type)
        for number, rows in enumerate(order.split(setting.batch_size)[:steps]):
            with problem.half:
                _, loss = run(windows.inputs[rows], windows.targets[rows])
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), LONGEST)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            if number % 10 == 0:
                print(f"iter {number}: loss {loss.item():.4f}")
        return 0.0

    return Turn(train, network, lambda tokens, targets: network(tokens, targets)[1])


@dataclass
class Record:
    """What a contestant did, round by round."""

    turn: Turn | None = None
    first_s: float = 0.0
    seconds: list[float] = field(default_factory=list)
    bytes: int = 0


def take_turn(
    record: Record, turn: Turn, device: torch.device, steps: int | None = None
) -> tuple[float, float]:
    """The seconds on the clock, and those off it."""
    gc.collect()
    on_gpu = device.type == "cuda"
    if on_gpu:
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        torch.cuda.synchronize()
    started = time.perf_counter()
    aside = turn.train(steps)
    if on_gpu:
        torch.cuda.synchronize()
        own = sum(part.nbytes for part in turn.network.parameters())
        record.bytes = torch.cuda.max_memory_allocated() - before + own
    return time.perf_counter() - started - aside, aside


def run_contest(
    problem: Problem, contestants: Mapping[str, Callable[..., Turn]], rounds: int
) -> dict[str, Record]:
    """All are tried, then take a turn in each round."""
    order, records = random.Random(0), {name: Record() for name in contestants}
    first: Mapping[str, Tensor] = {}
    for name, get_ready in contestants.items():  # ours come first: theirs take their weights
        with unseen():
            records[name].turn = turn = get_ready(problem, first)
            first = first or copy.deepcopy(turn.network.state_dict())
            records[name].first_s = sum(take_turn(records[name], turn, problem.device, TRIED))
    for _ in range(rounds):
        for name in order.sample(list(contestants), len(contestants)):
            with unseen():
                seconds, _ = take_turn(records[name], records[name].turn, problem.device)
            records[name].seconds.append(seconds)
    return records


@torch.no_grad()
def loss_after(problem: Problem, turn: Turn) -> float:
    turn.network.eval()
    parts = zip(*(part.split(4) for part in problem.held), strict=True)
    with problem.half:
        losses = [turn.loss(*part).item() for part in parts]
    return sum(losses) / len(losses)


def summary(
    name: str, records: Mapping[str, Record], losses: Mapping[str, float], tokens: int, steps: int
) -> Row:
    record, yardstick = records[name], records.get(YARDSTICK)
    seconds = quartiles(record.seconds)[1]
    row = {
        "name": name,
        "tokens_per_s": tokens / seconds,
        "ms": 1e3 * seconds / steps,
        "gib": record.bytes / 2**30,
        "first_s": record.first_s - TRIED * seconds / steps,
        "loss": losses[name],
        "remarks": "",
        "rounds": len(record.seconds),
        "seconds": record.seconds,
    }
    if yardstick is None:
        return row
    pairs = zip(yardstick.seconds, record.seconds, strict=True)
    low, ratio, high = quartiles([theirs / own for theirs, own in pairs])
    if abs(losses[name] - losses[YARDSTICK]) > TOLERANCE:
        row["remarks"] = "ANOTHER LOSS than nanoGPT"
    return {**row, "ratio": ratio, "ratio_quartiles": [low, high], "spread": spread(low, high)}


def matmul_rate() -> float:
    """TFLOP/s of a large product in bfloat16."""
    side, times = 8192, 20
    left, right = torch.randn(2, side, side, device="cuda", dtype=torch.bfloat16)
    left @ right
    torch.cuda.synchronize()
    started = time.perf_counter()
    for _ in range(times):
        left @ right
    torch.cuda.synchronize()
    return times * 2 * side**3 / (time.perf_counter() - started) / 1e12


def chosen(options: argparse.Namespace) -> dict[str, Callable[..., Turn]]:
    """The contestants, ours first."""
    ours: dict[str, Callable[..., Turn]] = {
        "netwright-compiled": partial(netwright, compiles=not options.small),
        "netwright": partial(netwright, compiles=False),
    }
    only: Sequence[str] = options.only.split(",") if options.only else list(ours)
    found = {name: ready for name, ready in ours.items() if name in only}
    if options.nanogpt is not None:
        found[YARDSTICK] = partial(nanogpt, checkout=options.nanogpt)
    return found


def main() -> None:
    options = parser().parse_args()
    if not options.small and not torch.cuda.is_available():
        raise SystemExit("GPT-2 is left out: it takes a graphics card; --small is for a CPU")
    device, setting = ("cpu", SMALL) if options.small else ("cuda", GPT2)
    problem = pose(setting, options.steps, device)
    contestants = chosen(options)
    records = run_contest(problem, contestants, options.rounds)
    losses = {name: loss_after(problem, record.turn) for name, record in records.items()}
    tokens = options.steps * setting.batch_size * setting.window
    rows = [summary(name, records, losses, tokens, options.steps) for name in contestants]
    place = "CPU"
    if device == "cuda":
        name = torch.cuda.get_device_name()
        place = f"{name}, torch {torch.__version__}, matmul {matmul_rate():.0f} TFLOP/s"
    title = f"{setting.batch_size} x {setting.window} tokens, {options.steps} steps a turn, {place}"
    show(rows, COLUMNS, title=title, as_json=options.json)


if __name__ == "__main__":
    main()
