"""Random numbers: independent streams from one seed, and scopes that leave the caller's alone."""

import hashlib
import os
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from threading import RLock
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np
import torch
from torch import Tensor

P = ParamSpec("P")
R = TypeVar("R")


class Turns:
    """A block that one thread at a time is in; one within another is in the same turn.

    A fork has one thread alone: a turn that another had in its parent is nobody's there.
    """

    def __init__(self) -> None:
        self._lock = RLock()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._end_that_of_another)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *raised: object) -> None:
        self._lock.release()

    def _end_that_of_another(self) -> None:
        if self._lock.acquire(blocking=False):  # free, or of the thread that has forked
            self._lock.release()
        else:
            self._lock = RLock()


# Layers draw from the one generator that torch has for the process, and a fit seeds it: of fits in
# several threads each would take numbers from the others, so they take turns, also where one is
# within another, as in a callback; processes run side by side.
ONE_AT_A_TIME = Turns()


def derive_seed(seed: int, *path: object) -> int:
    """A seed for one named stream: a pure function of the seed and the path.

    The text "seed/part/part" is hashed, so neighbouring seeds and epochs give unrelated streams.
    """
    text = "/".join(str(part) for part in (seed, *path))
    digest = hashlib.sha256(text.encode()).digest()
    return int.from_bytes(digest[:8], "little") >> 1  # 63 bits: what torch's generators take


def generator(seed: int, *path: object) -> torch.Generator:
    """A CPU generator of its own for one named stream."""
    return torch.Generator().manual_seed(derive_seed(seed, *path))


class Draws(NamedTuple):
    """Where all generators are that a step may draw from, as each tells it.

    It is taken three times as fast as `random_state`, and cannot be saved.
    """

    python: Any
    numpy: Any
    torch: Tensor
    cuda: list[Tensor]

    @classmethod
    def now(cls) -> "Draws":
        """The present place."""
        cuda = torch.cuda.get_rng_state_all() if _has_cuda() else []
        return cls(random.getstate(), np.random.get_state(), torch.get_rng_state(), cuda)

    def put_back(self) -> None:
        """Let the generators be there again."""
        random.setstate(self.python)
        np.random.set_state(self.numpy)
        torch.set_rng_state(self.torch)
        if self.cuda:
            torch.cuda.set_rng_state_all(self.cuda)


def random_state() -> dict[str, Any]:
    """The states of all generators that a step may draw from: tensors and plain values."""
    version, numbers, gauss = random.getstate()
    name, keys, *rest = np.random.get_state(legacy=True)
    return {
        "python": [version, torch.tensor(numbers), gauss],
        "numpy": [name, torch.from_numpy(np.asarray(keys).astype(np.int64)), *rest],
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state_all() if _has_cuda() else [],
    }


def set_random_state(state: dict[str, Any]) -> None:
    """Put the generators back to what `random_state` gave."""
    version, numbers, gauss = state["python"]
    random.setstate((version, tuple(numbers.tolist()), gauss))
    name, keys, *rest = state["numpy"]
    np.random.set_state((name, keys.numpy().astype(np.uint32), *rest))
    torch.set_rng_state(state["torch"])
    if _has_cuda() and state["cuda"]:
        torch.cuda.set_rng_state_all(state["cuda"])


def draws_to_come(device: torch.device) -> tuple[torch.Tensor, ...]:
    """The states of the generators from which layers on this device draw."""
    states = (torch.get_rng_state(),)
    return (*states, torch.cuda.get_rng_state(device)) if device.type == "cuda" else states


def draw_again(states: tuple[torch.Tensor, ...], device: torch.device) -> None:
    """Put the generators back to what `draws_to_come` gave."""
    torch.set_rng_state(states[0])
    for state in states[1:]:
        torch.cuda.set_rng_state(state, device)


def seed_all(seed: int) -> None:
    """Seed the generators of Python, NumPy and torch."""
    random.seed(seed)
    np.random.seed(seed % 2**32)
    _seed_torch(seed)


def _seed_torch(seed: int) -> None:
    # Which accelerator torch was built for; whether there is one cannot be asked in forked workers.
    if torch.accelerator.current_accelerator() is None:
        torch.default_generator.manual_seed(seed)
    else:  # of all devices; for each kind that has not begun a traceback is put down, up to 1 ms
        torch.manual_seed(seed)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed Python, NumPy and torch inside the block; put the caller's states back at its end."""
    python_state = random.getstate()
    numpy_state = np.random.get_state()
    with torch_seeded(seed):
        try:
            seed_all(seed)
            yield
        finally:
            random.setstate(python_state)
            np.random.set_state(numpy_state)


@contextmanager
def torch_seeded(seed: int) -> Iterator[None]:
    """Seed torch alone inside the block: for code of netwright, which draws from no other.

    The state of NumPy takes a quarter of a millisecond to read and to put back.
    """
    cuda = list(range(torch.cuda.device_count())) if _has_cuda() else []
    with torch.random.fork_rng(devices=cuda):
        _seed_torch(seed)
        yield


def _has_cuda() -> bool:
    """Whether there is CUDA, and not in a fork of a process that has used it, which has lost it."""
    return torch.cuda.is_available() and not torch.cuda._is_in_bad_fork()


def in_turn(action: Callable[P, R]) -> Callable[P, R]:
    """The action, which begins when no other thread is in one of these."""

    @wraps(action)
    def waiting(*args: P.args, **kwargs: P.kwargs) -> R:
        with ONE_AT_A_TIME:
            return action(*args, **kwargs)

    return waiting
