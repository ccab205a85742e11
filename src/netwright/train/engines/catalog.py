"""The engines that can be named, and which one a run is trained by."""

from typing import Literal

import torch
from torch import nn

from netwright.core.catalog import Catalog
from netwright.train.engines.engine import Engine
from netwright.train.ranks import Ranks, count_processes

Parallel = Literal["auto", "replicate", "shard"]
# Loaded when it is asked for: torch's FSDP takes longer to import than a small network to train.
ENGINES: Catalog[type[Engine]] = Catalog(
    "engine",
    {
        "replicate": "netwright.train.engines.engine:Engine",
        "shard": "netwright.train.engines.sharded:ShardedEngine",
    },
)
STATE_BYTES = 16  # of a weight in float32 with its gradient and Adam's two moments
FEW_ROWS = 2  # one is too few for batch norm
MOST_OF_MEMORY = 0.5  # the rest of a device is for activations


def build_engine(
    parallel: Parallel,
    ranks: Ranks,
    model: nn.Module,
    device: torch.device,
    *,
    can_shard: bool = True,
    offload: bool = False,
) -> Engine:
    """The engine that is named; auto: sharded where a GPU has too little memory for a replica.

    Args:
        parallel: its name.
        ranks: the processes that train together.
        model: what is trained.
        device: of this rank.
        can_shard: auto may choose it: all settings go with it.
        offload: shards wait on the host.
    """
    if parallel == "auto":
        weights = sum(weight.numel() for weight in model.parameters())
        parallel = choose_engine(weights, ranks, _memory(device)) if can_shard else "replicate"
    return ENGINES.load(parallel)(ranks, offload=offload)


def build_device(parallel: Parallel, device: torch.device) -> torch.device:
    """Where a model is built: on its device, or on the host where processes will place it.

    They learn which GPU is whose only when they meet: until then all would build on the first. A
    sharded model need not fit on any.
    """
    is_placed_later = parallel == "shard" or count_processes() > 1
    return torch.device("cpu") if is_placed_later else device


def rows_tried(parallel: Parallel, device: torch.device, rows: int) -> int:
    """How many of these rows are tried first: few where a host does the work of a GPU."""
    is_slow = build_device(parallel, device) != device
    return min(rows, FEW_ROWS) if is_slow else rows


def choose_engine(weights: int, ranks: Ranks, memory: int | None) -> Parallel:
    """How so many weights are held by ranks with so many bytes of memory each; None: of a host."""
    if ranks.is_alone or memory is None or weights * STATE_BYTES <= MOST_OF_MEMORY * memory:
        return "replicate"
    return "shard"


def _memory(device: torch.device) -> int | None:
    if device.type != "cuda":
        return None
    return torch.cuda.get_device_properties(device).total_memory
