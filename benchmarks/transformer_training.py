"""How fast an encoder-decoder and BERT are trained, beside torch.nn.Transformer and `transformers`.

    encoder-decoder  the transformer of 2017, base: 6 + 6 blocks of 512 features, 128 pairs of
                     64 + 64 words of Multi30k, norms before their parts. The yardstick is
                     torch.nn.Transformer with the same embedding, compiled
    bert             BERT-base with both heads of pre-training on 128 texts of 127 words of
                     WikiText-2. The yardstick is BertForPreTraining of `transformers` with SDPA;
                     it is compiled, too

`netwright` is `fit` as it is, in memory, compiled and not: progress, history, the share of right
tokens, the doctor, the guard against numbers that are not finite; BERT's masks are drawn anew in
each batch, which theirs are not. The others are trained by a loop: bfloat16 by autocast, fused
AdamW, gradients cut at length 1, a loss read every 10 updates; their batches are on the device.

All read the same batches in the same order. In each round all take a turn, in an order drawn anew;
every turn is printed as soon as it is over. The clock runs over wall seconds and waits for the
device at both ends. What is compiled is compiled before, in a turn of a few updates.

    ratio = median over rounds of (seconds of the yardstick / seconds of the contestant)

The gate: all begin with the same weights, by which the loss of held-out texts is the same to 0.01,
and after a turn, in which each drops others, to 0.1.

`--small` is a try of a few seconds on a CPU. BERT wants `transformers`.
"""

import argparse
import copy
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from bert_contest import pretraining
from contest import unseen
from environment import enter_bench_environment
from gpt2_training import Record, Turn, matmul_rate, take_turn
from reporting import Row, add_json_option, quartiles, show, spread
from torch import Tensor, nn
from transformer_contest import DROPOUT, Contest, Size, Weights
from translation_contest import translation

from netwright.core.seeding import generator
from netwright.data.array_encoder import ArrayEncoder
from netwright.data.dataset import Data
from netwright.recipes.fitting.fit import prepare
from netwright.recipes.fitting.gradient_fit import gradient_fit
from netwright.recipes.fitting.prepared import RunContext

LR, DECAY, LONGEST = 1e-4, 0.01, 1.0
TRIED = 4  # updates before the first round
BEFORE, AFTER = 0.01, 0.1  # how far the losses of the gate may be apart
COLUMNS = {
    "by": ("name", ""),
    "ms a step": ("ms", ".2f"),
    "ratio": ("ratio", ".3f"),
    "quartiles": ("spread", ""),
    "GiB": ("gib", ".1f"),
    "s before": ("first_s", ".1f"),
    "loss after": ("loss", ".4f"),
    "remarks": ("remarks", ""),
}


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--contests", default="encoder-decoder,bert", help="those, with commas")
    options.add_argument("--only", help="contestants beside the yardstick: a,b")
    options.add_argument("--rounds", type=int, default=3, help="rounds (3)")
    options.add_argument("--steps", type=int, default=50, help="updates a turn (50)")
    options.add_argument("--small", action="store_true", help="small networks on the CPU")
    add_json_option(options)
    return options


CONTESTS = {"encoder-decoder": translation, "bert": pretraining}
SIZES = {
    "encoder-decoder": Size(layers=6, heads=8, width=512, length=64, batch=128, vocabulary=32_000),
    "bert": Size(layers=12, heads=12, width=768, length=127, batch=128, vocabulary=30_522),
}
SMALL = Size(layers=2, heads=2, width=32, length=31, batch=8, vocabulary=5_000)


def by_hand(contest: Contest, first: Weights, *, compiles: bool) -> Turn:
    """The peer, trained by a loop."""
    device, train_split = contest.device, contest.train
    network = contest.peer(contest.size, first).to(device)
    start = copy.deepcopy(network.state_dict())
    run = torch.compile(network) if compiles else network
    order = torch.randperm(len(train_split), generator=generator(0, "order", 0)).to(device)

    def train(steps: int | None) -> float:
        network.load_state_dict(start)
        network.train()
        optimizer = torch.optim.AdamW(
            network.parameters(), lr=LR, weight_decay=DECAY, fused=device.type == "cuda"
        )
        for number, rows in enumerate(order.split(contest.size.batch)[:steps]):
            with half(device):
                loss = run(train_split.inputs[rows], train_split.targets[rows])
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), LONGEST)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            if number % 10 == 0:
                loss.item()
        return 0.0

    return Turn(train, network, network)


def netwright(contest: Contest, first: Weights, *, compiles: bool) -> Turn:
    """What `fit` does between loading the data and measuring the result, kept in memory."""
    size, spec = contest.size, contest.spec
    encoder = ArrayEncoder(
        input_shape=spec.input_shape, target="class", num_outputs=spec.num_outputs
    )
    prepared = prepare(
        contest.model,
        Data(name=contest.title, spec=spec, train=contest.train, preprocessor=encoder),
        layers=size.layers,
        heads=size.heads,
        width=size.width,
        dropout=DROPOUT,
        epochs=1,
        batch_size=size.batch,
        optimizer="adamw",
        kernel="fused" if contest.device.type == "cuda" else "foreach",
        lr=LR,
        weight_decay=DECAY,
        clip_norm=LONGEST,
        precision="bf16-mixed" if contest.device.type == "cuda" else "fp32",
        compile=compiles,
        by_length=False,
        device=contest.device.type,
    )
    network = prepared.model
    start = copy.deepcopy(dict(first) or network.state_dict())

    def train(steps: int | None) -> float:
        network.load_state_dict(start)
        limited = replace(prepared.recipe.train, max_steps=steps)
        recipe = replace(prepared.recipe, train=limited)
        return gradient_fit(replace(prepared, recipe=recipe), RunContext()).compile_seconds

    def loss(inputs: Tensor, targets: Tensor) -> Tensor:
        parts = zip((network(inputs),), (targets,), strict=True)
        if spec.inputs == "masked":  # what is said at [CLS] has a mean of its own
            cuts = (slice(1, None), slice(0, 1))
            parts = ((logits[:, cut], wanted[:, cut]) for logits, wanted in parts for cut in cuts)
        means = [F.cross_entropy(z.flatten(0, 1).float(), y.flatten()) for z, y in parts]
        return torch.stack(means).sum()

    return Turn(train, network, loss)


def half(device: torch.device) -> Any:
    """In bfloat16; on a CPU, where this is only tried out, as it is."""
    return torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda")


def contestants(contest: Contest, options: argparse.Namespace) -> dict[str, Callable[..., Turn]]:
    """Ours first: theirs take our weights."""
    may_compile, yardstick = not options.small, contest.yardstick
    found = {
        "netwright": partial(netwright, compiles=False),
        "netwright-compiled": partial(netwright, compiles=may_compile),
        yardstick: partial(by_hand, compiles=may_compile and contest.is_compiled),
    }
    if not contest.is_compiled:
        found[f"{yardstick}-compiled"] = partial(by_hand, compiles=may_compile)
    only = {yardstick, *options.only.split(",")} if options.only else set(found)
    return {name: ready for name, ready in found.items() if name in only}


def run_contest(contest: Contest, options: argparse.Namespace) -> dict[str, Record]:
    """All are tried, then take a turn in each round; each turn is told."""
    order, records, starts = random.Random(0), {}, {}
    first: Weights = {}
    for name, get_ready in contestants(contest, options).items():
        records[name] = record = Record()
        with unseen():
            record.turn = turn = get_ready(contest, first)
            first = first or copy.deepcopy(turn.network.state_dict())
            before = held_loss(contest, turn)
            record.first_s = sum(take_turn(record, turn, contest.device, TRIED))
        weights = sum(part.numel() for part in turn.network.parameters())
        told = f"{weights:,} weights, loss {before:.4f}, ready after {record.first_s:.1f} s"
        print(f"{name}: {told}", flush=True)
        starts[name] = before
    if max(starts.values()) - min(starts.values()) > BEFORE:
        raise SystemExit(f"the same weights must have the same loss, got {starts}")
    for number in range(options.rounds):
        for name in order.sample(list(records), len(records)):
            with unseen():
                seconds, _ = take_turn(records[name], records[name].turn, contest.device)
            records[name].seconds.append(seconds)
            ms = 1e3 * seconds / options.steps
            print(f"round {number + 1}, {name}: {ms:.2f} ms a step", flush=True)
    return records


@torch.no_grad()
def held_loss(contest: Contest, turn: Turn) -> float:
    """Of texts that are not learned from, nothing dropped."""
    turn.network.eval()
    with half(contest.device):
        return turn.loss(contest.held.inputs, contest.held.targets).item()


def summaries(contest: Contest, records: Mapping[str, Record], steps: int) -> list[Row]:
    losses = {name: held_loss(contest, record.turn) for name, record in records.items()}
    yardstick, rows = contest.yardstick, []
    for name, record in records.items():
        pairs = zip(records[yardstick].seconds, record.seconds, strict=True)
        low, ratio, high = quartiles([theirs / own for theirs, own in pairs])
        is_near = abs(losses[name] - losses[yardstick]) <= AFTER
        rows.append(
            {
                "name": name,
                "contest": contest.title,
                "ms": 1e3 * quartiles(record.seconds)[1] / steps,
                "ratio": ratio,
                "spread": spread(low, high),
                "gib": record.bytes / 2**30,
                "first_s": record.first_s,
                "loss": losses[name],
                "remarks": "" if is_near else f"ANOTHER LOSS than {yardstick}",
                "seconds": record.seconds,
            }
        )
    return rows


def main() -> None:
    options = parser().parse_args()
    enter_bench_environment()
    if not options.small and not torch.cuda.is_available():
        raise SystemExit("networks of this size take a graphics card; --small is for a CPU")
    device, place = "cpu", "CPU"
    if not options.small:
        device = "cuda"
        place = f"{torch.cuda.get_device_name()}, torch {torch.__version__}, "
        place += f"matmul {matmul_rate():.0f} TFLOP/s"
    for name in options.contests.split(","):
        size = SMALL if options.small else SIZES[name]
        contest = CONTESTS[name](size, options.steps, device)
        rows = summaries(contest, run_contest(contest, options), options.steps)
        title = f"{name}, {size}, {options.steps} steps a turn, {place}"
        show(rows, COLUMNS, title=title, as_json=options.json)


if __name__ == "__main__":
    main()
