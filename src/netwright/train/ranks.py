"""The processes that train one model together, and how each learns that another is lost.

A peer that dies breaks its connections; one that hangs answers nothing for `timeout` seconds. Who
notices leaves a note in the shared store and closes its own connections, so that every rank that
still works notices too: the ranks without a note are the lost ones.

Shapes: N bytes.
"""

import itertools
import json
import os
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed import (  # type: ignore[attr-defined]
    FileStore,
    HashStore,
    PrefixStore,
    Store,
)
from torch.distributed.rendezvous import rendezvous

from netwright.core.errors import ConfigError, PeerError

RENDEZVOUS = "NETWRIGHT_RENDEZVOUS"  # the file in which the ranks of `launch` meet
START = 120.0  # seconds in which all ranks must be there; importing torch alone takes some
GRACE = 1.0  # seconds in which the ranks that still work leave their notes
LOOPBACK = "lo0" if sys.platform == "darwin" else "lo"

_joins = itertools.count()  # a process may train several times: each has keys of its own


@dataclass(frozen=True)
class Ranks:
    """The group seen from one of its processes; alone, everything is free and does nothing.

    Every rank must call the same methods in the same order. A peer that is lost meanwhile is a
    `PeerError`, which names the rank and the work.

    Args:
        rank: which one this is, from 0.
        world: how many there are.
        timeout: seconds that a peer may let the others wait.
        store: where they leave notes; None when alone.
    """

    rank: int = 0
    world: int = 1
    timeout: float = 0.0
    store: Store | None = None

    @property
    def is_alone(self) -> bool:
        """Whether there is no other rank."""
        return self.world == 1

    @property
    def is_first(self) -> bool:
        """Whether this rank speaks and writes for all."""
        return self.rank == 0

    def sum(self, tensor: Tensor, work: str = "a sum") -> Tensor:
        """Replace a tensor by its sum over all ranks."""
        if not self.is_alone:
            with self.guarded(work):
                dist.all_reduce(tensor)
        return tensor

    def sum_gradients(self, model: nn.Module) -> None:
        """Replace every gradient by its sum over all ranks.

        One sum in the order of the parameters: DistributedDataParallel rearranges its own after the
        first update, and three or more ranks that go on from a checkpoint would round otherwise.
        """
        if self.is_alone:
            return
        learned = [weight for weight in model.parameters() if weight.requires_grad]
        grads = [torch.zeros_like(w) if w.grad is None else w.grad for w in learned]
        used = torch.tensor([float(weight.grad is not None) for weight in learned])
        flat = torch.cat([*(grad.flatten() for grad in grads), used.to(grads[0].device)])
        self.sum(flat, "the sum of the gradients")
        *sums, used = torch.split(flat, [*(grad.numel() for grad in grads), len(grads)])
        torch._foreach_copy_(grads, [s.view_as(g) for s, g in zip(sums, grads, strict=True)])
        for index, weight in enumerate(learned):
            if weight.grad is None and used[index]:  # a part that only other ranks used
                weight.grad = grads[index]

    def follow_first(self, tensors: Iterable[Tensor]) -> None:
        """Give every rank the tensors of rank 0, in place."""
        if self.is_alone:
            return
        with self.guarded("the copy of rank 0's buffers"):
            for tensor in tensors:
                dist.broadcast(tensor, 0)

    def any(self, flag: bool, work: str = "an agreement") -> bool:
        """Whether the flag is up on any rank; the way to stop all of them at one step."""
        if self.is_alone:
            return flag
        with self.guarded(work):
            flags = torch.tensor([flag], dtype=torch.uint8)
            dist.all_reduce(flags, op=dist.ReduceOp.MAX)
        return bool(flags)

    def decide(self, flag: bool, work: str = "a decision") -> bool:
        """Whether the flag is up on rank 0, whose clock counts for all."""
        return self.any(flag and self.is_first, work)

    def gather(self, content: bytes, work: str = "a gathering") -> list[bytes]:
        """What each rank gave, in the order of the ranks, on all of them."""
        if self.is_alone:
            return [content]
        with self.guarded(work):
            size = torch.tensor([len(content)])
            sizes = [torch.zeros_like(size) for _ in range(self.world)]
            dist.all_gather(sizes, size)
            padded = torch.zeros(int(max(sizes)), dtype=torch.uint8)  # (N,), N the most of any
            padded[: len(content)] = _to_tensor(content)
            parts = [torch.empty_like(padded) for _ in range(self.world)]
            dist.all_gather(parts, padded)
        return [
            part[: int(size)].numpy().tobytes() for part, size in zip(parts, sizes, strict=True)
        ]

    def tell(self, text: str, work: str = "a word of rank 0") -> str:
        """The text of rank 0, on all ranks."""
        if self.is_alone:
            return text
        with self.guarded(work):
            content = _to_tensor(text.encode())
            size = torch.tensor([len(content)])
            dist.broadcast(size, 0)
            content = content if self.is_first else torch.empty(int(size), dtype=torch.uint8)
            dist.broadcast(content, 0)
        return content.numpy().tobytes().decode()

    def leave(self, note: str, text: str) -> None:
        """Leave a note for another rank; from any thread, unlike what ranks do together."""
        if self.store is not None:
            with _store_in_reach():
                self.store.set(note, text)

    def take(self, note: str) -> str | None:
        """The note that a rank has left, which is then gone; None: there is none yet."""
        with _store_in_reach():
            if self.store is None or not self.store.check([note]):
                return None
            text: str = self.store.get(note).decode()
            self.store.delete_key(note)
        return text

    @contextmanager
    def guarded(self, work: str) -> Iterator[None]:
        """Turn a broken or silent connection in the block into a `PeerError`; no other error."""
        try:
            yield
        except RuntimeError as error:
            if self.store is None or not _is_of_connection(error):
                raise
            raise PeerError(self._find_lost(self.store, work, str(error))) from error

    def _find_lost(self, store: Store, work: str, error: str) -> str:
        """One sentence: which ranks are lost, and in what."""
        notes = {self.rank: {"work": work, "timed_out": "timed out" in error.lower()}}
        # In a thread: a store that lives with a rank that hangs does not answer either.
        exchange = threading.Thread(target=self._exchange, args=(store, notes), daemon=True)
        exchange.start()
        dist.destroy_process_group()
        exchange.join(GRACE)
        lost = [rank for rank in range(self.world) if rank not in notes]
        if not lost:
            places = ", ".join(f"rank {rank} in {notes[rank]['work']}" for rank in sorted(notes))
            return f"the ranks lost contact with each other: {places}"
        who = " and ".join(f"rank {rank}" for rank in lost)
        if any(note["timed_out"] for note in notes.values()):
            verb = "does" if len(lost) == 1 else "do"
            return f"{who} {verb} not answer for {self.timeout:g} s, in {work}"
        return f"{who} {'is' if len(lost) == 1 else 'are'} gone, in {work}"

    def _exchange(self, store: Store, notes: dict[int, dict[str, Any]]) -> None:
        """Leave the note of this rank, and take those of the others while there is time."""
        until = time.monotonic() + GRACE
        with suppress(RuntimeError):  # the store is lost too
            store.set(f"note/{self.rank}", json.dumps(notes[self.rank]))
            while len(notes) < self.world and time.monotonic() < until:
                for rank in set(range(self.world)) - set(notes):
                    if store.check([f"note/{rank}"]):
                        notes[rank] = json.loads(store.get(f"note/{rank}"))
                time.sleep(0.02)


ALONE = Ranks()


@contextmanager
def joined(timeout: float, *, shards: bool = False) -> Iterator[Ranks]:
    """The ranks that the environment names (of `launch` or torchrun), for a block; else alone.

    On one machine they talk over the loopback interface only, unless GLOO_SOCKET_IFNAME says
    otherwise. Each process has the CUDA device of its local rank, where there is one for each.

    Args:
        timeout: seconds after which a peer that does not answer counts as lost.
        shards: the weights are to be sharded, for which also one process needs a group.
    """
    rank, world = _read_number("RANK", 0), count_processes()
    if world == 1:
        with _group_of_one() if shards else nullcontext():
            yield ALONE
        return
    local, here = _read_number("LOCAL_RANK", 0), _read_number("LOCAL_WORLD_SIZE", 0)
    store = PrefixStore(f"netwright/{next(_joins)}", _open_store(world))
    ranks = Ranks(rank, world, timeout, store)
    _meet(ranks, store, "here")
    has_device = 0 < here <= torch.cuda.device_count()
    with _on_loopback(here == world), torch.cuda.device(local if has_device else -1):
        dist.init_process_group(
            "cpu:gloo,cuda:nccl" if has_device else "gloo",
            store=store,
            rank=rank,
            world_size=world,
            timeout=timedelta(seconds=timeout),
        )
        try:
            # One that refuses its settings at once would hang up on those that still connect.
            _meet(ranks, store, "connected")
            yield ranks
        finally:
            if dist.is_initialized():
                dist.destroy_process_group()


@contextmanager
def _group_of_one() -> Iterator[None]:
    """A process group of this process alone; nothing listens."""
    backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
    with _on_loopback(True):
        dist.init_process_group(backend, store=HashStore(), rank=0, world_size=1)
    try:
        yield
    finally:
        dist.destroy_process_group()


def count_processes() -> int:
    """How many processes the environment names: those that will train a model together."""
    return _read_number("WORLD_SIZE", 1)


def _read_number(name: str, default: int) -> int:
    """A whole number of the environment."""
    text = os.environ.get(name, str(default))
    if not text.isdecimal():
        raise ConfigError(f"{name} must be a whole number, got {text!r}")
    return int(text)


@cache
def _open_store(world: int) -> Store:
    """The store of this process: the launcher's file, or what torchrun names."""
    if RENDEZVOUS in os.environ:
        return FileStore(os.environ[RENDEZVOUS], world)
    store: Store = next(rendezvous("env://"))[0]
    return store


def _meet(ranks: Ranks, store: Store, place: str) -> None:
    """Wait until every rank has come so far; slower than any collective may be."""
    store.set(f"{place}/{ranks.rank}", "")
    for peer in range(ranks.world):
        try:
            store.wait([f"{place}/{peer}"], timedelta(seconds=START))
        except RuntimeError as error:
            raise PeerError(f"rank {peer} did not start within {START:g} s") from error


@contextmanager
def _store_in_reach() -> Iterator[None]:
    """Turn the loss of what holds the ranks' notes into a `PeerError`."""
    try:
        yield
    except RuntimeError as error:
        raise PeerError("the store in which the processes leave notes does not answer") from error


@contextmanager
def _on_loopback(wanted: bool) -> Iterator[None]:
    """Let gloo listen on the loopback interface only, unless the user chose another."""
    if not wanted or "GLOO_SOCKET_IFNAME" in os.environ:
        yield
        return
    os.environ["GLOO_SOCKET_IFNAME"] = LOOPBACK
    try:
        yield
    finally:
        del os.environ["GLOO_SOCKET_IFNAME"]


def _is_of_connection(error: RuntimeError) -> bool:
    """Whether torch says that a peer is lost; gloo has no type for it, only its own file's name."""
    return isinstance(error, dist.DistError) or "gloo/transport" in str(error)


def _to_tensor(content: bytes) -> Tensor:
    """Bytes as a tensor (N,)."""
    return torch.from_numpy(np.frombuffer(content, np.uint8).copy())
