"""Ranks that start in a moment: forked from one process that has imported torch already."""

import multiprocessing
import os
import sys
from collections.abc import Callable
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import torch
import torch._dynamo  # the first optimizer would import it, in every rank anew

import netwright.recipes.fitting.fit  # noqa: F401 - likewise
from netwright.recipes.fitting.launch import rank_environment

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload([__name__])


def start_ranks(
    folder: Path, world: int, work: Callable[..., object], *given: Any
) -> list[ForkServerProcess]:
    """Processes that find each other and do the work; each has its errors in `folder`/errors-RANK.

    Args:
        folder: empty, and there as long as they work.
        world: how many.
        work: a function of a module, and `given` what it is called with.
        *given: see `work`.
    """
    started = [
        FORKS.Process(target=_be_rank, args=(folder, rank, world, work, given))
        for rank in range(world)
    ]
    for process in started:
        process.start()
    return started


def _be_rank(
    folder: Path, rank: int, world: int, work: Callable[..., object], given: tuple[Any, ...]
) -> None:
    torch.set_num_threads(1)
    os.environ.update(rank_environment(rank, world, folder))
    errors = os.open(folder / f"errors-{rank}", os.O_WRONLY | os.O_CREAT, 0o600)
    os.dup2(errors, sys.stderr.fileno())
    work(*given)
