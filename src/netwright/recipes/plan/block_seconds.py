"""How long the host takes to start the kernels of a block of a GPT, while it is trained.

    seconds of a block = t / L        of an update of L blocks, so small that the device waits

The update is the trainer's own: forward pass in mixed precision, loss, backward pass, the look for
numbers that are not finite and the step of AdamW, without a CUDA graph. What is around the blocks
counts with them. Of several updates the median counts: pauses of the host are part of its time.

The way of a block is one of four: its weights are whole or sharded, with a process alone; and what
it made inside is kept, or computed again in the backward pass.
"""

import time
from itertools import pairwise, product
from statistics import median
from typing import NamedTuple

import torch

from netwright.core.seeding import generator, seeded
from netwright.data.array_encoder import ArrayEncoder
from netwright.data.dataset import Data
from netwright.data.loading.windows import WindowSplit
from netwright.data.spec import DataSpec
from netwright.models.catalog import MODELS
from netwright.train.callback import Callback
from netwright.train.callbacks.non_finite import GuardNonFinite
from netwright.train.ranks import joined
from netwright.train.settings import TrainConfig
from netwright.train.state import TrainState
from netwright.train.tasks.catalog import task_for
from netwright.train.trainer import Trainer

LAYERS = 24  # L: what is around them counts little, and the GPU is done with them at once
HEADS, WIDTH = 2, 128  # heads of 64 features, for which torch chooses the kernel of large models
TEXTS, TOKENS, VOCABULARY = 1, 128, 64  # whole tiles of keys, as 1,024 are: see fused_attention
FIRST, TIMED = 5, 20  # updates before those that count, and these
TIMEOUT = 60.0


class BlockSeconds(NamedTuple):
    """Seconds of the host for each block and batch, by the way of a block.

    Args:
        block: weights are whole.
        block_again: the same, and the block is computed again.
        shards: weights are sharded.
        shards_again: the same, and the block is computed again.
    """

    block: float
    block_again: float
    shards: float
    shards_again: float


def measure_blocks(
    device: torch.device, *, layers: int = LAYERS, timed: int = TIMED
) -> BlockSeconds:
    """Train a stack of tiny blocks in each of the four ways.

    Args:
        device: that computes.
        layers: L.
        timed: updates that count.
    """
    ways = product((False, True), repeat=2)
    updates = (
        seconds_of_update(device, shard=shard, recompute=recompute, layers=layers, timed=timed)
        for shard, recompute in ways
    )
    return BlockSeconds(*(seconds / layers for seconds in updates))


def seconds_of_update(
    device: torch.device, *, shard: bool, recompute: bool, layers: int, timed: int
) -> float:
    """Of a stack of so many blocks, the median of the updates that count."""
    spec = DataSpec(
        inputs="tokens",
        input_shape=(TOKENS,),
        target="tokens",
        num_outputs=VOCABULARY,
        vocab_size=VOCABULARY,
    )
    updates = FIRST + timed
    count = updates * TEXTS * TOKENS + 1  # one pass: between two, much else is done
    stream = torch.randint(VOCABULARY, (count,), generator=generator(0, "tokens"))
    data = Data(
        name="random tokens",
        spec=spec,
        train=WindowSplit(stream=stream, window=TOKENS, stride=TOKENS),
        preprocessor=ArrayEncoder(input_shape=(TOKENS,), target="class", num_outputs=VOCABULARY),
    )
    kind = MODELS.load("gpt")
    with seeded(0):
        sizes = {"layers": layers, "heads": HEADS, "width": WIDTH}
        model = kind.build(kind.settings(**sizes), spec)
    config = TrainConfig(
        max_steps=updates,
        batch_size=TEXTS,
        optimizer="adamw",
        precision="bf16-mixed",
        activation_checkpointing=recompute,
        parallel="shard" if shard else "replicate",
        capture="off",
        device=str(device),
    )
    clock = _Clock()
    with joined(TIMEOUT, shards=shard) as ranks:
        trainer = Trainer(config, task_for(data), callbacks=[GuardNonFinite(), clock], ranks=ranks)
        trainer.fit(trainer.start(model, data), data)
    return median(after - before for before, after in pairwise(clock.ends[FIRST - 1 :]))


class _Clock(Callback):
    """When each update was over for the host."""

    def __init__(self) -> None:
        self.ends: list[float] = []

    def on_step_end(self, state: TrainState) -> None:
        self.ends.append(time.perf_counter())
